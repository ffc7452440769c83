"""Measures a run of many processes here, and simulates it for more of them."""

import argparse
import itertools
import os
import pathlib
import signal
import sys
import tempfile

from agents.system.errors import UserError
from benchmarks.measuring.options import add_folder

ACTORS = 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024
LEARNERS = 1, 4, 16
FEW_UPDATES = 10  # where little is learned of an episode
CHECKED = 1, 2, 4
_QUIET = "evaluation.every_steps=0", "video_every_steps=0", "environment_steps=100_000_000"


def main():
    options = _parse()
    if options.page:
        from benchmarks.scale.page import remake

        remake(pathlib.Path(options.folder or "results"))
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends the measured run
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    from envs.quiet import import_gym

    import_gym()
    from agents.runs.config.overrides import load
    from agents.training.checking import settled
    from benchmarks.measuring import report
    from benchmarks.measuring.timing import CLOCKS
    from benchmarks.scale import page
    from benchmarks.scale.costs import LAYOUTS, measure_costs

    words = ["explore=noise", *options.words, *_QUIET]  # one cost all along
    facts = report.origin(" ".join(["python -m benchmarks.scale", *sys.argv[1:]]))
    facts["load"] = f"{os.getloadavg()[0]:.1f}"
    try:
        is_wall = options.clock == "wall"
        layouts = LAYOUTS if is_wall else LAYOUTS[:1]
        costs = measure_costs([*words, "actors=1"], CLOCKS[options.clock], layouts)
        config = settled(load(words))
        steps = costs.episode_steps * costs.action_repeat
        updates = round(config.updates_per_step * steps)  # after an episode
        checks = []
        if is_wall:
            checks = check(costs, words, updates, config.batch_size, options.episodes)
    except UserError as error:
        sys.exit(f"benchmarks.scale: {error}")
    outcomes = simulated(costs, updates)
    with tempfile.TemporaryDirectory() as nowhere:
        folder = pathlib.Path(options.folder or nowhere)
        page.write_page(folder, options.title, facts, costs, checks, outcomes)
        print((folder / "scale.md").read_text())


def check(costs, words, updates, batch_size, episodes):
    """Rows of runs that are measured and simulated, see `benchmarks.scale.page`."""
    from benchmarks.scale.processes import speeds
    from benchmarks.scale.simulation import Layout, simulate

    rows = []
    for actors in CHECKED:
        real, learned = speeds(words, actors, episodes)
        layout = Layout(actors, updates=updates, cores=os.cpu_count())
        model = simulate(costs, layout).steps_per_second
        rows.append((actors, real, batch_size * learned, model))
        print(f"{actors} actors: {real:.0f}, simulated {model:.0f}", file=sys.stderr)
    return rows


def simulated(costs, updates):
    """Pairs of `Layout` and `Outcome`, with so many updates an episode and with few."""
    from benchmarks.scale.simulation import Layout, simulate

    learners = [count for count in LEARNERS if count in costs.train]
    kinds = itertools.product(dict.fromkeys((updates, FEW_UPDATES)), learners, ACTORS)
    layouts = [Layout(actors, learners=n, updates=each) for each, n, actors in kinds]
    return [(layout, simulate(costs, layout)) for layout in layouts]


def _parse():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale", description=__doc__.splitlines()[0]
    )
    parser.add_argument("words", nargs="*", metavar="KEY=VALUE", help="of the config")
    parser.add_argument("--title", default="Runs of many processes", help="of the page")
    add_folder(parser, "scale.md, its numbers and its figure")
    help = (
        "processor: on a machine that others use. Real runs and several environments of an "
        "actor are left out, which only the wall's clock can measure"
    )
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall", help=help)
    parser.add_argument(
        "--episodes", type=int, default=20, help="of each real run (default: 20)"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()

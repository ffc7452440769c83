"""The page of results about scale, its numbers, and its figure."""

import json

from agents.system.files import write_text
from agents.system.screen.text import as_markdown, folded
from benchmarks.measuring.report import as_lines

_QUESTION = "How many actors does a learner need?"
_ABOUT = """\
- `python -m benchmarks.scale` measures what each process of a run with actors does. It runs
  it on this machine, and simulates it (SimPy) for more processes than this machine has.
- In the simulation, each process has a core of its own. Learners have the speed of one core
  here, and sum gradients at 10 Gbit/s.
- Where the simulation is compared with this machine, all processes share its cores.
- With `--clock processor` costs are processor time of the process that works, which other
  programs do not lengthen. Real runs are then left out."""
_HELP = """\
- Learners: fewer updates an episode, larger batches on a faster device, or more learners,
  as long as a step on a smaller share of the batch costs less.
- Actors: more of them, or several environments for each, which share a call of the planner.
- More actors than the learners can follow make nothing faster and their weights older. Each
  waits until its last episode is learned from."""
_DECISION = "a decision, one environment"


def costs_table(costs):
    """Rows of (what, milliseconds)."""
    return [
        (_DECISION, _ms(costs.decision[1])),
        ("an agent step of the environment", _ms(costs.step[1])),
        (f"an episode of {costs.episode_steps} agent steps into bytes", _ms(costs.pack)),
        ("those from an actor to the learner", _ms(costs.hand)),
        ("an episode to disk", _ms(costs.write)),
        ("weights into Ray's store", _ms(costs.send)),
        ("weights out of it", _ms(costs.receive)),
        *(
            (f"a gradient step, a {_share(count)} of the batch", _ms(seconds))
            for count, seconds in costs.train.items()
        ),
        ("a checkpoint", _ms(costs.save)),
    ]


def write_page(folder, title, facts, costs, checks, outcomes):
    """Writes scale.md, scale.json and scale.png.

    `checks` are rows of actors, environment steps a second and sequences learned from a
    second, both measured, and environment steps a second as simulated. `outcomes` are pairs
    of a `Layout` and its `Outcome`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    layout, speed = ["updates an episode", "learners", "actors"], "environment steps / s"
    checked = ["actors", speed, "of one actor's", "simulated", "simulated / real"]
    tables = {
        "needed": [[*layout, speed, "busiest"], *needed(outcomes)],
        "costs": [["what", "milliseconds"], *costs_table(costs)],
        "layouts": [
            ["environments", "milliseconds a call", "decisions / s", "with environments"],
            *(
                (n, _ms(time), f"{n / time:.0f}", f"{n / (time + costs.step[n]):.0f}")
                for n, time in costs.decision.items()
            ),
        ],
        "checks": [
            [*checked, "sequences learned from / s"],
            *(_check_row(*check, checks[0][1]) for check in checks),
        ],
        "outcomes": [
            [*layout, speed, "staleness, updates", "busiest"],
            *(_outcome_row(layout, outcome) for layout, outcome in outcomes),
        ],
    }
    sizes = {"weights": costs.weights, "gradients": costs.gradients}
    numbers = {name: f"{size / 1e6:.2f}" for name, size in sizes.items()}
    found = {"title": title, "facts": facts, "numbers": numbers, "tables": tables}
    write_text(folder / "scale.json", json.dumps(found) + "\n")
    _draw(folder / "scale.png", outcomes)
    remake(folder)


def remake(folder):
    """Writes scale.md anew, from the scale.json beside it."""
    found = json.loads((folder / "scale.json").read_text())
    tables = {
        name: as_markdown(head, rows) for name, (head, *rows) in found["tables"].items()
    }
    sizes = (
        "Weights that actors act by: {weights} MB. Gradients that learners sum: "
        "{gradients} MB."
    )
    checked = len(found["tables"]["checks"]) > 1
    parts = [
        f"# {found['title']}",
        _QUESTION,
        _answer(found["tables"]),
        "![environment steps a second by actors](scale.png)",
        "Simulated: the fewest actors that reach nine tenths of the highest speed, and "
        "what is busiest then.",
        tables["needed"],
        folded("How it was measured", _ABOUT, as_lines(found["facts"])),
        folded("What helps", _HELP),
        folded("Cost of each part", tables["costs"], sizes.format(**found["numbers"])),
        folded("One planner call for several environments", tables["layouts"]),
        folded("Simulated and real, on this machine", tables["checks"] if checked else ""),
        folded("All simulated runs, a core for each process", tables["outcomes"]),
    ]
    write_text(folder / "scale.md", "\n\n".join(filter(None, parts)) + "\n")


def _answer(tables):
    """How many actors one learner needs, in a sentence."""
    told = [
        f"{actors} actor{'s' * (actors > 1)} at {updates} updates an episode"
        for updates, learners, actors, *_ in tables["needed"][1:]
        if learners == 1
    ]
    costs = dict(tables["costs"])
    step, decision = costs["a gradient step, a whole of the batch"], costs[_DECISION]
    return (
        f"In simulation, one learner needs {' and '.join(told)} (a gradient step takes "
        f"{step} ms, a decision {decision} ms)."
    )


def needed(outcomes):
    """A row of each number of updates and learners: where more actors bring no more.

    It has the fewest actors that reach nine tenths of the highest speed, that highest
    speed, and what is busiest then.
    """
    rows = []
    for learning, own in _by_learning(outcomes).items():
        best = max(outcome.steps_per_second for outcome in own.values())
        actors = next(n for n in own if own[n].steps_per_second >= 0.9 * best)
        rows.append((*learning, actors, f"{best:.0f}", _busiest(own[actors])))
    return rows


def _by_learning(outcomes):
    """Dict of (updates, learners) -> dict of actors -> outcome."""
    found = {}
    for layout, outcome in outcomes:
        own = found.setdefault((layout.updates, layout.learners), {})
        own[layout.actors] = outcome
    return found


def _draw(file, outcomes):
    from matplotlib.figure import Figure

    from agents.study.figures.drawing import save_figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    for (updates, learners), own in _by_learning(outcomes).items():
        speeds = [outcome.steps_per_second for outcome in own.values()]
        label = f"{updates} updates an episode, learners: {learners}"
        axes.plot(list(own), speeds, marker="o", markersize=3, label=label)
    axes.set(xscale="log", yscale="log", xlabel="actors", ylabel="environment steps / s")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)
    save_figure(figure, file)


def _check_row(actors, steps, samples, model, of_one):
    ratios = f"{steps / of_one:.2f}", f"{model:.0f}", f"{model / steps:.2f}"
    return actors, f"{steps:.0f}", *ratios, f"{samples:.0f}"


def _outcome_row(layout, outcome):
    numbers = f"{outcome.steps_per_second:.0f}", f"{outcome.staleness:.0f}"
    return layout.updates, layout.learners, layout.actors, *numbers, _busiest(outcome)


def _busiest(outcome):
    return f"{outcome.bottleneck}, {outcome.busy[outcome.bottleneck]:.0%}"


def _ms(seconds):
    return f"{1000 * seconds:.2f}"


def _share(count):
    return {1: "whole", 2: "half"}.get(count, f"{count}th")

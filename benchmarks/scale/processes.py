"""What the processes of a run cost: until it starts, in speed and in memory.

    python -m benchmarks.scale.processes experiment=debug value=none --actors 0,1,2

With `--home` another version of the code runs, such as one with another engine.
"""

import argparse
import collections
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import psutil

from agents.runs.history import Follower
from agents.system.screen.text import as_markdown

_SKIPPED = 3  # learned episodes, while functions are traced and compiled
_QUIET = "evaluation.every=0", "video_every=0", "environment_steps=100_000_000"
_COLUMNS = [
    "actors",
    "first episode, s",
    "environment steps / s",
    "core seconds / 1000 steps",
    "processes",
    "memory of an actor, MiB",
    "memory of all, MiB",
    "end, s",
    "load",
]


def main():
    options = _parse()
    words = [*options.words, *_QUIET]
    rows = [
        measure(options.home, [*words, f"actors={actors}"], actors, options.episodes)
        for actors in map(int, options.actors.split(","))
    ]
    print(as_markdown(_COLUMNS, rows))


def measure(home, words, actors, episodes):
    """A row of the table.

    Args:
        home: folder of the code that runs.
        words: of the config.
        actors: how many.
        episodes: that are measured, after the first ones.
    """
    with tempfile.TemporaryDirectory() as folder:
        run, log = pathlib.Path(folder, "run"), pathlib.Path(folder, "log")
        own = os.environ | {"PYTHONPATH": str(home), "TF_CPP_MIN_LOG_LEVEL": "3"}
        command = [sys.executable, "-m", "agents", "train", *words, f"logdir={run}"]
        begun = time.monotonic()
        with open(log, "w") as output:
            process = subprocess.Popen(
                command, cwd=home, env=own, stdout=output, stderr=output
            )
        try:
            moments = _follow(process, Follower(run), episodes, log)
            memory = _memory(process.pid)
            ended = time.monotonic()
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(120)
    first, (t0, steps0, cpu0), (t1, steps1, cpu1) = moments
    acting = memory.get("actor", [0])
    return (
        actors,
        f"{first - begun:.0f}",
        f"{(steps1 - steps0) / (t1 - t0):.1f}",
        f"{1000 * (cpu1 - cpu0) / (steps1 - steps0):.1f}",
        sum(map(len, memory.values())),
        f"{sum(acting) / len(acting):.0f}",
        f"{sum(map(sum, memory.values())):.0f}",
        f"{time.monotonic() - ended:.1f}",
        f"{os.getloadavg()[0]:.0f}",
    )


def _follow(process, follower, episodes, log):
    """When the first episode was done; time, steps and core seconds before and after."""
    first, learned, start = None, 0, None
    while True:
        if process.poll() is not None:
            raise RuntimeError(f"the run ended: {log.read_text()[-2000:]}")
        if follower.update():
            first = first or time.monotonic()
            learned += sum(row["train_steps"] > 0 for row in follower.added)
            now = time.monotonic(), follower.newest["environment_steps"]
            if learned >= _SKIPPED and start is None:
                start, least = (*now, _core_seconds(process.pid)), learned + episodes
            elif start is not None and learned >= least:
                return first, start, (*now, _core_seconds(process.pid))
        time.sleep(0.02)


def _family(number):
    process = psutil.Process(number)
    return [process, *process.children(recursive=True)]


def _core_seconds(number):
    times = [each.cpu_times() for each in _family(number)]
    return sum(each.user + each.system for each in times)


def _memory(number):
    """Dict of a kind of process -> MiB of each that no other process shares."""
    found = collections.defaultdict(list)
    for process in _family(number):
        words = " ".join(process.cmdline())
        is_actor = "ray::Actor" in words or " actor --server" in words
        memory = process.memory_full_info().uss / 2**20
        found["actor" if is_actor else "other"].append(memory)
    return found


def _parse():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale.processes", description=__doc__.splitlines()[0]
    )
    parser.add_argument("words", nargs="*", metavar="KEY=VALUE", help="of the config")
    parser.add_argument("--actors", default="0,1,2,4", help="numbers of actors")
    parser.add_argument("--episodes", type=int, default=60, help="that are measured")
    parser.add_argument(
        "--home",
        type=pathlib.Path,
        default=pathlib.Path(__file__).parents[2],
        help="folder of the code that runs",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()

"""What the processes of a run cost: in core seconds, in memory, and until it starts.

    python -m benchmarks.scale.processes --actors 0,1,2

With `--beside` another checkout runs in turn with this one, such as one of another engine.
Words of the config take the place of the two kinds of runs that are measured else.
"""

import argparse
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import psutil

from agents.runs.history import Follower
from benchmarks.measuring import report
from benchmarks.measuring.options import add_folder

HERE = pathlib.Path(__file__).parents[2]
_SKIPPED = 3  # learned episodes, while functions are traced and compiled
_QUIET = "evaluation.every_steps=0", "video_every_steps=0", "environment_steps=100_000_000"
_KINDS = {"ray::Actor": "actor", " actor ": "actor", "ray::Judge": "evaluator"}
_KINDS |= {" learner ": "learner"}  # of versions with Reverb, where the command supervises
# What is measured where no words say it: the words, and how many episodes.
CASES = {
    "the default": (["transition=deterministic", "explore=noise"], 15),
    "episodes of 20 steps": (["experiment=debug", "value=none"], 600),
}
COLUMNS = {
    "run": report.text("run"),
    "code": report.text("code"),
    "actors": report.text("actors"),
    "environment steps / s": report.text("speed", ".1f"),
    "core seconds / 1000 steps": report.text("spent", ".1f"),
    "of these the learner": report.text("learner", ".1f"),
    "core seconds to the first episode": report.text("start", ".0f"),
    "memory of an actor, MiB": report.text("actor_memory", ".0f"),
    "memory of all, MiB": report.text("memory", ".0f"),
    "first episode, s": report.text("first", ".0f"),
    "processes": report.text("processes"),
    "end, s": report.text("end", ".1f"),
    "load": report.text("load", ".0f"),
}
NOTES = """\
- Each row is a run of its own with so many actors; the learner trains after each episode.
- Without words of the config two kinds of runs are measured. "The default" is
  `transition=deterministic explore=noise` on cartpole_swingup. "Episodes of 20 steps" is
  `experiment=debug value=none`, the smallest run, where what processes cost is much of it.
- Rows of several codes were measured in turn, in the order of the table: 6de44f6 is the
  last version with Reverb, later ones have Ray.
- Core seconds: processor time of all processes of the run, between two learned episodes.
  They do not count other programs; seconds and steps a second do. Processes in excess of
  the cores take turns.
- Memory: what no other process shares.
- None of the runs evaluates. End: from Ctrl-C until the command has ended."""


def main():
    options = _parse()
    if options.page:
        make_report().remake(options.folder)
        return
    homes = [HERE, *options.beside]
    words = options.words
    cases = {" ".join(words): (words, options.episodes or 60)} if words else CASES
    rows = [
        {"run": name} | measure(home, words, int(actors), options.episodes or episodes)
        for name, (words, episodes) in cases.items()
        for actors in options.actors.split(",")
        for home in (homes if int(actors) else homes[:1])  # one process needs no engine
    ]
    checkouts = {str(home): f"CHECKOUT_OF_{_commit(home)}" for home in options.beside}
    words = [checkouts.get(word, word) for word in sys.argv[1:]]
    command = " ".join(["python -m benchmarks.scale.processes", *words])
    make_report().show(rows, command, options.folder)


def make_report():
    title = "Costs of the processes of a run"
    question = "What do actors in processes of their own cost?"
    hidden = "of these the learner", "core seconds to the first episode"
    shown = tuple(name for name in tuple(COLUMNS)[:10] if name not in hidden)
    words = (title, question, answer, bool, shown, NOTES, COLUMNS)
    return report.Report("processes", *words)


def answer(rows, _):
    """What actors bring beside one process, in a sentence or two."""
    kind = rows[0]["run"], rows[0]["code"]
    own = [row for row in rows if (row["run"], row["code"]) == kind]
    alone = next(row for row in own if row["actors"] == 0)
    best = max(own, key=lambda row: row["speed"])
    return (
        f"With {best['actors']} actors, a run makes {best['speed']:.0f} environment steps "
        f"a second on this machine, and {alone['speed']:.0f} with one process. The first "
        f"episode comes {best['first'] - alone['first']:.0f} seconds later, and the run "
        f"uses {best['memory']:.0f} MiB of memory instead of {alone['memory']:.0f}."
    )


def speeds(words, actors, episodes):
    """Environment steps and gradient steps a second of a run; arguments as of `measure`."""
    with _running(HERE, [*words, f"actors={actors}"]) as (process, run):
        _, before, after = _follow(process, Follower(run), episodes)
    seconds = after["seconds"] - before["seconds"]
    return [(after[name] - before[name]) / seconds for name in ("steps", "updates")]


def measure(home, words, actors, episodes):
    """A row of the table, of so many episodes after the first ones of a folder's code."""
    words = _known(home, [*words, *_QUIET, f"actors={actors}"])
    with _running(home, words) as (process, run):
        begun = time.monotonic()
        first, before, after = _follow(process, Follower(run), episodes)
        memory = _by_kind(process.pid, lambda each: each.memory_full_info().uss / 2**20)
        load, ended = os.getloadavg()[0], time.monotonic()
        process.send_signal(signal.SIGINT)
        process.wait(120)
        end = time.monotonic() - ended
    seconds, steps = (after[name] - before[name] for name in ("seconds", "steps"))
    spent = {
        number: (kind, value - before["cores"].get(number, (kind, 0.0))[1])
        for number, (kind, value) in after["cores"].items()
    }
    acting = _sum(memory, "actor")
    return {
        "code": _commit(home),
        "actors": actors,
        "speed": steps / seconds,
        "spent": 1000 * _sum(spent) / steps,
        "learner": 1000 * _sum(spent, "learner") / steps,
        "start": _sum(first["cores"]),
        "actor_memory": acting / actors if actors else None,
        "memory": _sum(memory),
        "first": first["seconds"] - begun,
        "processes": len(memory),
        "end": end,
        "load": load,
    }


def _known(home, words):
    """Keys as a checkout writes them: 6de44f6 counts in episodes what is now in steps."""
    if "every_steps" in (home / "configs" / "train.yaml").read_text():
        return words
    return [word.replace("every_steps", "every") for word in words]


@contextlib.contextmanager
def _running(home, words):
    """A run: its process, and its folder."""
    with tempfile.TemporaryDirectory() as folder:
        run, log = pathlib.Path(folder, "run"), pathlib.Path(folder, "log")
        own = os.environ | {"PYTHONPATH": str(home), "TF_CPP_MIN_LOG_LEVEL": "3"}
        python = home / ".venv/bin/python"
        command = [python if python.exists() else sys.executable, "-m", "agents", "train"]
        command += [*words, f"logdir={run}"]
        with open(log, "w") as output:
            process = subprocess.Popen(
                command, cwd=home, env=own, stdout=output, stderr=output
            )
        try:
            yield process, run
        except psutil.NoSuchProcess:
            raise RuntimeError(f"the run ended: {log.read_text()[-2000:]}") from None
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                process.wait(120)


def _follow(process, follower, episodes):
    """When the first episode was done, and before and after those that are measured."""
    first = before = None
    learned, least = 0, _SKIPPED
    while True:
        if follower.update():
            learned += sum(row["train_steps"] > 0 for row in follower.added)
            is_due = learned >= least
            if first is None or is_due:
                now = {
                    "seconds": time.monotonic(),
                    "steps": follower.newest["environment_steps"],
                    "updates": follower.newest["train_steps"],
                    "cores": _by_kind(process.pid, _core_seconds),
                }
                first = first or now
            if is_due and before is not None:
                return first, before, now
            if is_due:
                before, least = now, learned + episodes
        if process.poll() is not None:
            raise psutil.NoSuchProcess(process.pid)
        time.sleep(0.02)


def _by_kind(number, look):
    """Dict of each process of a run -> its kind, and what `look` sees of it."""
    root = psutil.Process(number)
    found = {}
    for process in [root, *root.children(recursive=True)]:
        with contextlib.suppress(psutil.NoSuchProcess):
            words = " ".join(process.cmdline())
            kinds = [kind for word, kind in _KINDS.items() if word in f"{words} "]
            found[process.pid] = kinds[0] if kinds else "other", look(process)
    if "learner" not in dict(found.values()):
        found[number] = "learner", found[number][1]
    return found


def _core_seconds(process):
    times = process.cpu_times()
    return times.user + times.system


def _sum(found, kind=None):
    return sum(value for other, value in found.values() if kind in (None, other))


def _commit(home):
    words = "describe", "--always", "--exclude=*", "--dirty=+changes"
    command = ["git", "-C", str(home), *words]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def _parse():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale.processes", description=__doc__.splitlines()[0]
    )
    parser.add_argument("words", nargs="*", metavar="KEY=VALUE", help="of the config")
    parser.add_argument("--actors", default="0,1,2,4", help="numbers of actors")
    parser.add_argument("--episodes", type=int, help="that are measured")
    parser.add_argument(
        "--beside",
        type=pathlib.Path,
        action="append",
        default=[],
        help="folder of other code, measured in turn with this one",
    )
    add_folder(parser, "processes.csv and processes.md")
    return parser.parse_args()


if __name__ == "__main__":
    main()

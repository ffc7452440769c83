"""Makes the tables and pictures of a study from the runs that it has packed.

`folder` is `results/<name>`, `study` its entry in experiments.yaml.
"""

import contextlib
import gzip
import itertools
import json
import os
import pathlib
import re
import shlex
import shutil

import numpy as np
import pandas as pd
from rich.console import Console

from agents.runs import history
from agents.runs.config.overrides import expand, load
from agents.runs.folder import read_config, runs_below
from agents.runs.grouping import group
from agents.study.compare import compare
from agents.study.compare.tables import with_interval, write
from agents.study.frames import evaluations
from agents.study.frames import runs as run_table
from agents.study.statistics import mean
from agents.system.files import replacing_folder
from benchmarks.learning.packed import read_runs
from benchmarks.learning.packing import has_all_steps, unpacked
from benchmarks.learning.pages import SUMMARY, TABLES, shown_pictures
from benchmarks.learning.suite.tables import means_of_tasks
from benchmarks.learning.summary import expectations, summarize

_FILMS = ("open_loop_*[0-9].png", "open_loop_*_strip.png", "episode_*_strip.png")
_MAKES_RUNS = {"train": 1, "learn": 2}  # commands, with the words before options
_BEFORE = "", "python -m benchmarks.scale.raylets "  # a command that makes runs
_FIGURES = ("probe_*.png", "calibration.png")
ALL_TASKS = "mean over tasks"
END = "end"  # of runs, whatever their length
_LARGE = 100_000  # bytes of a table; those above are packed


def make(folder, study):
    """Writes the tables of a study anew, and its pictures of all runs.

    Raises:
        SystemExit: no run of it is finished; the message gives the commands.
    """
    folder = folder.absolute()
    with unpacked(folder) as place, contextlib.chdir(place.parent):
        runs = finished_runs(list(runs_below(place.name)))  # named so in tables
        if not runs:
            raise SystemExit(without_runs(study))
        with replacing_folder(folder / TABLES) as tables:
            with open(os.devnull, "w") as nowhere:
                compare(runs, tables, Console(file=nowhere))
            found = {"expectations": expectations(runs)}
            if "paired" in study:
                found["paired"] = pd.DataFrame(_paired(runs, study))
            write(found, tables)
            _pack_large(tables)
            finished = sum(map(has_all_steps, runs))
            counts = {"finished": finished, "of": len(commanded_runs(study["commands"]))}
            commands = [*study.get("data", ()), *study["commands"]]
            summary = {"commands": commands, "runs": counts} | summarize(runs)
            report = tables / "comparison.md"
            summary["comparison"] = report.read_text().strip().splitlines()
            report.unlink()
            text = json.dumps(summary, indent=1)
            (tables / SUMMARY).write_text(f"{text}\n")
    for picture in (folder / TABLES).glob("*.png"):
        os.replace(picture, folder / picture.name)
    keep_shown(folder, study["pictures"])


def _pack_large(folder):
    for file in folder.glob("*.csv"):
        if file.stat().st_size > _LARGE:
            packed = gzip.compress(file.read_bytes(), mtime=0)
            file.with_name(f"{file.name}.gz").write_bytes(packed)
            file.unlink()


def _paired(runs, study):
    """The differences of a study, from the one group of twins that it names, or several."""
    twins = study["paired"] if isinstance(study["paired"], list) else [study["paired"]]
    best = study.get("best")
    return [row for than in twins for row in differences(runs, than, best)]


def differences(runs, than, best=None):
    """What each group scores more than its twin, of the same seeds, at every evaluation.

        difference = mean over tasks of mean over seeds of (score - score of the twin)

    A score is the mean return of an evaluation. The interval draws the seeds of each task
    anew, see `agents.study.statistics.interval`; tasks are the same in all draws. `than` is
    the group of the twins, as `agents.study.frames.evaluations` names it. For each other
    group and each number of environment steps that any of its pairs has, there is a row a
    task, and one over all tasks where there are several. `ahead` counts the pairs in which
    it scores more than its twin, `twin` is what its twins score. A run that diverged keeps
    its last score: without it, its group would be judged by its luckier runs.

    Tasks of several lengths and units are compared at the end of their runs. There is then
    a row more a task, whose `environment_steps` are `END`: each score is the last one that
    a run and its twin have, as a share of the return of its task in `best`.

    Raises:
        ValueError: `best` lacks a task.
    """
    pairs = _pairs(runs, than)
    rows = _differences(pairs, than)
    return rows + _differences(_at_the_end(pairs, best), than) if best else rows


def _pairs(runs, than):
    """Rows of `score` and `twin` of each group, environment steps, task and seed."""
    scores = _scores(runs).unstack("group")
    twins = scores.get(than, pd.Series(np.nan, scores.index)).rename("twin")
    others = scores.drop(columns=than, errors="ignore").stack().rename("score")
    return others.reset_index("group").join(twins).dropna().set_index("group", append=True)


def _at_the_end(pairs, best):
    """Each pair's last scores, as shares of the best return of the task."""
    tasks = pairs.index.get_level_values("task")
    if lacking := {*tasks} - {*best}:
        raise ValueError(f"best: has no return of {', '.join(sorted(lacking))}")
    shares = pairs.div(tasks.map(best).to_numpy(), axis=0)
    last = shares.groupby(["group", "task", "seed"]).last()
    return pd.concat({END: last}, names=["environment_steps"])


def _differences(pairs, than):
    rows = []
    for (name, steps), own in pairs.groupby(["group", "environment_steps"]):
        start = {"group": name, "than": than, "environment_steps": steps}
        twins = own["twin"].groupby("task").mean()
        apart = (own["score"] - own["twin"]).groupby("task")
        apart = {task: each.to_numpy() for task, each in apart}
        for task, each in apart.items():
            rows.append(start | _difference(task, [each]) | {"twin": twins[task]})
        if len(apart) > 1:
            over_all = _difference(ALL_TASKS, [*apart.values()])
            rows.append(start | over_all | {"twin": twins.mean()})
    return rows


def _scores(runs):
    """The mean return of each run at each evaluation, or at its last before it diverged."""
    keys = ["group", "task", "seed", "environment_steps"]
    scores = evaluations(runs).groupby(keys)["return"].mean().unstack("environment_steps")
    ended = run_table(runs).set_index(keys[:3])["ended"].reindex(scores.index)
    to_its_end = scores.groupby("task").transform(lambda each: each.notna().any())
    kept = scores.ffill(axis=1).where(ended == "diverged", scores, axis=0)
    kept = kept.where(to_its_end.astype(bool))
    return kept.stack().dropna().reorder_levels([0, 3, 1, 2])


def _difference(task, apart):
    """Of one task, or of several: a list of arrays [seeds]; the fewest seeds count."""

    def statistic(values):
        return mean(means_of_tasks(values, apart))

    pairs = np.concatenate(apart)
    row = {"task": task, "seeds": min(map(len, apart))}
    row |= {"pairs": len(pairs), "ahead": int(np.sum(pairs > 0))}
    return row | with_interval("difference", apart, statistic)


def take_pictures(folder, study):
    """Copies the pictures of single runs of a study; those of runs that are gone stay."""
    root = pathlib.Path(study["runs"])
    runs = [run for run in runs_below(root) if has_all_steps(run)]
    for run in runs:
        for earlier in folder.glob("_".join([*run.relative_to(root).parts, "*.png"])):
            earlier.unlink()
    for name, picture in pictures(root, runs).items():
        shutil.copy(picture, folder / name)


def without_runs(study):
    """Says how to make the runs of a study."""
    commands = "\n".join(f"  {command}" for command in study["commands"])
    return f"no finished runs in {study['runs']}; make them with\n{commands}"


def keep_shown(folder, patterns):
    """Removes the pictures of a study but those whose names have one of the patterns."""
    for picture in {*folder.glob("*.png")} - {*shown_pictures(folder, patterns)}:
        picture.unlink()


def finished_runs(runs):
    """Those of the runs that are finished, or ended because they diverged.

    Without the latter a group that diverges would be judged by its luckier runs.
    """
    ended = [run for run in runs if has_all_steps(run) or history.read_divergence(run)]
    for run in runs:
        if run not in ended:
            print(f"left out, not finished: {run}")
    return ended


def commanded_runs(commands):
    """The words of each run that the commands of a study make.

    Example:
        >>> commanded_runs(["bayes-rl train -m --jobs 2 seed=0,1", "bayes-rl probe RUN"])
        [['seed=0'], ['seed=1']]
        >>> commanded_runs(["bayes-rl learn LOGS -m seed=2,3"])
        [['seed=2'], ['seed=3']]
        >>> commanded_runs(["python -m benchmarks.scale.raylets bayes-rl train seed=4"])
        [['seed=4']]
    """
    return [words for _, words in _commanded(commands)]


def _commanded(commands):
    """Pairs of how the command of a run begins, and its words."""
    found = []
    for command in commands:
        before, program, after = command.rpartition("bayes-rl ")
        words = shlex.split(after)
        if not program or words[0] not in _MAKES_RUNS or before not in _BEFORE:
            continue
        start = [*before.split(), "bayes-rl", *words[: _MAKES_RUNS[words[0]]]]
        found += [(start, own) for own in expand([word for word in words if "=" in word])]
    return found


def pictures(root, runs):
    """Dict of a name that tells the run -> picture, of the first run of each group.

    The newest open-loop pictures and strip of an episode, and those of probes and of
    calibration. `root` holds all runs, or is the only one.
    """

    def environment_steps(file):  # in its name, which copies keep, unlike times
        return int(re.search(r"\d+", file.stem)[0])

    configs = [read_config(run) for run in runs]
    found = {}
    for run in (runs[indices[0]] for indices in group(configs)):
        films = [
            sorted(run.glob(f"videos/{name}"), key=environment_steps)[-1:]
            for name in _FILMS
        ]
        figures = [sorted(run.glob(f"figures/{name}")) for name in _FIGURES]
        for file in itertools.chain(*films, *figures):
            found["_".join([*run.relative_to(root).parts, file.name])] = file
    return found


def missing(folder, study):
    """A command for each run that is not finished, the first seeds of all groups first.

    A run that is packed and finished does not run again where its folder is gone. Before
    them come the commands of the `data` that runs learn from, where these are not there.
    """
    root = pathlib.Path(study["runs"])
    left, packed = [], read_runs(folder)
    for start, words in _commanded(study["commands"]):
        learns = start[1] == "learn"  # then the logs say how many steps there are
        config = load(["explore=greedy", *words] if learns else words)
        name = pathlib.Path(config.logdir).relative_to(root)
        steps = packed.get(name.as_posix(), {}).get("steps", 0)
        is_packed = steps > 0 if learns else steps >= config.environment_steps
        wanted = None if learns else config.environment_steps
        if not (is_packed or has_all_steps(root / name, wanted)):
            left.append((config.seed, shlex.join([*start, *words])))
    left.sort(key=lambda pair: pair[0])
    data = [
        shlex.join([*start, *words])
        for start, words in _commanded(study.get("data", ()) if left else ())
        if not has_all_steps(pathlib.Path(load(words).logdir))
    ]
    return data + [command for _, command in left]

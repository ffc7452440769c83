"""Runs as pandas knows them: a row for each run, episode of training and evaluation."""

import logging
import math
import os
import pathlib
from typing import NamedTuple

import numpy as np
import pandas as pd

from agents.runs import grouping, history
from agents.runs.config.schema import flatten
from agents.runs.folder import runs_below
from agents.system.errors import UserError

_EVALUATION = ["environment_steps", "episodes", "train_steps", "evaluation_episode"]
_EPISODE = [
    *("environment_steps", "agent_steps", "episodes", "speed/seconds", "collect/return"),
    *("explore/reached_reward", "explore/rewarded_steps", "explore/is_random"),
    *("explore/cost", "explore/coverage", "explore/epistemic_ratio"),
]  # what comparisons read of metrics.jsonl
_OWN = ("task", "seed", "logdir")  # keys of a config that a run's row tells otherwise

log = logging.getLogger(__name__)


class Frames(NamedTuple):
    """What was recorded of groups of runs.

    In each frame `place` says of which of the groups a row is; in the last two `run` is the
    index of its run in the first.
    """

    groups: list  # of `agents.runs.grouping.Group`
    runs: pd.DataFrame  # a row a run, as `runs` makes them, with `place`
    evaluations: pd.DataFrame  # a row an evaluation episode, as `evaluations` makes them
    episodes: pd.DataFrame  # a row an episode of training; nan where nothing was logged

    def by_group(self, table):
        """(group, its rows of a table with `place`) of each that has any, in order."""
        rows = dict(list(table.groupby("place")))
        places = [place for place in self.runs["place"].unique() if place in rows]
        return [(self.groups[place], rows[place]) for place in places]


def runs(folders):
    """Reads runs: a row for each, in the order of their groups.

    Args:
        folders: of runs, or folders that hold runs at any depth; a path, or several.

    Returns:
        A `pandas.DataFrame` with the columns

        * `task`, `seed`: of the run.
        * `group`: what tells its group from others of the task; the runs of a group differ
          in their seed, their length and what watches them alone. Empty for the only group.
        * `folder`: text.
        * `reached`: the last environment steps in its files, before action repeat.
        * `evaluated`: those of its last evaluation, 0 where there is none.
        * `score`: mean return of the last evaluation; nan where there is none.
        * `minutes`: of all its sessions, start-up aside.
        * `ended`: `finished`, `diverged` or `under way`.

        and one for each other key of the configs, such as `planner.horizon` and
        `environment_steps` (how many were asked for): what was set, nan where a run has no
        such key. Runs without a number are left out with a warning.

    Raises:
        UserError: there is no run, or nothing was recorded in any.

    Example:
        >>> import pathlib, tempfile, yaml
        >>> from agents.runs.records import SCORE_COLUMNS, append_scores
        >>> logdir = pathlib.Path(tempfile.mkdtemp())
        >>> for seed, value in enumerate([3.0, 5.0, 10.0]):
        ...     run = logdir / str(seed)
        ...     run.mkdir()
        ...     config = {"task": "cheetah_run", "seed": seed, "environment_steps": 1000}
        ...     _ = (run / "config.yaml").write_text(yaml.safe_dump(config))
        ...     row = dict.fromkeys(SCORE_COLUMNS, 0)
        ...     append_scores(run, [row | {"environment_steps": 1000, "return": value}])
        >>> table = runs(logdir)
        >>> table[["task", "seed", "score", "ended"]]
                  task  seed  score     ended
        0  cheetah_run     0    3.0  finished
        1  cheetah_run     1    5.0  finished
        2  cheetah_run     2   10.0  finished
        >>> float(table.groupby("task")["score"].median()["cheetah_run"])
        5.0
    """
    return _of_groups(_groups(folders)).runs.drop(columns="place")


def evaluations(folders):
    """Reads the evaluations of runs: a row for each episode.

    Args:
        folders: as of `runs`.

    Returns:
        A `pandas.DataFrame` with the columns

        * `task`, `group`, `seed`, `folder`: of the run, as in `runs`.
        * `environment_steps`: at which it was due, before action repeat: a multiple of
          `evaluation.every_steps`, or the length that the run was asked for. The run had
          seen up to an episode more, which differs from seed to seed. An evaluation that
          was not due then has the steps that the run had seen.
        * `episodes`, `train_steps`: episodes and gradient steps likewise.
        * `evaluation_episode`: number of the episode in its evaluation, from 0.
        * `return`: undiscounted, in the task's reward.

    Raises:
        UserError: as of `runs`.

    Example:
        >>> import pathlib, tempfile, yaml
        >>> from agents.runs.records import SCORE_COLUMNS, append_scores
        >>> run = pathlib.Path(tempfile.mkdtemp())
        >>> config = yaml.safe_dump({"task": "cheetah_run", "seed": 7})
        >>> _ = (run / "config.yaml").write_text(config)
        >>> row = dict.fromkeys(SCORE_COLUMNS, 0) | {"environment_steps": 1000}
        >>> append_scores(run, [row | {"return": 3.0}, row | {"return": 5.0}])
        >>> table = evaluations(run)
        >>> table.groupby(["task", "seed", "environment_steps"])["return"].mean()
        task         seed  environment_steps
        cheetah_run  7     1000                 4.0
        Name: return, dtype: float64
    """
    frames = _of_groups(_groups(folders))
    table = frames.evaluations.join(frames.runs[["seed", "folder"]], on="run")
    return table[["task", "group", "seed", "folder", *_EVALUATION, "return"]]


def read(folders):
    """The `Frames` of runs, given as to `runs`; warns of those that diverged."""
    return _of_groups(_groups(folders, warns=True))


def minutes(run, steps=math.inf):
    """How long an `agents.runs.history.History` took up to so many environment steps.

    All its sessions count together, start-up aside.
    """
    rows = (row for row in run.metrics if row["environment_steps"] <= steps)
    return sum(row.get("speed/seconds", 0.0) for row in rows) / 60


def _groups(folders, warns=False):
    """The groups of runs; may warn of those that diverged, readable or not."""
    if isinstance(folders, str | os.PathLike):
        folders = [folders]
    found = {}  # a run may be named twice
    for folder in map(pathlib.Path, folders):
        below = {run.resolve(): run for run in runs_below(folder)}
        if not below:
            told = f"{folder} is not the folder of a run, and no runs are below it"
            raise UserError(told)
        found |= below
    loaded, errors = [], []
    for folder in found.values():
        try:
            loaded.append(history.load(folder))
        except UserError as error:  # a sweep may just have begun
            errors.append(error)
    for folder in found.values() if warns else ():
        if ended := history.read_divergence(folder):
            log.warning(f"{folder} ended early: {ended}; it keeps its last score")
    if not loaded:
        some = f" in {len(found)} runs, for one: {errors[0]}" if errors else ": no folders"
        raise UserError(f"nothing to compare{some}")
    for error in errors:
        log.warning(f"left out: {error}")
    return grouping.arrange(loaded)


def _of_groups(groups):
    members = [
        ({"place": place, "task": group.task, "group": group.label}, run)
        for place, group in enumerate(groups)
        for run in group.runs
    ]
    evaluations = _rows(members, "scores", [*_EVALUATION, "return"])
    episodes = _rows(members, "metrics", _EPISODE)
    numbers = dict.fromkeys(_EPISODE[1:], float)  # None and False among them
    runs = pd.DataFrame([of_group | _run(run) for of_group, run in members])
    due = _when_due(evaluations, runs)
    return Frames(groups, runs.astype({"seed": "Int64"}), due, episodes.astype(numbers))


def _when_due(evaluations, runs):
    """Evaluations at the steps at which they were due, so that seeds have the same.

    Of several that come after the same steps the first was due there. The others keep the
    steps that the run had seen: it was evaluated at an end that it went on from, or more
    often than it is now.
    """
    seen = evaluations["environment_steps"]
    asked, every = (
        evaluations["run"].map(runs.get(name, pd.Series(dtype=float)))
        for name in ("environment_steps", "evaluation.every_steps")
    )
    due = seen // every * every
    due = due.where(due > 0, seen).mask(seen >= asked, asked)
    is_first = seen == seen.groupby([evaluations["run"], due]).transform("min")
    steps = due.where(is_first, seen).astype(seen.dtype)
    return evaluations.assign(environment_steps=steps)


def _rows(members, name, columns):
    """The rows of a file of all runs."""
    rows = [
        of_group | {"run": number} | {key: row.get(key) for key in columns}
        for number, (of_group, run) in enumerate(members)
        for row in getattr(run, name)
    ]
    return pd.DataFrame(rows, columns=["place", "task", "group", "run", *columns])


def _run(run):
    reached, evaluated = (
        max((row["environment_steps"] for row in rows), default=0)
        for rows in (run.metrics + run.scores, run.scores)
    )
    returns = [r["return"] for r in run.scores if r["environment_steps"] == evaluated]
    flat = flatten(run.config)
    is_finished = reached >= (flat.get("environment_steps") or math.inf)
    row = {"seed": flat.get("seed"), "folder": str(run.folder), "reached": reached}
    row |= {"evaluated": evaluated, "score": np.mean(returns) if returns else math.nan}
    ended = "diverged" if run.diverged else "finished" if is_finished else "under way"
    row |= {"minutes": minutes(run), "ended": ended}
    return row | {key: value for key, value in flat.items() if key not in (*_OWN, *row)}

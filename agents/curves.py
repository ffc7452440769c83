"""Curves of runs, read from their files: which there are and which belong together."""

import dataclasses
import logging
import pathlib

import numpy as np

from agents import statistics
from agents.records import METRICS, read_metrics, read_scores
from agents.runs import read_config
from agents.validation import UserError

# Okabe and Ito, 2008: told apart by the colour-blind
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_STYLES = ("-", "--", ":", "-.")

log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Run:
    """What the figures need of a run's folder."""

    folder: pathlib.Path
    config: dict
    metrics: list  # rows of metrics.jsonl
    scores: list  # rows of scores.csv

    def curve(self, x, key):
        """Returns (steps, values) of a metric, or None where the run has none."""
        rows = [row for row in self.metrics if row.get(key) is not None and x in row]
        if not rows:
            return None
        return [np.array([row[name] for row in rows], float) for name in (x, key)]

    def score_curve(self):
        """Returns (environment steps [points], returns [points, evaluation episodes])."""
        if not self.scores:
            return None
        points = {}
        for row in self.scores:
            points.setdefault(row["environment_steps"], []).append(row["return"])
        steps = sorted(points)
        width = max(map(len, points.values()))
        returns = np.full([len(steps), width], np.nan)
        for index, step in enumerate(steps):
            returns[index, : len(points[step])] = points[step]
        return np.array(steps), returns


@dataclasses.dataclass(frozen=True)
class Group:
    """Runs of one experiment, see `agents.statistics.group`: they differ in their seed."""

    label: str
    task: str
    runs: list
    style: dict  # of its lines


def load(folder):
    """Reads the run in a folder.

    Raises:
        UserError: the folder is no run, or nothing was recorded in it yet.
    """
    config = read_config(folder)
    run = Run(folder, config, read_metrics(folder), read_scores(folder))
    if not run.metrics and not run.scores:
        raise UserError(f"{folder} has nothing to plot: no whole line in its {METRICS} yet")
    if not run.scores:
        log.warning("%s has no scores: no evaluation has finished yet", folder)
    return run


def arrange(runs):
    """Returns the groups of runs, labelled by what differs between those of a task."""
    members = statistics.group([run.config for run in runs])
    firsts = [runs[indices[0]].config for indices in members]
    tasks = [config.get("task", "") for config in firsts]
    labels = [""] * len(members)
    for task in dict.fromkeys(tasks):  # each task has its own panel
        own = [index for index, name in enumerate(tasks) if name == task]
        for index, label in zip(
            own, statistics.labels([firsts[index] for index in own]), strict=True
        ):
            labels[index] = label
    looks = {label: index for index, label in enumerate(dict.fromkeys(labels))}
    return [
        Group(label, task, [runs[index] for index in indices], _style(looks[label]))
        for label, task, indices in zip(labels, tasks, members, strict=True)
    ]


def _style(index):
    return {
        "color": _COLOURS[index % len(_COLOURS)],
        "linestyle": _STYLES[index // len(_COLOURS) % len(_STYLES)],
    }

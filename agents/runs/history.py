"""The history of a run: its curves, read from its files."""

import dataclasses
import logging
import pathlib

import numpy as np

from agents.runs import divergence
from agents.runs.divergence import Divergence
from agents.runs.folder import read_config
from agents.runs.records import (
    METRICS,
    SCORES,
    read_metrics,
    read_scores,
    scores_were_written,
)
from agents.system.errors import UserError

log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class History:
    """What was recorded in the folder of a run."""

    folder: pathlib.Path
    config: dict
    metrics: list  # rows of metrics.jsonl
    scores: list  # rows of scores.csv
    diverged: Divergence | None = None  # where its newest session ended so
    held_to: int | None = None  # environment steps up to which that keeps its last values

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


def load(folder):
    """Reads the run in a folder.

    Raises:
        UserError: the folder is no run, or nothing was recorded in it yet.
    """
    config = read_config(folder)
    rows = read_metrics(folder), read_scores(folder)
    run = History(folder, config, *rows, divergence.read(folder))
    if not run.metrics and not run.scores:
        raise UserError(
            f"{folder} has nothing to plot: its {METRICS} has no complete line yet"
        )
    if not run.scores:
        why = "no evaluation has finished yet"
        if scores_were_written(folder):
            why = f"no line of {SCORES} can be read"
        log.warning("%s has no scores: %s", folder, why)
    return run

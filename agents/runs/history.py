"""The history of a run: its curves, how far it has come, where it diverged."""

import dataclasses
import json
import logging
import pathlib

import numpy as np

from agents.runs.checkpoints import order, saved_checkpoints
from agents.runs.folder import read_config
from agents.runs.records import (
    METRICS,
    SCORES,
    read_metrics,
    read_scores,
    scores_were_written,
)
from agents.system.errors import UserError
from agents.system.files import write_text

_DIVERGED = "diverged.json"


log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Divergence:
    """The first gradient step of a run whose loss or gradient was not finite.

    Example:
        >>> print(Divergence(12, 2071, ("reward_loss", "latent_loss")))
        the model diverged after episode 12: not finite at gradient step 2071: reward_loss, latent_loss
    """  # noqa: E501

    episode: int  # after which the step was taken, from 1
    train_step: int  # number of the step, from 1
    terms: tuple  # names of what was not finite

    def __str__(self):
        return (
            f"the model diverged after episode {self.episode}: not finite at gradient step "
            f"{self.train_step}: {', '.join(self.terms)}"
        )


def write_divergence(folder, divergence):
    """Leaves the trace in the folder of a run."""
    write_text(pathlib.Path(folder) / _DIVERGED, json.dumps(dataclasses.asdict(divergence)))


def read_divergence(folder):
    """The `Divergence` at which the newest session of a run ended, or None."""
    try:
        values = json.loads((pathlib.Path(folder) / _DIVERGED).read_bytes())
        return Divergence(**values | {"terms": tuple(values["terms"])})
    except (OSError, ValueError, TypeError, KeyError):  # there is none, or none to read
        return None


def forget_divergence(folder):
    """Removes the trace, as another session begins."""
    (pathlib.Path(folder) / _DIVERGED).unlink(missing_ok=True)


@dataclasses.dataclass(frozen=True)
class History:
    """What was recorded in the folder of a run."""

    folder: pathlib.Path
    config: dict
    metrics: list  # rows of metrics.jsonl
    scores: list  # rows of scores.csv
    diverged: Divergence | None = None  # where its newest session ended so

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
    run = History(folder, config, *rows, read_divergence(folder))
    if not run.metrics and not run.scores:
        raise UserError(
            f"{folder} has nothing to plot: its {METRICS} has no complete line yet"
        )
    if not run.scores:
        why = "no evaluation has finished yet"
        if scores_were_written(folder):
            why = f"no line of {SCORES} can be read"
        log.warning(f"{folder} has no scores: {why}")
    return run


class Follower:
    """Reads the lines of metrics.jsonl as they come; the folder need not exist yet.

    `newest` is a dict of the newest value of each metric, `added` the rows that the last
    `update` has read.
    """

    def __init__(self, folder):
        self._file = pathlib.Path(folder) / METRICS
        self._forget()

    def update(self):
        """Reads what was added, cheap where nothing was; whether there was something."""
        self.added = []
        try:
            state = self._file.stat()
        except OSError:
            return False
        if state.st_ino != self._inode or state.st_size < self._read:
            self._forget()  # a session that goes on writes the file anew
            self._inode = state.st_ino
        if state.st_size == self._read:
            return False
        with open(self._file, "rb") as file:
            file.seek(self._read)
            whole, newline, _ = file.read().rpartition(b"\n")
        self._read += len(whole) + len(newline)
        for line in whole.splitlines():
            self._take(line)
        return bool(newline)

    def _take(self, line):
        try:
            row = json.loads(line)
        except ValueError:  # torn by a killed process
            return
        if isinstance(row, dict):
            known = {key: value for key, value in row.items() if value is not None}
            self.newest.update(known)
            self.added.append(row)

    def _forget(self):
        self.newest, self.added, self._read, self._inode = {}, [], 0, None


def is_finished(config):
    """Whether a run has seen all its environment steps and saved them.

    It reads two small things of the run's folder, so that a sweep of many runs can tell
    what is missing without TensorFlow.
    """
    folder = pathlib.Path(config.logdir)
    follower = Follower(folder)
    follower.update()
    if follower.newest.get("environment_steps", 0) < config.environment_steps:
        return False
    saved = saved_checkpoints(folder / "checkpoints")
    return follower.newest["episodes"] in (episodes for episodes, _ in map(order, saved))

"""What the folder of a run tells while another process trains it."""

import json
import pathlib

from agents.runs.checkpoints import order, saved_checkpoints
from agents.runs.records import METRICS


class Follower:
    """Reads the lines of metrics.jsonl as they come.

    Args:
        folder: of a run; it need not exist yet.

    Attributes:
        newest: dict of the newest value of each metric.
        added: rows that the last `update` has read.
    """

    def __init__(self, folder):
        self._file = pathlib.Path(folder) / METRICS
        self._forget()

    def update(self):
        """Reads what was added; cheap where nothing was.

        Returns:
            Whether there was something new.
        """
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

    Args:
        config: `agents.runs.config.schema.Train`.
    """
    folder = pathlib.Path(config.logdir)
    follower = Follower(folder)
    follower.update()
    if follower.newest.get("environment_steps", 0) < config.environment_steps:
        return False
    saved = saved_checkpoints(folder / "checkpoints")
    return follower.newest["episodes"] in (episodes for episodes, _ in map(order, saved))

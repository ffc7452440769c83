"""What a run measures: lines on disk first, then the same numbers in its logger."""

import logging
import pathlib

from agents.runs import records
from agents.training.trackers.tensorboard import Logger as TensorBoard

_LOG = logging.getLogger(__name__)


class MetricsLog:
    """Log of one run: metrics.jsonl, scores.csv and what its logger shows.

    The step is always `environment_steps`, before action repeat. A logger that fails is
    left out until the run goes on another time, with a warning; TensorBoard writes to the
    disk of the run, and its errors are those of the run.

    The tracker that is made is an `agents.training.trackers.Tracker`; the config are nested
    plain values.

    Example:
        >>> import tempfile
        >>> run = tempfile.mkdtemp()
        >>> log = MetricsLog(run)
        >>> log.write({"episodes": 1, "environment_steps": 1000, "collect/return": 7.5})
        >>> log.close()
        >>> records.read_metrics(run)
        [{'episodes': 1, 'environment_steps': 1000, 'collect/return': 7.5}]
    """

    def __init__(self, run, make_tracker=TensorBoard, config=None):
        self._run = pathlib.Path(run)
        self._make, self._tracker = make_tracker, None
        self._config = config or {}
        self._is_broken = False
        self._kept_steps = 0

    def write(self, row):
        """Adds one finished episode; when this returns, its line is on disk.

        The scalars are at least `episodes` and `environment_steps`. What is not finite
        becomes null on disk.
        """
        records.append_metrics(self._run, row)
        self._show_scalars(int(row["environment_steps"]), row)

    def amend(self, counts, row, scores):
        """Adds what was measured later of the episode of these counts; twice is as once."""
        written = {score["episodes"] for score in records.read_scores(self._run)}
        if scores and counts["episodes"] not in written:
            self.write_scores(scores)
        records.amend(self._run, counts["episodes"], row)
        self._show_scalars(int(counts["environment_steps"]), row)

    def write_scores(self, rows):
        """Adds evaluation episodes, see `agents.runs.records.append_scores`."""
        records.append_scores(self._run, rows)

    def cut(self, episodes, environment_steps):
        """Takes back what came after so many episodes and steps, and torn lines."""
        records.cut(self._run, episodes)
        self._kept_steps = environment_steps

    def picture(self, name, file, step):
        """Shows a PNG or GIF file, as it is."""
        self._tell("picture", name, pathlib.Path(file), step)

    def close(self):
        if self._tracker is not None:
            self._tell("close")
            self._tracker = None

    def _show_scalars(self, step, row):
        numbers = {
            name: float(value)
            for name, value in row.items()
            if value is not None and name != "environment_steps"
        }
        self._tell("write", step, numbers)

    def _tell(self, method, *given):
        if self._is_broken:
            return
        try:
            if self._tracker is None:
                self._tracker = self._make()
                self._tracker.start(self._run, self._config, self._kept_steps)
            getattr(self._tracker, method)(*given)
        except Exception as error:
            if self._make is TensorBoard:
                raise
            self._is_broken = True
            words = " ".join(str(error).split())
            _LOG.warning(
                "the logger failed and is left out from now on: %s: %s",
                type(error).__name__,
                words,
            )

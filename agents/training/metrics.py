"""What a run measures: lines on disk first, the same numbers in TensorBoard."""

import contextlib
import io
import pathlib
import time

from PIL import Image
from tensorboard.compat.proto import tensor_pb2
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.image import metadata
from tensorboard.plugins.scalar.summary_v2 import scalar_pb
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from agents.runs import records
from agents.runs.metrics import metric


class MetricsLog:
    """Log of one run: metrics.jsonl, scores.csv and TensorBoard events.

    TensorBoard's step is always `environment_steps`, before action repeat.

    Args:
        run: folder of the run, which exists.

    Example:
        >>> import tempfile
        >>> run = tempfile.mkdtemp()
        >>> with MetricsLog(run) as log:
        ...     log.write({"episodes": 1, "environment_steps": 1000, "collect/return": 7.5})
        >>> records.read_metrics(run)
        [{'episodes': 1, 'environment_steps': 1000, 'collect/return': 7.5}]
    """

    def __init__(self, run):
        self._run = pathlib.Path(run)
        self._writer = None
        self._kept_steps = None
        self._told = set()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def write(self, row):
        """Adds one finished episode; when this returns, its line is on disk.

        Args:
            row: dict of scalars with at least `episodes` and `environment_steps`. What is
                not finite becomes null on disk.
        """
        if "environment_steps" not in row:
            raise ValueError(
                f"a row of metrics needs the key environment_steps, got {sorted(row)}"
            )
        records.append_metrics(self._run, row)
        self._show_scalars(int(row["environment_steps"]), row)

    def amend(self, counts, row, scores):
        """Adds what was measured later of an earlier episode; twice is as once.

        Args:
            counts: dict of its episodes and environment steps.
            row: dict of scalars, for its line.
            scores: as of `write_scores`.
        """
        written = {score["episodes"] for score in records.read_scores(self._run)}
        if scores and counts["episodes"] not in written:
            self.write_scores(scores)
        records.amend(self._run, counts["episodes"], row)
        self._show_scalars(int(counts["environment_steps"]), row)

    def _about(self, name):
        """What TensorBoard says beside a curve; once is enough for it."""
        if name in self._told:
            return None
        self._told.add(name)
        with contextlib.suppress(KeyError):  # of a program of one's own
            return metric(name).meaning

    def write_scores(self, rows):
        """Adds evaluation episodes to scores.csv; when this returns, they are on disk.

        Args:
            rows: dicts with exactly the keys of `agents.runs.records.SCORE_COLUMNS`.
        """
        records.append_scores(self._run, rows)

    def cut(self, episodes, environment_steps):
        """Takes back what came after so many episodes, and torn lines, on resume.

        Event files stay as they are; the next one begins with the mark of a restart, for
        which TensorBoard drops what earlier ones hold of later steps.

        Args:
            episodes: rows with at most so many stay.
            environment_steps: after so many episodes.
        """
        records.cut(self._run, episodes)
        self._kept_steps = environment_steps

    def picture(self, name, file, step):
        """Shows a PNG or GIF file in TensorBoard, as it is."""
        encoded = pathlib.Path(file).read_bytes()
        sizes = Image.open(io.BytesIO(encoded)).size
        tensor = tensor_pb2.TensorProto(dtype="DT_STRING")
        tensor.tensor_shape.dim.add(size=3)
        tensor.string_val.extend([*(str(size).encode() for size in sizes), encoded])
        words = metadata.create_summary_metadata("", "")
        value = Summary.Value(tag=name, tensor=tensor, metadata=words)
        self._show(step, Summary(value=[value]))

    def close(self):
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _show_scalars(self, step, row):
        scalars = Summary()  # one event for all
        for name, value in row.items():
            if value is not None and name != "environment_steps":
                scalars.MergeFrom(scalar_pb(name, float(value), self._about(name)))
        self._show(step, scalars)

    def _show(self, step, summary):
        if self._writer is None:
            self._writer = EventFileWriter(str(self._run / "tensorboard"))
            if self._kept_steps is not None:
                start = SessionLog(status=SessionLog.START)
                for _ in range(2):  # the first of a run is not taken for a restart
                    self._add(self._kept_steps + 1, session_log=start)
        self._add(step, summary=summary)
        self._writer.flush()

    def _add(self, step, **content):
        self._writer.add_event(Event(wall_time=time.time(), step=step, **content))

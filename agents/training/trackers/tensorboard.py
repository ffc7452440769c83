"""TensorBoard: event files in the folder of the run."""

import contextlib
import io
import time

from PIL import Image
from tensorboard.compat.proto import tensor_pb2
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.image import metadata
from tensorboard.plugins.scalar.summary_v2 import scalar_pb
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from agents.runs.metrics import metric


class Logger:
    """An `agents.training.trackers.Tracker`.

    Event files stay as they are where a run goes on; the next one begins with the mark of a
    restart, for which TensorBoard drops what earlier ones hold of later steps.
    """

    def __init__(self):
        self._writer = None
        self._told = set()

    def start(self, folder, config, kept_steps):
        del config  # of the run's folder
        self._writer = EventFileWriter(str(folder / "tensorboard"))
        start = SessionLog(status=SessionLog.START)
        for _ in range(2):  # the first of a run is not taken for a restart
            self._add(kept_steps + 1, session_log=start)

    def write(self, step, row):
        scalars = Summary()  # one event for all
        for name, value in row.items():
            scalars.MergeFrom(scalar_pb(name, value, self._about(name)))
        self._show(step, scalars)

    def picture(self, name, file, step):
        """Shows a PNG or GIF file as it is."""
        encoded = file.read_bytes()
        sizes = Image.open(io.BytesIO(encoded)).size
        tensor = tensor_pb2.TensorProto(dtype="DT_STRING")
        tensor.tensor_shape.dim.add(size=3)
        tensor.string_val.extend([*(str(size).encode() for size in sizes), encoded])
        words = metadata.create_summary_metadata("", "")
        value = Summary.Value(tag=name, tensor=tensor, metadata=words)
        self._show(step, Summary(value=[value]))

    def close(self):
        self._writer.close()

    def _about(self, name):
        """What TensorBoard says beside a curve; once is enough for it."""
        if name in self._told:
            return None
        self._told.add(name)
        with contextlib.suppress(KeyError):  # of a program of one's own
            return metric(name).meaning

    def _show(self, step, summary):
        self._add(step, summary=summary)
        self._writer.flush()

    def _add(self, step, **content):
        self._writer.add_event(Event(wall_time=time.time(), step=step, **content))

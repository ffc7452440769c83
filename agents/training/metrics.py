"""What a run measures: lines on disk first, the same numbers in TensorBoard."""

import pathlib

import tensorflow as tf
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.image import metadata
from tensorboard.plugins.scalar.summary_v2 import scalar_pb

from agents.figures.films import gif
from agents.runs import records


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
        step = int(row["environment_steps"])
        scalars = Summary()  # one event for all
        for name, value in row.items():
            if value is not None and name != "environment_steps":
                scalars.MergeFrom(scalar_pb(name, float(value)))
        with self._tensorboard().as_default(step):
            tf.summary.experimental.write_raw_pb(scalars.SerializeToString())
        self._writer.flush()

    def write_scores(self, rows):
        """Adds evaluation episodes to scores.csv; when this returns, they are on disk.

        Args:
            rows: dicts with exactly the keys of `agents.runs.records.SCORE_COLUMNS`.
        """
        records.append_scores(self._run, rows)

    def cut(self, episodes):
        """Takes back the rows after so many episodes, and torn lines, on resume."""
        records.cut(self._run, episodes)

    def image(self, name, image, step):
        """Shows an image, [height, width, 3] uint8, in TensorBoard."""
        with self._tensorboard().as_default(step):
            tf.summary.image(name, image[None])
        self._writer.flush()

    def video(self, name, frames, step, frames_per_second=20):
        """Shows a video, [time, height, width, 3] uint8, in TensorBoard."""
        with self._tensorboard().as_default():
            write_video(name, frames, step, frames_per_second)
        self._writer.flush()

    def close(self):
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _tensorboard(self):
        if self._writer is None:
            self._writer = tf.summary.create_file_writer(str(self._run / "tensorboard"))
        return self._writer


def write_video(name, frames, step, frames_per_second=20):
    """Writes an animated GIF to the default summary writer.

    Args:
        name: tag in TensorBoard, under Images.
        frames: [time, height, width, 3], uint8.
        step: environment step.
        frames_per_second: of the playback.
    """
    image = gif(frames, frames_per_second)
    height, width = frames.shape[1:3]
    parts = tf.stack([tf.as_string(width), tf.as_string(height), image])
    tf.summary.write(name, parts, step, metadata.create_summary_metadata("", ""))

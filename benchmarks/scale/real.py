"""What a real run of many processes on this machine does in a second."""

import dataclasses
import pathlib
import signal
import subprocess
import tempfile
import time

from agents.runs.config.overrides import load
from agents.runs.history import Follower
from agents.system.processes import LoggedProcess, command_of

_SKIPPED = 3  # learned episodes, while functions are traced and compiled


@dataclasses.dataclass(frozen=True)
class Speed:
    """What a run did in a second.

    Args:
        steps: environment steps, of episodes that were learned from.
        samples: sequences of the batches that were learned from.
    """

    steps: float
    samples: float


def measure_run(words, actors, episodes):
    """Trains for some episodes.

    Args:
        words: of the config.
        actors: 0: one process collects and learns in turn.
        episodes: that are measured, after the first ones.

    Returns:
        `Speed`.

    Raises:
        RuntimeError: the run ended before.
    """
    with tempfile.TemporaryDirectory() as folder:
        run, log = pathlib.Path(folder) / "run", pathlib.Path(folder) / "log"
        command = command_of("train", *words, f"actors={actors}", f"logdir={run}")
        process = LoggedProcess(command, log)
        try:
            moments = _learned(process, Follower(run), _SKIPPED + episodes)
        finally:
            _end(process)
    (begun, *before), (ended, *after) = moments[_SKIPPED - 1], moments[-1]
    steps, updates = (
        (new - old) / (ended - begun) for old, new in zip(before, after, strict=True)
    )
    return Speed(steps, load(words).batch_size * updates)


def _learned(process, follower, episodes):
    """When each of the first learned episodes was done, and the steps till then."""
    moments = []
    while len(moments) < episodes:
        if process.poll() is not None:
            raise RuntimeError(f"the run ended: {process.reason}")
        if follower.update():
            now = time.monotonic()
            moments += [
                (now, row["environment_steps"], row["train_steps"])
                for row in follower.added
                if row["train_steps"]
            ]
        time.sleep(0.02)
    return moments


def _end(process):
    process.send_signal(signal.SIGINT)
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()

"""How processes of a run tell that they live, and what they are doing or waiting for."""

import json
import os
import pathlib
import socket
import threading
import time
from typing import NamedTuple

SECONDS = 1.0  # between beats


class Beat(NamedTuple):
    """What a process says of itself.

    Attributes:
        count: of its beats; a new count is a sign of life.
        state: what it is doing, in a word or two; waiting begins with "waiting".
        since: seconds in this state.
        process: number of the process.
        host: name of its machine.
        told: dict of whatever else it tells.
    """

    count: int
    state: str
    since: float
    process: int
    host: str
    told: dict


class Heartbeat:
    """Writes `<folder>/<name>.json` every second, from a thread of its own.

    Args:
        folder: of the beats of a run.
        name: of the process, such as actor_2.
    """

    def __init__(self, folder, name):
        self._file = pathlib.Path(folder) / f"{name}.json"
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._count, self._told = 0, {}
        self._state, self._began = "starting", time.monotonic()
        self._ended = threading.Event()
        self._write()
        threading.Thread(target=self._beat, daemon=True).start()

    def __call__(self, state, **told):
        """Says what the process is doing from now on."""
        with self._lock:
            if state != self._state:
                self._state, self._began = state, time.monotonic()
            self._told |= told
        self._write()

    def close(self):
        """The last beat: the process ends as it was meant to."""
        self("ended")
        self._ended.set()

    def _beat(self):
        while not self._ended.wait(SECONDS):
            self._write()

    def _write(self):
        with self._lock:
            self._count += 1
            since = time.monotonic() - self._began
            beat = Beat(
                self._count,
                self._state,
                since,
                os.getpid(),
                socket.gethostname(),
                self._told,
            )
            # Not synchronised with the disk: a beat is worth nothing after a loss of power.
            temporary = self._file.with_name(f".{self._file.name}.{os.getpid()}.tmp")
            temporary.write_text(json.dumps(beat._asdict()))
            os.replace(temporary, self._file)


def read_beat(folder, name):
    """The newest `Beat` of a process; None where there is none."""
    try:
        values = json.loads((pathlib.Path(folder) / f"{name}.json").read_text())
        return Beat(**values)
    except (OSError, ValueError, TypeError):
        return None

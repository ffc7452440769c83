"""A folder to which one process at a time writes."""

import fcntl
import os

from agents.system.errors import InUseError

LOCK = ".lock"  # of a folder, whoever has it


def lock_folder(
    folder, advice="wait until it ends, or start a new run with another logdir"
):
    """Keeps other processes out of a folder until the file is closed or this process ends.

    Returns the file. Where the file system has no locks, nobody is kept out.

    Raises:
        InUseError: another process has it; the message tells which, and ends in `advice`.
    """
    lock = open(folder / LOCK, "a+")  # noqa: SIM115  it stays open as long as the run
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        process = lock.read().strip()
        lock.close()
        raise InUseError(
            f"{folder} is in use by another process ({process}); {advice}"
        ) from None
    except OSError:  # the file system has no locks
        return lock
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()
    return lock

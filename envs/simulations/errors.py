"""Errors of simulations, each in a line that names the task."""

import contextlib
import importlib
import os
import traceback

from envs.failing import EnvironmentFailedError

_HERE = os.path.dirname(__file__)


@contextlib.contextmanager
def failing(task, method):
    """Makes of any error that a task's method raises an `EnvironmentFailedError`."""
    try:
        yield
    except EnvironmentFailedError:  # it says so itself
        raise
    except (Exception, SystemExit) as error:
        raise EnvironmentFailedError(
            f"task {task!r}: {method} failed: {told(error)}"
        ) from error


def told(error):
    """An error in one line, with the place where it was raised."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(("<", _HERE, importlib.__file__))
    ]
    place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}: {line(error)}{place}"


def line(words):
    """What something prints, in one line."""
    return " ".join(str(words).split())

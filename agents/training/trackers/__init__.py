"""Where curves, films and the config of a run are shown: `logger=` of a config.

A logger of your own is a class with the four methods of `Tracker`, and nothing else:
`logger=python:module:Class`.
"""

import importlib
import os
import pkgutil
import sys
from typing import Protocol

from agents.system.errors import UserError

LIBRARIES = ("wandb", "mlflow")  # each an extra of the same name
_OWN = "python:"


class Tracker(Protocol):
    """What shows a run; metrics.jsonl and scores.csv are written in any case.

    Example:
        >>> class Printer:
        ...     def start(self, folder, config, kept_steps):
        ...         print(config["task"])
        ...
        ...     def write(self, step, row):
        ...         print(step, row["collect/return"])
        ...
        ...     def picture(self, name, file, step):
        ...         print(name, file)
        ...
        ...     def close(self):
        ...         pass
    """

    def start(self, folder, config, kept_steps):
        """Begins a session, before the first of the others is called.

        Args:
            folder: `pathlib.Path` of the run, whose name may have changed.
            config: nested plain values.
            kept_steps: environment steps after which a run goes on; what came later was
                taken back. 0: it begins.
        """

    def write(self, step, row):
        """Takes the numbers of an episode, dict of floats, at an environment step."""

    def picture(self, name, file, step):
        """Takes a PNG or GIF file, `pathlib.Path`."""

    def close(self):
        """Ends the session."""


def find(name):
    """The class of a logger, a `Tracker`; to be called before a run starts.

    Args:
        name: `tensorboard`, one of `LIBRARIES`, or `python:module:Class`.

    Raises:
        UserError: its library, module or class is not there, or is no class of this kind.
    """
    try:
        if name.startswith(_OWN):
            return _own(name)
        return pkgutil.resolve_name(f"agents.training.trackers.{name}:Logger")
    except UserError:
        raise
    except Exception as error:
        if name in LIBRARIES and getattr(error, "name", None) == name:
            raise UserError(
                f"logger={name} needs {name}, which is not installed: "
                f"pip install 'bayes_rl[{name}]'"
            ) from None
        words = " ".join(str(error).split())
        raise UserError(f"logger={name}: {type(error).__name__}: {words}") from error


def _own(name):
    module, _, kind = name.removeprefix(_OWN).partition(":")
    if not {"", os.getcwd()} & set(sys.path):
        sys.path.append(os.getcwd())
    found = getattr(importlib.import_module(module), kind)
    names = ("start", "write", "picture", "close")
    missing = [each for each in names if not callable(getattr(found, each, None))]
    if missing or not isinstance(found, type):
        raise UserError(
            f"logger={name} must be a class with the methods {', '.join(names)}"
            + (f"; it lacks {', '.join(missing)}" if missing else ", not an object")
        )
    return found

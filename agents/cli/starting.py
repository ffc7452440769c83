"""What a process of a run does before it starts."""

import concurrent.futures
import multiprocessing
import pathlib
import sys

from agents.runs.folder import Run, as_begun
from agents.system.errors import UserError
from agents.system.processes import die_with_parent
from envs.quiet import import_gym


def check_here(config):
    """Returns the config as `agents.training.checking.check` does."""
    import_gym()  # TF-Agents would import it with a notice
    from agents.training.checking import check

    return check(config)


def train_here(config):
    """Trains a run in this process; returns its exit status."""
    import_gym()  # TF-Agents would import it with a notice
    from agents.training.running import train

    return train(config)


def check_elsewhere(config):
    """As `check_here`, but that a run which was begun is not checked again.

    Leaves TensorFlow out of this process, which waits more than it works, or has yet to
    tell TensorFlow which devices there are.
    """
    if Run(pathlib.Path(config.logdir)).config_file.exists():
        return as_begun(config)
    executor = concurrent.futures.ProcessPoolExecutor
    spawn = multiprocessing.get_context("spawn")
    with executor(1, spawn, initializer=die_with_parent) as process:
        return process.submit(check_here, config).result()


def need_reverb():
    """Refuses a run of several processes where there is no Reverb."""
    try:
        import reverb  # noqa: F401
    except ModuleNotFoundError:
        if sys.version_info >= (3, 12):
            raise UserError(
                f"a run with actors needs dm-reverb, which Python {sys.version.split()[0]} "
                "cannot have: use Python 3.11, or actors=0"
            ) from None
        raise UserError(
            "dm-reverb is not installed; a run with actors needs it: "
            "pip install 'bayes_rl[distributed]'"
        ) from None

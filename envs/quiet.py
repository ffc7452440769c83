"""Silence for known noise of the simulators; errors and other warnings pass."""

import contextlib
import logging
import os
import sys
import warnings


def _is_news(record):
    return (
        "is deprecated and will be removed in a future release" not in record.getMessage()
    )


@contextlib.contextmanager
def without_deprecations():
    """Drops deprecation notices, as those of MuJoCo's compiler and of gym."""
    logger = logging.getLogger("absl")
    logger.addFilter(_is_news)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    finally:
        logger.removeFilter(_is_news)


def import_tensorflow():
    """Imports TensorFlow without what 2.16 to 2.19 write of GPUs before any setting counts.

    What it raises is raised.
    """
    if "tensorflow" not in sys.modules:
        with without_stderr():
            import tensorflow  # noqa: F401
    return sys.modules["tensorflow"]


@contextlib.contextmanager
def without_stderr():
    """Drops what libraries write to standard error without Python."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def import_gym():
    """Imports TensorFlow, then gym without its notice, which TF-Agents would print."""
    import_tensorflow()
    # Both are imported here since importing this file must cost nothing.
    from gym_notices import notices

    notices.notices.clear()
    with without_deprecations():
        import gym

        gym.logger.set_level(gym.logger.ERROR)
    return gym

"""Silence for known noise of the simulators; errors and other warnings pass."""

import contextlib
import logging
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


def import_gym():
    """Imports gym without its notice, which TF-Agents' import would print as well."""
    # Both are imported here since importing this file must cost nothing.
    from gym_notices import notices

    notices.notices.clear()
    with without_deprecations():
        import gym

        gym.logger.set_level(gym.logger.ERROR)
    return gym

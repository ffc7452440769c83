"""The policy of an agent as a SavedModel that needs TensorFlow alone."""

import contextlib
import logging

from tf_agents.policies.policy_saver import PolicySaver

from agents.system.files import replacing_folder
from agents.training.acting import ObservationPolicy

_LOGGERS = ("absl", "tensorflow")


def save_policy(agent, folder):
    """Writes the policy of an agent, that of its mean weights; it is whole or not there.

    It acts for one environment: [1, ...]. Its time steps hold the observation alone.

    Args:
        agent: `agents.planet.agent.planet_agent.PlaNetAgent`.
        folder: `pathlib.Path`; what lies there is replaced.
    """
    with _quiet():
        policy = ObservationPolicy(agent.policy)
        saver = PolicySaver(policy, batch_size=1, train_step=agent.train_step_counter)
        with replacing_folder(folder) as temporary:
            saver.save(str(temporary))


@contextlib.contextmanager
def _quiet():
    """Keeps two notices off the screen: no distribution of actions; where the files lie."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    for logger in loggers:  # a filter, since TensorFlow sets levels while it saves
        logger.addFilter(_is_error)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(_is_error)


def _is_error(record):
    return record.levelno >= logging.ERROR

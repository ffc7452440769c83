"""A trained agent from the folder of its run."""

import pathlib

from agents.episodes.environments import EVALUATION, load_environments
from agents.runs.checkpoints import Checkpoints
from agents.runs.folder import Run, load_config
from agents.system.errors import UserError
from agents.training.building import choose_devices, configure_tensorflow, make_agent


def load_agent(folder):
    """The config and the agent of a run, as of its newest readable checkpoint.

    Weights are averages where the config has `averaging`, so it cannot learn further.

    Args:
        folder: of the run; a training that goes on there is not disturbed.

    Returns:
        `agents.runs.config.schema.Train` and
        `agents.planet.agent.planet_agent.PlaNetAgent`.

    Raises:
        UserError: the folder holds no run or no checkpoint.
    """
    return load_parts(folder)[:2]


def load_parts(folder):
    """As `load_agent`, with the `entries` of the environment as a third."""
    config = load_config(folder)
    configure_tensorflow(config)
    run = Run(pathlib.Path(folder))
    environment = load_environments(config, 1, EVALUATION)
    agent = make_agent(config, environment, choose_devices("default"))
    environment.close()
    if make_checkpoints(run, agent).restore() is None:
        raise UserError(
            f"{run.folder} has no readable checkpoint; resume it by bayes-rl train, which "
            "writes one after each episode, and learns again from the episodes in the "
            "folder if checkpoints were lost"
        )
    agent.stay_averaged()
    return config, agent, environment.entries


def make_checkpoints(run, agent, **settings):
    """The checkpoints of a run: model, optimizer, counters and what seeds depend on.

    Who holds the run's lock owns them; others, such as `bayes-rl evaluate`, only read.
    """
    return Checkpoints(
        run.checkpoints,
        owned=run.lock is not None,
        agent=agent,
        train_step=agent.train_step_counter,
        **settings,
    )

"""The environments that a config asks for."""

import numpy as np

import envs
from agents.system.errors import UserError

# Purposes of a run's seed; each has environment seeds of its own. They are numpy's, from a
# stream apart from those of `agents.system.seeds.Purpose`.
COLLECTION, EVALUATION = 0, 1

_GIVE_UP_AFTER = 5  # failed episodes in a row: an environment that is broken, not unlucky


def load_environments(
    config,
    count,
    purpose,
    processes=False,
    first_episodes=None,
    stride=None,
    cut_after=None,
):
    """So many environments of a config's task as one; arguments as of `envs.load_many`.

    The purpose is `COLLECTION` or `EVALUATION`. Without `cut_after` an episode is cut after
    the length of the run, so that none goes on for ever.

    Raises:
        UserError: the task does not offer what the config asks for, such as a camera, or
            it needs a library that is not there.
    """
    try:
        return envs.load_many(
            count,
            seed=environment_seed(config.seed, purpose),
            processes=processes,
            first_episodes=first_episodes,
            stride=stride,
            give_up_after=_GIVE_UP_AFTER,
            cut_after=cut_after or config.environment_steps,
            **config.environment,
        )
    except (ValueError, RuntimeError) as error:
        raise UserError(" ".join(str(error).split())) from error


def environment_seed(seed, purpose):
    """An int from 0: the seed of a run's environments for one purpose."""
    return int(np.random.SeedSequence([seed, purpose]).generate_state(1)[0])

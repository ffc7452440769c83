"""Recording: pictures of an episode as the simulator shows it, whatever the agent sees."""

import contextlib
from typing import NamedTuple

import numpy as np
from tf_agents.policies import py_policy

from agents.episodes.collecting import first_episodes
from agents.system.errors import UserError

_SIZE = 240  # pixels of a side


class Recording(NamedTuple):
    """An episode and its pictures.

    Attributes:
        episode: see `agents.episodes.layout`.
        frames: [T + 1, size, size, 3], uint8, one for each row of the episode.
        seconds: of simulated time, from one frame to the next.
    """

    episode: dict
    frames: np.ndarray
    seconds: float


def record(environment, policy, train_step):
    """Runs the first episode of an environment and takes a picture before each action.

    Args:
        environment: batch of one, see `envs.load_many`; it is closed at the end.
        policy: `PyPolicy`.
        train_step: as of `agents.episodes.collecting.Collector`.

    Returns:
        `Recording`.

    Raises:
        UserError: nothing can be drawn here; this is found out before the first action.
    """
    (simulated,) = environment.envs
    frames = []

    def take():
        try:
            frames.append(simulated.render(size=_SIZE))
        except (RuntimeError, ValueError) as error:
            raise UserError(" ".join(str(error).split())) from error

    with contextlib.closing(environment):
        (episode,) = first_episodes(environment, _Watched(policy, take), train_step)
    return Recording(episode, np.stack(frames), simulated.seconds)


class _Watched(py_policy.PyPolicy):
    """A policy before whose actions something is done.

    The driver asks for an action in the last state as well, so none is missed.
    """

    def __init__(self, policy, look):
        self._policy = policy
        self._look = look
        super().__init__(
            policy.time_step_spec, policy.action_spec, policy.policy_state_spec
        )

    def _get_initial_state(self, batch_size):
        return self._policy.get_initial_state(batch_size)

    def _action(self, time_step, policy_state, seed=None):
        self._look()
        return self._policy.action(time_step, policy_state, seed)

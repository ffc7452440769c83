"""A point on a line: tiny tasks whose optimum is known, for tests and debugging."""

import numpy as np

from envs.simulations import FAKE_TIME_LIMIT

REACH = 0.1
EDGE = 0.5


class Line:
    """A point on [-1, 1] that an action in [-1, 1] moves by at most 0.1.

        position' = clip(position + 0.1 action, -1, 1)
        velocity' = position' - position
        reward    = 1 - |position'|

    An episode is 20 steps. It starts at a uniform position, at rest. The state is
    [position, velocity]; a picture is black with a white column at the position.
    """

    def __init__(self):
        self.action_minimum = np.full([1], -1.0)
        self.action_maximum = np.full([1], 1.0)
        self.time_limit = FAKE_TIME_LIMIT
        self.timestep = 0.1
        self._position = 0.0
        self._velocity = 0.0

    def reset(self, seed):
        self._position = np.random.default_rng(seed).uniform(-1.0, 1.0)
        self._velocity = 0.0

    def step(self, action):
        position = float(np.clip(self._position + REACH * action[0], -1.0, 1.0))
        self._velocity = position - self._position
        self._position = position
        return 1.0 - abs(position), False, 1.0

    def state(self):
        return np.array([self._position, self._velocity])

    def position_only(self):
        return np.array([self._position])

    def position(self):
        return np.array([self._position])

    def velocity(self):
        return np.array([self._velocity])

    def render(self, size, camera, shadows):
        del camera, shadows
        image = np.zeros([size, size, 3], np.uint8)
        image[:, int(round((self._position + 1.0) / 2.0 * (size - 1)))] = 255
        return image

    def close(self):
        pass


class Cliff(Line):
    """A line that ends in a cliff: the farther right the better, up to the edge.

        reward = (1 + position') / 2
        the episode ends, with discount 0, where position' > 0.5

    It starts left of the edge. The reward does not tell of the fall: who does not know that
    an episode can end goes on to the right.
    """

    def reset(self, seed):
        super().reset(seed)
        self._position = (1.0 + self._position) * (1.0 + EDGE) / 2.0 - 1.0

    def step(self, action):
        super().step(action)
        has_fallen = self._position > EDGE
        return (1.0 + self._position) / 2.0, has_fallen, 0.0 if has_fallen else 1.0


def optimal_return_before_the_edge(start):
    """The largest return of an episode of `Cliff` with an action repeat of 1.

        sum over t of (1 + min(start + 0.1 t, 0.5)) / 2, for t = 1 ... 20, and 0.05

    It is reached by going to the edge at full speed and staying there; the last step, after
    which there is nothing to lose, goes over it.

    Args:
        start: position at the start, from -1 to 0.5.

    Returns:
        A float.

    Example:
        >>> optimal_return_before_the_edge(0.5)
        15.05
    """
    times = np.arange(1, FAKE_TIME_LIMIT + 1)
    return float(np.sum(1.0 + np.minimum(start + REACH * times, EDGE)) + REACH) / 2.0


def optimal_return(start):
    """The largest return of an episode with an action repeat of 1.

        sum over t of 1 - max(0, |start| - 0.1 t), for t = 1 ... 20

    It is reached by clip(-10 position, -1, 1), which goes to the origin at full speed and
    stays there.

    Args:
        start: position at the start, from -1 to 1.

    Returns:
        A float.

    Example:
        >>> optimal_return(0.0)
        20.0
    """
    times = np.arange(1, FAKE_TIME_LIMIT + 1)
    return float(np.sum(1.0 - np.maximum(0.0, abs(start) - REACH * times)))

"""A point on a line: tiny tasks whose optimum is known, for tests and debugging."""

import numpy as np

FAKE_TIME_LIMIT = 20  # environment steps of an episode
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

"""A task of two switches, by the interface of gymnasium, which need not be installed."""

import numpy as np

from envs.quiet import import_gym

spaces = import_gym().spaces


class Switches:
    """Its first switch has three positions, its second two, numbered from 0.

    The state is the sum of what was chosen and how often; an episode is ten steps. Each
    switch that is in its last position is worth 1.
    """

    action_space = spaces.MultiDiscrete([3, 2])
    observation_space = spaces.Box(-1.0, 2.0, [2])

    def reset(self, seed=None):
        self.steps, self.state = 0, np.full([2], seed % 2, np.float32)
        return self.state, {}

    def step(self, action):
        assert self.action_space.contains(action)
        self.steps += 1
        self.state = (0.5 * self.state + 0.5 * action).astype(np.float32)
        reward = float(action[0] == 2) + float(action[1] == 1)
        return self.state, reward, False, self.steps == 10, {}

    def close(self):
        pass

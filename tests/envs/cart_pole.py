"""Registers gym's cart pole with a continuous force: it ends when the pole falls."""

from envs.quiet import import_gym

gym = import_gym()
from gym.envs.classic_control import CartPoleEnv  # noqa: E402


class ContinuousCartPole(gym.ActionWrapper):
    """CartPole-v1 with a force from -10 to 10 in place of one of the two."""

    def __init__(self):
        super().__init__(CartPoleEnv())
        self.action_space = gym.spaces.Box(-1.0, 1.0, [1])

    def action(self, action):
        self.unwrapped.force_mag = 10.0 * abs(float(action[0]))
        return int(action[0] > 0)


gym.register("ContinuousCartPole-v0", entry_point=ContinuousCartPole, max_episode_steps=30)

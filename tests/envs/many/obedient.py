"""Registers tasks of gymnasium that fail, end or die as they are told."""

import os

import gymnasium
import numpy as np

RAISE, END, DIE, MISFIT = 0.25, 0.5, 0.75, 1.0  # by these actions


class Obedient(gymnasium.Env):
    """Observes its seed, divided by 2^32, and its steps. It dies of one after its end."""

    action_space = gymnasium.spaces.Box(-1.0, 1.0, [1])
    observation_space = gymnasium.spaces.Box(0.0, 1e6, [2])
    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(self, render_mode=None):
        self.render_mode = render_mode

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._seed, self._steps, self._has_ended = seed, 0, False
        return self._observe(), {}

    def step(self, action):
        wish = round(float(action[0]), 6)
        if wish == RAISE:
            raise OverflowError("as you wish")
        if wish == DIE or self._has_ended:
            os._exit(0)
        self._has_ended = wish == END
        self._steps += 1
        observation = np.zeros(5) if wish == MISFIT else self._observe()
        return observation, wish, wish == END, False, {"path": [0] * self._steps}

    def render(self):
        return np.full([8, 8, 3], self._steps, np.uint8)

    def _observe(self):
        return np.array([self._seed / 2**32, self._steps], np.float32)


class Picky(Obedient):
    """Does not start by an odd seed. Its first observation is of integers."""

    def reset(self, *, seed=None, options=None):
        if seed % 2:
            raise OverflowError("odd seed")
        observation, info = super().reset(seed=seed)
        return (observation * 2**16).astype(int), info


class Parts(Obedient):
    """Observes an image beside numbers."""

    observation_space = gymnasium.spaces.Dict(
        {
            "camera": gymnasium.spaces.Box(0, 255, [8, 8, 3], np.uint8),
            "arm": gymnasium.spaces.Box(-1e6, 1e6, [2]),
        }
    )

    def _observe(self):
        return {"camera": self.render(), "arm": super()._observe()}


for made in (Obedient, Picky, Parts):
    gymnasium.register(f"{made.__name__}-v0", entry_point=made)

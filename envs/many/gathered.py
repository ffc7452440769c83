"""Tasks of gymnasium in one vector environment, as environments that are batched."""

import functools

import numpy as np
from tf_agents.environments import batched_py_environment

from envs.making import make
from envs.many.vector import Slot, Vector
from envs.simulations.choices import shaped
from envs.simulations.gym import one_number


class GatheredEnvironment(batched_py_environment.BatchedPyEnvironment):
    """Environments whose simulations are those of one `Vector`.

    It asks for the steps of all at once, and then each environment takes what is its own.

    Each is made by `envs.making.make` of a dict of `arguments`; `task` is of `envs.tasks`.
    """

    def __init__(self, arguments, task):
        count = len(arguments)
        vector = functools.cache(lambda: Vector(task.variant, task.name, count))

        def slot(number):
            def make_slot():
                return Slot(vector(), number)

            make_slot.__name__ = "gymnasium.make"  # in messages
            return make_slot

        super().__init__(
            [make(**given, maker=slot(each)) for each, given in enumerate(arguments)],
            multithreading=False,
        )
        self._vector = vector()

    def _reset(self):
        self._vector.begin(self._seeds(range(self.batch_size)))
        return super()._reset()

    def _step(self, actions):
        if len(actions) != self.batch_size:
            raise ValueError(f"{self.batch_size} actions are needed, got {len(actions)}")
        acting, beginning = {}, []
        for number, environment in enumerate(self.envs):
            if environment.current_time_step().is_last():
                beginning.append(number)
            else:
                scaled = environment.scaled(actions[number])
                acting[number] = shaped(scaled, self._vector.template.action_space)
        if acting:
            self._vector.act(acting, self.envs[0].action_repeat)
        if beginning:
            self._vector.begin(self._seeds(beginning))
        return super()._step(np.asarray(actions))

    def _seeds(self, numbers):
        return {number: one_number(self.envs[number].next_seed) for number in numbers}

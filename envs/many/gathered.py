"""Tasks of gymnasium in one vector environment, as environments that are batched."""

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
        self._vector = Vector(task.variant, task.name, len(arguments))
        try:
            super().__init__(
                [
                    make(**given, maker=self._slot(number))
                    for number, given in enumerate(arguments)
                ],
                multithreading=False,
            )
        except BaseException:
            self._vector.close()
            raise

    def _slot(self, number):
        def make_slot():
            return Slot(self._vector, number)

        make_slot.__name__ = "gymnasium.make"  # in messages
        return make_slot

    def _reset(self):
        self._vector.ask(dict(enumerate(map(_begin, self.envs))))
        return super()._reset()

    def _step(self, actions):
        if len(actions) != self.batch_size:
            raise ValueError(f"{self.batch_size} actions are needed, got {len(actions)}")
        given = zip(self.envs, actions, strict=True)
        self._vector.ask(dict(enumerate(self._order(*each) for each in given)))
        return super()._step(np.asarray(actions))

    def _order(self, environment, action):
        if environment.current_time_step().is_last():
            return _begin(environment)
        taken = shaped(environment.scaled(action), self._vector.template.action_space)
        return "act", taken, environment.repeats


def _begin(environment):
    return "reset", one_number(environment.next_seed)

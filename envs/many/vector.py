"""Tasks of gymnasium in its own vector environment, each handed out as one by itself.

It imports no TensorFlow, for the processes of the vector environment import it.
"""

import contextlib
from multiprocessing import connection

import gymnasium
import numpy as np
from gymnasium.vector import AsyncVectorEnv, AutoresetMode

from envs.failing import EnvironmentFailedError
from envs.many.worker import DiedError, interrupts_kept_off
from envs.simulations.errors import failing, line
from envs.simulations.gym import GymEnv, as_picture, one_number
from envs.simulations.gymnasium import made, maker

_GIVEN = "given"  # by a task, in the info of a step
_NOTHING = gymnasium.spaces.Box(0.0, 1.0, [1], np.float32)


class Slot(GymEnv):
    """One environment of a `Vector`, behind the face of `envs.simulations.interfaces`.

    A step hands out what the vector environment was asked for before. So does a reset,
    unless nobody has asked.
    """

    def __init__(self, vector, number):
        super().__init__(vector.template)
        self.vector, self.number = vector, number

    def reset(self, seed):
        return self.vector.first(self.number, one_number(seed))

    def step(self, action):
        del action
        return self.vector.take(self.number)

    def render(self, size):
        return as_picture(self.vector.picture(self.number), size)

    def close(self):
        self.vector.close()


class Vector:
    """A vector environment, which is made again where a process of it has ended.

    That ends the present episodes of all its environments: each has failed.

    Args:
        name: of the task in gymnasium.
        task: its name here, for messages.
        count: of environments.

    Attributes:
        template: an environment that never acts: it says what the others observe and take.
    """

    def __init__(self, name, task, count):
        self.template = maker(name)()
        self._make = lambda: Guarded(made(name), task)
        self._count = count
        self._vector = None
        self._came = [[] for _ in range(count)]  # and was not taken, of each environment
        self._begun = {}  # number of an environment -> seed, of what was not taken
        self._pictures = None

    def begin(self, seeds):
        """Starts episodes, by a dict of the number of an environment -> int."""
        own = [seeds.get(number) for number in range(self._count)]
        chosen = np.array([seed is not None for seed in own])
        for number in seeds:
            self._came[number].clear()
        self._begun.update(seeds)
        self._ask("reset", seeds, seed=own, options={"reset_mask": chosen})

    def act(self, actions, repeats):
        """Takes actions so many times, by a dict of number -> what the task takes."""
        for came in self._came:
            came.clear()
        self._begun.clear()
        some = next(iter(actions.values()))  # for those that are to begin
        every = np.stack([actions.get(number, some) for number in range(self._count)])
        for _ in range(repeats):
            if not self._ask("step", actions, actions=every):
                break

    def first(self, number, seed):
        """The first observation of the episode of a seed, begun now unless it was."""
        if self._begun.pop(number, None) != seed:
            self.begin({number: seed})
            del self._begun[number]
        return self.take(number)

    def take(self, number):
        """What an environment gave, once.

        Raises:
            EnvironmentFailedError: its episode has failed, or has ended with a process.
        """
        if not self._came[number]:
            raise DiedError("a process of its vector environment has ended")
        return _raised(self._came[number].pop(0))

    def picture(self, number):
        if self._pictures is None:
            self._pictures = self._running().render()
        return _raised(self._pictures[number])

    def close(self):
        self.template.close()
        self._stop()

    def _ask(self, method, numbers, **given):
        """Keeps what environments give, and returns whether the processes live."""
        self._pictures = None
        try:
            info = getattr(self._running(), method)(**given)[-1]
        except Exception as error:
            died = self._death(error)
            for number in numbers:
                self._came[number].append(died)
            return False
        except BaseException:  # no answer may come late
            self._stop()
            raise
        for number in numbers:
            if _GIVEN in info and info[f"_{_GIVEN}"][number]:
                self._came[number].append(info[_GIVEN][number])
        return True

    def _running(self):
        if self._vector is None:
            with interrupts_kept_off():
                self._vector = AsyncVectorEnv(
                    [self._make] * self._count,
                    context="spawn",  # a fork hangs where EGL has rendered
                    autoreset_mode=AutoresetMode.DISABLED,
                )
        return self._vector

    def _death(self, error):
        processes = [] if self._vector is None else self._vector.processes
        if isinstance(error, EOFError | ConnectionError):  # its end may take a moment
            ready = connection.wait([each.sentinel for each in processes], timeout=5)
            for process in processes:
                process.join(5 if process.sentinel in ready else 0)
        ended = [each for each in processes if not each.is_alive()]
        self._stop()
        if not ended:
            return EnvironmentFailedError(
                f"gymnasium's vector environment: {line(repr(error))}"
            )
        number, code = processes.index(ended[0]), ended[0].exitcode
        return DiedError(
            f"the process of environment {number} of {self._count} has ended "
            f"(exit code {code})"
        )

    def _stop(self):
        vector, self._vector = self._vector, None
        if vector is None:
            return
        try:
            with contextlib.suppress(Exception):  # where a process is gone
                vector.close(timeout=5)
        finally:
            vector.closed = True
            for process in vector.processes:
                process.kill()
                process.join()


def _raised(came):
    if isinstance(came, Exception):
        raise came
    return came


class Guarded(gymnasium.Wrapper):
    """An environment in a process of a vector environment, which no error of it ends.

    What the task gives, or the error that it raises, travels in the info as it is: as an
    observation it would be cast to the type of the space, and one that does not fit would
    end all environments. After the end of an episode a step does nothing.
    """

    def __init__(self, env, task):
        super().__init__(env)
        self.observation_space = _NOTHING
        self._task, self._face, self._has_ended = task, GymEnv(env), True

    def reset(self, *, seed=None, options=None):
        del options
        came = self._came("reset", seed)
        self._has_ended = isinstance(came, Exception)
        return _NOTHING.low, {_GIVEN: came}

    def step(self, action):
        if self._has_ended:
            return _NOTHING.low, 0.0, False, False, {}
        came = self._came("step", action)
        self._has_ended = isinstance(came, Exception) or came[2]
        return _NOTHING.low, 0.0, False, False, {_GIVEN: came}

    def render(self):
        return self._came("picture")

    def _came(self, method, *given):
        try:
            with failing(self._task, "render" if method == "picture" else method):
                return getattr(self._face, method)(*given)
        except EnvironmentFailedError as error:
            return EnvironmentFailedError(str(error))

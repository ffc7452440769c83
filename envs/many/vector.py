"""Tasks of gymnasium in its own vector environment, each handed out as one by itself.

It imports no TensorFlow, for the processes of the vector environment import it.
"""

import contextlib
import functools
from multiprocessing import connection

import gymnasium
import numpy as np
from gymnasium.vector import AsyncVectorEnv, AutoresetMode

from envs.failing import DiedError, EnvironmentFailedError, EpisodeLostError
from envs.many.worker import interrupts_kept_off
from envs.simulations.errors import failing, line
from envs.simulations.gym import GymEnv, as_picture, one_number
from envs.simulations.gymnasium import maker, remade

_PATIENCE = 5  # seconds for what should take none


class Slot(GymEnv):
    """One environment of a `Vector`, behind the face of `envs.simulations.interfaces`.

    A step hands out what the vector environment was asked for before. So does a reset,
    unless nobody has asked.
    """

    def __init__(self, vector, number):
        super().__init__(vector.template)
        self._vector, self._number = vector, number

    def reset(self, seed):
        return self._vector.first(self._number, one_number(seed))

    def step(self, action):
        del action
        return self._vector.take(self._number)

    def render(self, size):
        return as_picture(self._vector.picture(self._number), size)

    def close(self):
        self._vector.close()


class Vector:
    """A vector environment, which is made again where a process of it has ended.

    That ends the present episodes of all its environments. It is asked by orders: a dict of
    the number of an environment -> the name of a method of `Guarded`, and its arguments.

    Args:
        name: of the task in gymnasium.
        task: its name here, for messages.
        count: of environments.
    """

    def __init__(self, name, task, count):
        self._name, self._task, self._count = name, task, count
        self._vector, self._is_closed, self._is_asked = None, False, False
        self._came = [[] for _ in range(count)]  # and was not taken, of each environment
        self._begun = {}  # number of an environment -> seed, of what was not taken
        self._pictures = None

    @functools.cached_property
    def template(self):
        """An environment that never acts: it says what the others observe and take."""
        return maker(self._name)()

    def ask(self, orders):
        """Keeps what environments give: to `reset`, by a seed, or `act`."""
        self._pictures = None
        for number, (method, *given) in orders.items():
            self._came[number].clear()
            self._begun.pop(number, None)
            if method == "reset":
                (self._begun[number],) = given
        for number, came in self._given(orders).items():
            self._came[number] += came

    def first(self, number, seed):
        """The first observation of the episode of a seed, begun now unless it was."""
        if self._begun.get(number) != seed:
            self.ask({number: ("reset", seed)})
        del self._begun[number]
        return self.take(number)

    def take(self, number):
        """What an environment gave, once.

        Raises:
            EnvironmentFailedError: its episode has failed, or was lost with a process.
        """
        if not self._came[number]:
            raise EpisodeLostError("a process of its vector environment has ended")
        return _raised(self._came[number].pop(0))

    def picture(self, number):
        if self._vector is None:
            raise EpisodeLostError("a process of its vector environment has ended")
        if self._pictures is None:
            self._pictures = self._given(dict.fromkeys(range(self._count), ("picture",)))
        return _raised(self._pictures[number][0])

    def close(self):
        self._is_closed = True
        self._stop()
        if "template" in vars(self):
            self.template.close()

    def _given(self, orders):
        """Dict of number -> list of what that environment gave: results, or an error."""
        vector = self._running()
        try:
            self._is_asked = True
            came = vector.call("follow", orders)
            self._is_asked = False
        except Exception as error:
            return {number: [each] for number, each in self._deaths(error, orders).items()}
        except BaseException:  # no answer may come late
            self._stop()
            raise
        return {number: came[number] for number in orders}

    def _running(self):
        if self._is_closed:
            raise EnvironmentFailedError("the environments are closed; load them again")
        if self._vector is None:
            spec, task = self.template.spec, self._task
            with interrupts_kept_off():
                self._vector = AsyncVectorEnv(
                    [functools.partial(Guarded, spec, task, n) for n in range(self._count)],
                    context="spawn",  # a fork hangs where EGL has rendered
                    autoreset_mode=AutoresetMode.DISABLED,
                )
        return self._vector

    def _deaths(self, error, numbers):
        """An error for each environment, where the vector environment has raised one."""
        processes = self._vector.processes
        if isinstance(error, EOFError | ConnectionError):  # its end may take a moment
            ready = connection.wait([each.sentinel for each in processes], _PATIENCE)
            for process in processes:
                process.join(_PATIENCE if process.sentinel in ready else 0)
        codes = {n: each.exitcode for n, each in enumerate(processes)}
        codes = {n: code for n, code in codes.items() if code is not None}
        self._stop()
        if not codes:
            words = f"gymnasium's vector environment: {line(repr(error))}"
            return dict.fromkeys(numbers, EnvironmentFailedError(words))
        number, code = next(iter(codes.items()))
        words = (
            f"the process of environment {number} of {self._count} has ended "
            f"(exit code {code})"
        )
        return {n: (DiedError if n in codes else EpisodeLostError)(words) for n in numbers}

    def _stop(self):
        vector, self._vector = self._vector, None
        if vector is None:
            return
        try:
            if not self._is_asked:
                with contextlib.suppress(Exception):  # where one is gone, or takes long
                    vector.call_async(
                        "follow", dict.fromkeys(range(self._count), ("shut",))
                    )
                    vector.call_wait(_PATIENCE)
        finally:
            self._is_asked = False
            vector.closed = True  # what gymnasium would do else waits for those that hang
            for process in vector.processes:
                process.kill()
                process.join()
            for pipe in filter(None, vector.parent_pipes):
                pipe.close()


def _raised(came):
    if isinstance(came, Exception):
        raise came
    return came


class Guarded(gymnasium.Env):
    """A task in a process of a vector environment, which no error of it ends.

    It follows its own order alone. What the task gives, or the error that it raises, is
    what `follow` returns: `AsyncVectorEnv.call` hands that on as it is, where its `step`
    would cast observations to the type of the space and end with what does not fit.

    Args:
        spec: `gymnasium.envs.registration.EnvSpec` of the task.
        task: its name, for messages.
        number: of the environment.
    """

    # What a vector environment asks for, and nobody here.
    observation_space = action_space = gymnasium.spaces.Box(0.0, 1.0, [1], np.float32)

    def __init__(self, spec, task, number):
        self._spec, self._task, self._number = spec, task, number
        self._face, self._goes_on = None, False

    def follow(self, orders):
        """A list of what came of the own order; None without one."""
        if self._number not in orders:
            return None
        method, *given = orders[self._number]
        return getattr(self, f"_{method}")(*given)

    def _reset(self, seed):
        came = self._came("gymnasium.make", self._make)
        if not isinstance(came, Exception):
            came = self._came("reset", self._face.reset, seed)
        self._goes_on = not isinstance(came, Exception)
        return [came]

    def _act(self, action, repeats):
        found = []
        while self._goes_on and len(found) < repeats:
            found.append(self._came("step", self._face.step, action))
            self._goes_on = not isinstance(found[-1], Exception) and not found[-1][2]
        return found

    def _picture(self):
        if self._face is None:
            return [EnvironmentFailedError(f"task {self._task!r}: no episode has begun")]
        return [self._came("render", self._face.picture)]

    def _shut(self):
        if self._face is not None:
            self._face.close()

    def _make(self):
        if self._face is None:
            self._face = GymEnv(remade(self._spec))

    def _came(self, method, function, *given):
        try:
            with failing(self._task, method):
                return function(*given)
        except EnvironmentFailedError as error:
            return EnvironmentFailedError(str(error))

"""Several environments, each in its own process, as one batched environment."""

import contextlib
import logging
import multiprocessing

import numpy as np
import tensorflow as tf
from tf_agents.environments import py_environment

from envs.failing import DiedError, EnvironmentFailedError, given_up
from envs.making import TOLD
from envs.many.worker import interrupts_kept_off, serve

_LOG = logging.getLogger(__name__)


class ParallelEnvironment(py_environment.PyEnvironment):
    """Environments of the same task that step at the same time.

    Observations, rewards and actions get a leading axis [environments]. The processes are
    spawned, since a fork of a process that has rendered hangs in EGL; so the calling script
    must keep its work under `if __name__ == "__main__":`.

    `tf_agents.environments.ParallelPyEnvironment` starts its processes in the way that is
    set for the whole program and tells of a dead process by an EOFError, hence this one.

    What an environment raises is raised here. A process that ends by itself, as by a fault
    of a simulator, is a failed episode as of `envs.environment.Environment`: another one
    goes on with the episode after it, and after `give_up_after` of them in a row a
    `DiedError` is raised. An interrupted call closes the environments; each later call is
    an `EnvironmentFailedError`.

    Each is made by `envs.making.make` of a dict of `arguments`; `pickled` is the function
    that a script has given for their task, or None.
    """

    _hint = '; a script must keep its work under if __name__ == "__main__":'

    def __init__(self, arguments, pickled=None):
        super().__init__()
        self._arguments, self._pickled = [*arguments], pickled
        self._processes = []
        self._connections = []
        self._ended = None
        # Of the present episode of each: its number, and how many died right before it.
        self._episodes = [given.get("first_episode", 0) for given in arguments]
        self._died = [0] * len(arguments)
        try:
            for given in arguments:
                process, connection = self._start(given)
                self._processes.append(process)
                self._connections.append(connection)
            for number in range(len(arguments)):
                _result(*self._receive(number, self._hint))
            self._observation_spec = self._ask(0, "observation_spec")
            self._action_spec = self._ask(0, "action_spec")
            for name in TOLD:
                setattr(self, name, self._ask(0, name))
        except BaseException:
            for process in self._processes:
                process.terminate()  # it may still be starting, which takes seconds
            self.close()
            raise

    @property
    def batched(self):
        return True

    @property
    def batch_size(self):
        return len(self._connections)

    def observation_spec(self):
        return self._observation_spec

    def action_spec(self):
        return self._action_spec

    def seed(self, seeds):
        """Gives each environment its seed, from its next reset on."""
        self._ask_all("seed", [(seed,) for seed in self._one_each(seeds, "seeds")])
        for number, seed in enumerate(seeds):
            self._arguments[number] = self._arguments[number] | {"seed": seed}
            self._episodes[number] = 0

    def render(self, mode="rgb_array"):
        """The present pictures, uint8 [environments, size, size, 3]."""
        return np.stack(self._ask_all("render", [(mode,)] * self.batch_size))

    def get_info(self):
        """See `Environment.get_info`; each entry is [environments]."""
        info = _stack(self._ask_all("get_info", [()] * self.batch_size))
        return info | {"failed_episodes": info["failed_episodes"] + self._died}

    def close(self):
        self._ended = self._ended or "are closed"
        for connection in self._connections:
            with contextlib.suppress(OSError):  # closed before, or its process is gone
                connection.send(None)
                connection.close()
        for process in self._processes:
            process.join(5)
            if process.is_alive():
                process.terminate()
                process.join()

    def _reset(self):
        return self._go_on("reset", [()] * self.batch_size)

    def _step(self, actions):
        actions = self._one_each(np.asarray(actions), "actions")
        return self._go_on("step", [(action,) for action in actions])

    def _go_on(self, name, given):
        """A time step of each; where a process died, the first of its next episode."""
        steps = []
        for number, answer in enumerate(self._answers(name, given)):
            died, lost = self._died[number] if name == "step" else 0, 0
            while isinstance(answer[1], DiedError):
                died, lost = died + 1, lost + 1
                answer = self._replace(number, died, lost, answer[1])
            step = _result(*answer)
            if step.is_first():
                self._episodes[number] = int(self._ask(number, "get_info")["number"])
                self._died[number] = died if lost else 0
            steps.append(step)
        return _stack(steps)

    def _replace(self, number, died, lost, error):
        """The first answer of another process, which leaves out the lost episodes."""
        given = self._arguments[number]
        if died >= given.get("give_up_after", 1):
            raise given_up(died, error)
        _LOG.warning("an episode is left out: %s", error)
        first = self._episodes[number] + lost * given.get("stride", 1)
        started = self._start(given | {"first_episode": first})
        self._processes[number], self._connections[number] = started
        made = self._receive(number)
        if not made[0]:
            return made
        self._send(number, "reset", ())
        return self._receive(number)

    def _start(self, given):
        """A process with an environment of these arguments, and the pipe to it."""
        context = multiprocessing.get_context("spawn")
        connection, child = context.Pipe()
        words = child, given, self._pickled
        process = context.Process(target=serve, args=words, daemon=True)
        with interrupts_kept_off():
            process.start()
        child.close()  # only the process may hold its end, else its death goes unnoticed
        return process, connection

    def _one_each(self, values, what):
        if len(values) != self.batch_size:
            raise ValueError(f"{self.batch_size} {what} are needed, got {len(values)}")
        return values

    def _ask(self, number, name):
        self._send(number, name, ())
        return _result(*self._receive(number))

    def _ask_all(self, name, given):
        return [_result(*answer) for answer in self._answers(name, given)]

    def _answers(self, name, given):
        """Sends every request before it waits for an answer.

        All answers are taken before an error is raised, so that none is left in a pipe;
        where that is interrupted, the environments are closed.
        """
        if self._ended:
            raise EnvironmentFailedError(f"the environments {self._ended}; load them again")
        try:
            for number, arguments in enumerate(given):
                self._send(number, name, arguments)
            return [self._receive(number) for number in range(len(given))]
        except BaseException as error:
            self._ended = f"were interrupted ({type(error).__name__}) and are closed"
            self.close()
            raise

    def _send(self, number, name, given):
        with contextlib.suppress(ConnectionError):  # told where its answer is missed
            self._connections[number].send((name, given))

    def _receive(self, number, hint=""):
        """Whether the answer is a result, and it; else it is an error."""
        try:
            return self._connections[number].recv()
        except (EOFError, ConnectionError):
            return False, self._death(number, hint)

    def _death(self, number, hint=""):
        process = self._processes[number]
        process.join(5)
        return DiedError(
            f"the process of environment {number} of {len(self._processes)} has ended "
            f"(exit code {process.exitcode}){hint}"
        )


def _result(is_result, answer):
    if not is_result:
        raise answer
    return answer


def _stack(nests):
    return tf.nest.map_structure(lambda *arrays: np.stack(arrays), *nests)

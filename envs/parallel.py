"""Several environments, each in its own process, as one batched environment."""

import contextlib
import multiprocessing
import signal
from multiprocessing import resource_tracker

import numpy as np
import tensorflow as tf
from tf_agents.environments import py_environment

from envs.failing import EnvironmentFailedError
from envs.making import TOLD
from envs.worker import serve


class ParallelEnvironment(py_environment.PyEnvironment):
    """Environments of the same task that step at the same time.

    Observations, rewards and actions get a leading axis [environments]. The processes are
    spawned, since a fork of a process that has rendered hangs in EGL; so the calling script
    must keep its work under `if __name__ == "__main__":`.

    `tf_agents.environments.ParallelPyEnvironment` starts its processes in the way that is
    set for the whole program and tells of a dead process by an EOFError, hence this one.

    What an environment raises is raised here; an `EnvironmentFailedError` where a process
    has ended by itself, or an earlier call was interrupted.

    Each is made by `envs.making.make` of a dict of `arguments`; `pickled` is the function
    that a script has given for their task, or None.
    """

    _hint = '; a script must keep its work under if __name__ == "__main__":'

    def __init__(self, arguments, pickled=None):
        super().__init__()
        self._processes = []
        self._connections = []
        self._ended = None
        context = multiprocessing.get_context("spawn")
        try:
            for given in arguments:
                connection, child = context.Pipe()
                words = child, given, pickled
                process = context.Process(target=serve, args=words, daemon=True)
                with _interrupts_kept_off():
                    process.start()
                # Only the process may hold its end, else its death goes unnoticed.
                child.close()
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

    def render(self, mode="rgb_array"):
        """The present pictures, uint8 [environments, size, size, 3]."""
        return np.stack(self._ask_all("render", [(mode,)] * self.batch_size))

    def get_info(self):
        """See `Environment.get_info`; each entry is [environments]."""
        return _stack(self._ask_all("get_info", [()] * self.batch_size))

    def close(self):
        self._ended = self._ended or "are closed"
        for connection in self._connections:
            try:
                connection.send(None)
                connection.close()
            except OSError:
                pass  # closed before, or its process is gone
        for process in self._processes:
            process.join(5)
            if process.is_alive():
                process.terminate()
                process.join()

    def _reset(self):
        return _stack(self._ask_all("reset", [()] * self.batch_size))

    def _step(self, actions):
        actions = self._one_each(np.asarray(actions), "actions")
        return _stack(self._ask_all("step", [(action,) for action in actions]))

    def _one_each(self, values, what):
        if len(values) != self.batch_size:
            raise ValueError(f"{self.batch_size} {what} are needed, got {len(values)}")
        return values

    def _ask(self, number, name):
        self._send(number, name, ())
        return _result(*self._receive(number))

    def _ask_all(self, name, given):
        """Sends every request before it waits for an answer.

        All answers are taken before an error is raised, so that none is left in a pipe;
        where that is interrupted, the environments are closed.
        """
        if self._ended:
            raise EnvironmentFailedError(f"the environments {self._ended}; load them again")
        try:
            for number, arguments in enumerate(given):
                self._send(number, name, arguments)
            received = [self._receive(number) for number in range(len(given))]
        except BaseException as error:
            self._ended = f"were interrupted ({type(error).__name__}) and are closed"
            self.close()
            raise
        return [_result(*answer) for answer in received]

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
        return EnvironmentFailedError(
            f"the process of environment {number} of {len(self._processes)} has ended "
            f"(exit code {process.exitcode}){hint}"
        )


@contextlib.contextmanager
def _interrupts_kept_off():
    """Ctrl-C reaches all processes of a terminal; those started here never see it."""
    resource_tracker.ensure_running()  # its start would let signals through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _result(is_result, answer):
    if not is_result:
        raise answer
    return answer


def _stack(nests):
    return tf.nest.map_structure(lambda *arrays: np.stack(arrays), *nests)

"""The process of one environment of many: it answers until its pipe closes."""

import contextlib
import pickle
import signal
from multiprocessing import resource_tracker

from envs.failing import EnvironmentFailedError


@contextlib.contextmanager
def interrupts_kept_off():
    """Ctrl-C reaches all processes of a terminal; those started here never see it."""
    resource_tracker.ensure_running()  # its start would let signals through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def serve(connection, arguments, pickled=None):
    """Makes an environment and runs what comes through the pipe.

    A request is (name of a method or attribute, arguments); an answer is (True, result)
    or (False, error), and the first answer says whether the environment could be made.
    The request None ends the process, and so does the end of the parent. What is given is
    an end of a `multiprocessing.Pipe`, and as of `envs.many.parallel.ParallelEnvironment`.
    """
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        _serve(connection, arguments, pickled)  # until the parent is gone


def _serve(connection, arguments, pickled):
    try:
        environment = _make(arguments, pickled)
    except Exception as error:
        connection.send((False, _portable(error)))
        return
    try:
        connection.send((True, None))
        while (request := connection.recv()) is not None:
            connection.send(_answer(environment, *request))
    finally:
        environment.close()


def _make(arguments, pickled):
    from envs.making import make

    if pickled is not None:
        from envs.simulations import own

        own.give(pickle.loads(pickled), arguments["task"])
    return make(**arguments)


def _answer(environment, name, arguments):
    try:
        found = getattr(environment, name)
        return True, found(*arguments) if callable(found) else found
    except Exception as error:
        return False, _portable(error)


def _portable(error):
    """The same error, of a type that every process can unpickle."""
    if type(error) in (ValueError, RuntimeError, EnvironmentFailedError):
        return type(error)(str(error))
    return RuntimeError(f"{type(error).__name__}: {error}")

"""What XLA compiles: the loss with its gradients, and decisions.

Both are long chains of small operations, between which a graph spends more time than in
them. XLA fuses what stands between two matrix products, once for each shape, which takes
seconds. What a config leaves open is decided in `agents.runs.config.resolving`.
"""

import contextlib
import functools
import os
import threading

import tensorflow as tf

from envs.quiet import without_stderr


class CompilingAhead:
    """Compiles decisions while this process goes on, where it may use another core.

    Tracing is Python, of which one thread runs at a time, so it is done at once; what XLA
    does after it takes several times as long and no Python.

    Args:
        policies: pairs of a `agents.planet.agent.policy.PlanningPolicy` and a number of
            environments.
    """

    def __init__(self, policies):
        self._stopped = threading.Event()
        calls = []
        if len(os.sched_getaffinity(0)) > 1:
            calls = [call for policy, count in policies for call in policy.trace(count)]
        self._thread = threading.Thread(target=self._run, args=[calls])
        self._thread.start()

    def stop(self):
        """Begins no more."""
        self._stopped.set()

    def wait(self):
        """Returns once nothing is compiled."""
        self._thread.join()

    def _run(self, calls):
        for call in calls:
            if not self._stopped.is_set():
                with contextlib.suppress(tf.errors.OpError):  # told where it is asked for
                    call()


@functools.cache
def take_notice():
    """Lets XLA say unheard what it says once to a process, past all settings of logs."""
    with without_stderr():
        tf.function(lambda x: x + 1, jit_compile=True)(tf.constant(0))

"""What XLA compiles: the loss with its gradients, and decisions.

Both are long chains of small operations, between which a graph spends more time than in
them. XLA fuses what stands between two matrix products, once for each shape, which takes
seconds. What a config leaves open is decided in `agents.runs.config.resolving`.
"""

import functools
from concurrent import futures

import tensorflow as tf

from agents.system.processes import cores
from envs.quiet import without_stderr


class CompilingAhead:
    """Compiles decisions while this process goes on, where it may use another core.

    Tracing is Python, of which one thread runs at a time, so it is done at once; what XLA
    does after it takes several times as long and no Python. It is given pairs of a
    `agents.planet.agent.policy.PlanningPolicy` and a number of environments.
    """

    def __init__(self, policies):
        self._thread = futures.ThreadPoolExecutor(1)
        if cores() > 1:
            calls = [call for policy, count in policies for call in policy.trace(count)]
            for call in calls:  # what fails is told where it is asked for
                self._thread.submit(call)

    def stop(self):
        """Begins no more."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def wait(self):
        """Returns once nothing is compiled."""
        self._thread.shutdown()


@functools.cache
def take_notice():
    """Lets XLA say unheard what it says once to a process, past all settings of logs."""
    with without_stderr():
        tf.function(lambda x: x + 1, jit_compile=True)(tf.constant(0))

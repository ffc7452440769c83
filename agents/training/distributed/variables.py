"""What actors need of the learner, through TF-Agents' container on the replay server.

All variables of a type are one vector, so that the server need not know the agent.
"""

import reverb
import tensorflow as tf
from tf_agents.experimental.distributed.reverb_variable_container import (
    ReverbVariableContainer,
)

TABLE = "variables"
_TYPES = (tf.float32, tf.float64, tf.int64)
SIGNATURE = {dtype.name: tf.TensorSpec([None], dtype) for dtype in _TYPES}


class Weights:
    """The variables by which an agent acts, to be sent or received.

    Args:
        agent: `agents.planet.agent.planet_agent.PlaNetAgent`.
        address: of the server, which answers now.
    """

    def __init__(self, agent, address):
        acting = agent.collect_policy.variables()  # those of the clock among them
        self._variables = [*acting, agent.train_step_counter]
        self._client = reverb.Client(address)
        self._container = ReverbVariableContainer(address, [TABLE])
        self._packed = tf.function(self._pack, autograph=False)
        self._assign = tf.function(self._unpack, autograph=False)

    def push(self):
        """Sends the variables."""
        self._container.push(self._packed(), TABLE)

    def pull(self):
        """Receives the newest variables; waits until there are some."""
        self._assign(self._container.pull(TABLE))

    def _of_type(self, name):
        return [variable for variable in self._variables if variable.dtype.name == name]

    def _pack(self):
        def vector(name):
            parts = [tf.reshape(variable, [-1]) for variable in self._of_type(name)]
            return tf.concat(parts, 0) if parts else tf.zeros([0], name)

        return {name: vector(name) for name in SIGNATURE}

    def _unpack(self, vectors):
        for name in SIGNATURE:
            variables = self._of_type(name)
            sizes = [variable.shape.num_elements() for variable in variables]
            parts = tf.split(vectors[name], sizes) if sizes else []
            for variable, part in zip(variables, parts, strict=True):
                variable.assign(tf.reshape(part, variable.shape))

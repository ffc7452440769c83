"""The weights of an agent on their way to other processes: one vector of each type."""

from typing import NamedTuple

import numpy as np
import tensorflow as tf

_TYPES = ("float32", "float64", "int64")


class Version(NamedTuple):
    """The weights by which an agent acts, as of a gradient step.

    Attributes:
        number: of the version, from 1; a larger one is newer.
        vectors: dict of the name of a type -> all variables of it, one after another.
    """

    number: int
    vectors: dict


class Weights:
    """Reads the variables of an agent, or writes them.

    Through graphs, because each tensor outside of graphs leaks some 50 bytes with
    TensorFlow 2.15 and Python 3.11.

    Args:
        variables: list of `tf.Variable`, in the same order wherever they go.
    """

    def __init__(self, variables):
        self._variables = variables
        self._packed = tf.function(self._pack, autograph=False)
        self._assign = tf.function(self._unpack, autograph=False)

    def read(self):
        """Dict of the name of a type -> vector; copies, which later steps do not change."""
        return {name: np.array(vector) for name, vector in self._packed().items()}

    def write(self, vectors):
        """Takes what `read` gave elsewhere."""
        self._assign({name: tf.constant(vectors[name]) for name in _TYPES})

    def _of_type(self, name):
        return [variable for variable in self._variables if variable.dtype.name == name]

    def _pack(self):
        def vector(name):
            parts = [tf.reshape(variable, [-1]) for variable in self._of_type(name)]
            return tf.concat(parts, 0) if parts else tf.zeros([0], name)

        return {name: vector(name) for name in _TYPES}

    def _unpack(self, vectors):
        for name in _TYPES:
            variables = self._of_type(name)
            sizes = [variable.shape.num_elements() for variable in variables]
            parts = tf.split(vectors[name], sizes) if sizes else []
            for variable, part in zip(variables, parts, strict=True):
                variable.assign(tf.reshape(part, variable.shape))


def acting_variables(agent):
    """Variables by which an agent explores, those of its clock among them.

    Args:
        agent: `agents.planet.agent.planet_agent.PlaNetAgent`.
    """
    return [*agent.collect_policy.variables(), agent.train_step_counter]

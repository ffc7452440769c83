"""The weights of an agent on their way to other processes: one vector of each type."""

import numpy as np
import tensorflow as tf

_TYPES = ("float32", "float64", "int64")


class Weights:
    """Reads the variables of an agent, or writes them.

    They are in the same order wherever they go. Through graphs, because each tensor outside
    of graphs leaks some 50 bytes with TensorFlow 2.15 and Python 3.11.
    """

    def __init__(self, variables):
        self._groups = {n: [v for v in variables if v.dtype.name == n] for n in _TYPES}
        self._packed = tf.function(self._pack, autograph=False)
        self._assign = tf.function(self._unpack, autograph=False)

    def read(self):
        """Dict of a type -> all variables of it, one after another: a copy of now."""
        return {name: np.array(vector) for name, vector in self._packed().items()}

    def write(self, vectors):
        """Takes what `read` gave elsewhere."""
        self._assign({name: tf.constant(vectors[name]) for name in _TYPES})

    def _pack(self):
        return {
            name: tf.concat([tf.zeros([0], name), *(tf.reshape(v, [-1]) for v in own)], 0)
            for name, own in self._groups.items()
        }

    def _unpack(self, vectors):
        for name, variables in self._groups.items():
            sizes = [variable.shape.num_elements() for variable in variables]
            parts = tf.split(vectors[name], sizes) if sizes else []
            for variable, part in zip(variables, parts, strict=True):
                variable.assign(tf.reshape(part, variable.shape))


def acting_variables(agent):
    """Variables by which an agent explores, those of its clock among them."""
    return [*agent.collect_policy.variables(), agent.train_step_counter]

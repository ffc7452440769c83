"""Sinkhorn flow: permutes the categories of each position by those before it."""

import tensorflow as tf

from bayes_rl.layers.reversible import permutations
from bayes_rl.layers.reversible.discrete_flows import DiscreteCoupling
from bayes_rl.serialization import register


@register
class SinkhornAutoregressiveFlow(DiscreteCoupling):
    """Permutes the vocabulary at each position by the categories before it.

        y[k] = P[k] x[k]
        P[k] = permutation nearest to sinkhorn(network(y)[k] / temperature)

    Gradients are those of the Sinkhorn matrix. `reverse` is one pass, `call` one a
    position. The nearest permutation is SciPy's matching on the host: no XLA, no TPU. To
    train it, see `DiscreteAutoregressiveFlow`.

    Source: Tran et al., 2019, Discrete Flows: Invertible Generative Models of Discrete
    Data; Mena et al., 2018, Learning Latent Permutations with Gumbel-Sinkhorn Networks.

    Args:
        layer: autoregressive network, left to right or with `input_degrees`, from
            [..., length, vocab] to [..., length, vocab^2], such as `MADE(vocab**2, [64])`.
        temperature: of the Sinkhorn matrices, above 0.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: the network gives another number of units.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> flow = ed.layers.SinkhornAutoregressiveFlow(ed.layers.MADE(25, [16]), 1.0)
        >>> flow(tf.one_hot([[0, 1, 2]], 5)).shape
        TensorShape([1, 3, 5])
    """

    def __init__(self, layer, temperature, **kwargs):
        super().__init__(layer, None, temperature, **kwargs)

    def _parameters(self, network_outputs, tensor):
        vocab = tensor.shape[-1]
        if network_outputs.shape[-1] != vocab**2:
            raise ValueError(
                f"network of {self.name!r} must give {vocab} * {vocab} units, got "
                f"{network_outputs.shape[-1]}"
            )
        shape = tf.concat([tf.shape(network_outputs)[:-1], [vocab, vocab]], axis=0)
        logits = tf.reshape(network_outputs, shape)
        logits = tf.ensure_shape(logits, [*network_outputs.shape[:-1], vocab, vocab])
        soft = permutations.sinkhorn(logits / tf.cast(self.temperature, logits.dtype))
        return tf.cast(permutations.soft_to_hard_permutation(soft), tensor.dtype)

    def _change(self, inputs, parameters):
        return tf.linalg.matvec(parameters, inputs)

    def _change_back(self, outputs, parameters):
        return tf.linalg.matvec(parameters, outputs, transpose_a=True)

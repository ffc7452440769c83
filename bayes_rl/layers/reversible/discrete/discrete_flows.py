"""Discrete flows: bijections of sequences of categories, as one-hot vectors."""

import tensorflow as tf

from bayes_rl import checks
from bayes_rl.layers.reversible.discrete import one_hot
from bayes_rl.layers.reversible.real_nvp import Coupling
from bayes_rl.serialization import register


class DiscreteCoupling(Coupling):
    """Coupling of one-hot vectors [..., length, vocab], also of integer type.

    The change is one of arithmetic modulo the vocabulary, where a subclass says no other.
    """

    is_constant_jacobian = True

    def __init__(self, layer, mask, temperature, **kwargs):
        checks.above_0(temperature=temperature)
        super().__init__(layer, mask, position_ndims=1, event_ndims=2, **kwargs)
        self.temperature = temperature

    def call(self, inputs):
        return _like(super().call(self._as_float(inputs)), inputs)

    def reverse(self, outputs):
        outputs = tf.convert_to_tensor(outputs)
        return _like(super().reverse(self._as_float(outputs)), outputs)

    def log_det_jacobian(self, outputs):
        """Zero, []: a bijection of categories keeps their probabilities."""
        dtype = tf.convert_to_tensor(outputs).dtype
        return tf.zeros([], dtype if dtype.is_floating else self.compute_dtype)

    def _as_float(self, tensor):
        return tensor if tensor.dtype.is_floating else tf.cast(tensor, self.compute_dtype)

    def _parameters(self, network_outputs, tensor):
        vocab = tensor.shape[-1]
        if network_outputs.shape[-1] == vocab:
            return self._one_hot(network_outputs, tensor.dtype), None
        if network_outputs.shape[-1] != 2 * vocab:
            raise ValueError(
                f"network of {self.name!r} must give {vocab} logits of a shift, or also "
                f"{vocab} of a scale, got {network_outputs.shape[-1]}"
            )
        shift, scale = tf.split(network_outputs, 2, axis=-1)
        units = tf.reduce_any(tf.one_hot(one_hot.coprimes(vocab), vocab) > 0, axis=0)
        # Scales without an inverse modulo vocab would merge categories.
        scale = tf.where(units, scale, scale.dtype.min)
        return self._one_hot(shift, tensor.dtype), self._one_hot(scale, tensor.dtype)

    def _one_hot(self, logits, dtype):
        return tf.cast(one_hot.one_hot_argmax(logits, self.temperature), dtype)

    def _change(self, inputs, parameters):
        shift, scale = parameters
        if scale is not None:
            inputs = one_hot.one_hot_multiply(inputs, scale)
        return one_hot.one_hot_add(inputs, shift)

    def _change_back(self, outputs, parameters):
        shift, scale = parameters
        inputs = one_hot.one_hot_minus(outputs, shift)
        if scale is None:
            return inputs
        inverse = one_hot.multiplicative_inverse(scale, scale.shape[-1])
        return one_hot.one_hot_multiply(inputs, inverse)


def _like(tensor, other):
    if other.dtype.is_floating:
        return tf.cast(tensor, other.dtype)
    return tf.cast(tf.round(tensor), other.dtype)


@register
class DiscreteAutoregressiveFlow(DiscreteCoupling):
    """Shifts and scales each category, modulo the vocabulary, by those before it.

        y[k] = (scale[k] * x[k] + shift[k]) mod vocab

    with shift and scale the largest logits that an autoregressive network gives for the
    outputs y before position k; only scales that have an inverse count. Gradients are those
    of a softmax. `reverse` is one pass, `call` one a position.

    `OneHotCategorical` of TFP passes no gradient to its value: train the network by
    -sum(flow.reverse(data) * log_softmax(logits)), which is the negative log probability.

    Source: Tran et al., 2019, Discrete Flows: Invertible Generative Models of Discrete
    Data, sections 3.1 and 3.3.

    Args:
        layer: autoregressive network, left to right or with `input_degrees`, from
            [..., length, vocab] to [..., length, vocab] logits of shifts or
            [..., length, 2 * vocab] of shifts and scales; such as `MADE(vocab, [64])`.
        temperature: of the softmax of the gradient, above 0.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: `temperature` is not above 0, or the network gives another number of
            logits.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> flow = ed.layers.DiscreteAutoregressiveFlow(ed.layers.MADE(10, [16]), 0.1)
        >>> outputs = flow(ed.OneHotCategorical(tf.zeros([2, 3, 5]), dtype=tf.float32))
        >>> outputs.log_prob(tf.one_hot([[0, 1, 2], [3, 4, 0]], 5)).shape
        TensorShape([2])
    """

    def __init__(self, layer, temperature, **kwargs):
        super().__init__(layer, None, temperature, **kwargs)


@register
class DiscreteBipartiteFlow(DiscreteCoupling):
    """Shifts and scales some categories, modulo the vocabulary, by the others.

        y[k] = (scale[k] * x[k] + shift[k]) mod vocab where mask[k] is 0, else x[k]

    with shift and scale the largest logits that a network gives for the categories where
    the mask is 1. Both directions are one pass; to train it, see
    `DiscreteAutoregressiveFlow`.

    Source: Tran et al., 2019, Discrete Flows: Invertible Generative Models of Discrete
    Data, sections 3.2 and 3.3.

    Args:
        layer: network from [..., length, vocab] to logits, as in
            `DiscreteAutoregressiveFlow`; it sees 0 where the mask is 0.
        mask: [length] of 0 and 1.
        temperature: of the softmax of the gradient, above 0.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: `temperature` is not above 0, or the network gives another number of
            logits.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> network = ed.layers.MADE(5, [16])
        >>> flow = ed.layers.DiscreteBipartiteFlow(network, [1, 0, 1], 0.1)
        >>> flow(tf.one_hot([[0, 1, 2]], 5)).shape
        TensorShape([1, 3, 5])
    """

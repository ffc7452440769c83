"""Reversible chains: depth without memory for activations."""

import tensorflow as tf

from bayes_rl.compatibility import versions
from bayes_rl.layers.reversible.base import ReversibleLayer
from bayes_rl.layers.reversible.residual import gradients_through
from bayes_rl.random_variables.transformed import sum_over_event
from bayes_rl.serialization import register
from bayes_rl.weights import held, hold, named_signs, named_weights, sample_with_signs


def _pull_back(layer, outputs, gradient, sources):
    if hasattr(layer, "pull_back"):
        return layer.pull_back(outputs, gradient, sources)
    inputs = tf.stop_gradient(layer.reverse(outputs))
    _, gradient, pairs = gradients_through(layer, inputs, gradient, sources)
    return inputs, gradient, pairs


@register
class ReversibleSequential(ReversibleLayer, tf.keras.layers.Layer):
    """Chain of reversible layers whose memory in training does not grow with its length.

    The backward pass computes each layer's inputs from its outputs instead of keeping them:
    it costs about one more forward pass. Gradients are those of the chain, up to rounding.
    Layers that draw weights draw them once and use them in both passes; Flipout draws its
    signs for each example. Other noise, such as dropout, would differ between the passes
    and give wrong gradients, as would batch statistics that the forward pass updates.

    Source: Gomez et al., 2017, The Reversible Residual Network: Backpropagation Without
    Storing Activations, section 3.2; Tran et al., 2019, Bayesian Layers, section 2.4.

    Args:
        layers: list of layers with `call` and `reverse`, of one shape, such as
            `ReversibleResidual` or `RealNVP` with a mask.
        **kwargs: of `tf.keras.layers.Layer`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> dense = tf.keras.layers.Dense
        >>> blocks = [ed.layers.ReversibleResidual(dense(3), dense(3)) for _ in range(4)]
        >>> ed.layers.ReversibleSequential(blocks)(tf.ones([5, 6])).shape
        TensorShape([5, 6])
    """

    def __init__(self, layers, **kwargs):
        super().__init__(**kwargs)
        self.layers = list(layers)

    @property
    def event_ndims(self):
        """Number of axes that its layers mix."""
        return max(getattr(layer, "event_ndims", 0) for layer in self.layers)

    @property
    def is_constant_jacobian(self):
        """Whether the Jacobian is the same everywhere."""
        return all(getattr(x, "is_constant_jacobian", False) for x in self.layers)

    def build(self, input_shape):
        for layer in self.layers:
            if not layer.built:
                layer.build(input_shape)
                layer.built = True
        super().build(input_shape)

    def call(self, inputs):
        return self._run(inputs)

    def _run(self, inputs):
        draws, signs = _draws(self)
        names = list(draws)

        @tf.custom_gradient
        def run(inputs, *values):
            weights = dict(zip(names, values, strict=True)) | signs
            outputs = inputs
            # Else the caller's tape keeps activations; public names cannot stop it.
            with hold(self, weights), versions.record.stop_recording():
                for layer in self.layers:
                    outputs = layer(outputs)

            def backward(gradient, variables=()):
                with hold(self, weights):
                    gradient, totals = self._go_back(outputs, gradient, values)
                by_value = [totals.get(value.ref()) for value in values]
                by_variable = [totals.get(variable.ref()) for variable in variables]
                gradients = (_summed_over_draws(gradient, inputs), *by_value)
                return (gradients, by_variable) if variables else gradients

            return outputs, backward

        return run(inputs, *draws.values())

    def _go_back(self, outputs, gradient, sources):
        """Gradients by the inputs, and by variables and sources: reference -> gradient."""
        totals, pairs = {}, []
        for layer in reversed(self.layers):
            outputs = _after([gradient, *(own for _, own in pairs)], outputs)
            outputs, gradient, pairs = _pull_back(layer, outputs, gradient, sources)
            for source, own in pairs:
                found = totals.get(source.ref())
                totals[source.ref()] = own if found is None else found + own
        return gradient, totals

    def reverse(self, outputs):
        for layer in reversed(self.layers):
            outputs = layer.reverse(outputs)
        return outputs

    def log_det_jacobian(self, outputs):
        """Gives log |dx/dy| at the outputs, summed over the axes that the chain mixes."""
        outputs = tf.convert_to_tensor(outputs)
        total = tf.zeros([], outputs.dtype)
        for layer in reversed(self.layers):
            change = layer.log_det_jacobian(outputs)
            mixed = getattr(layer, "event_ndims", 0)
            total += sum_over_event(change, outputs, mixed, self.event_ndims)
            outputs = layer.reverse(outputs)
        return total


def _summed_over_draws(gradient, inputs):
    """The gradient by the inputs, which may have gone whole to each of S draws."""
    draws = gradient.shape.rank - inputs.shape.rank
    return tf.reduce_sum(gradient, list(range(draws))) if draws else gradient


def _after(others, tensor):
    """The tensor; a graph waits for the others before it goes on with it.

    It would else compute the inputs of all layers at once and keep them. XLA ignores
    control dependencies and simplifies 0 * x, so the 0 that is added must be opaque.
    """
    if tf.executing_eagerly():
        return tensor
    flags = [tf.cast(tf.reshape(x, [-1])[:1], tf.bool) for x in others]
    flag = tf.concat(flags, axis=0)
    # Booleans equal themselves, also those of NaN.
    zero = tf.where(tf.reduce_all(flag == flag), 0.0, float("nan"))
    return tensor + tf.cast(zero, tensor.dtype)


def _draws(model):
    """Draws of the weights of a model and their signs: those that are held, or new ones."""
    named = named_weights(model)
    found = {name: held(layer, weight.key) for name, (layer, weight) in named.items()}
    if any(value is None for value in found.values()):
        return sample_with_signs(model)
    signs = {name: held(layer, key) for name, (layer, key, _) in named_signs(model).items()}
    return found, {name: value for name, value in signs.items() if value is not None}

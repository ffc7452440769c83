"""OneDraw: a model that draws its weights once a call, however often a layer is called."""

import contextlib

import tensorflow as tf

from bayes_rl.serialization import register
from bayes_rl.weights.drawing import sample_with_signs
from bayes_rl.weights.holding import held, hold
from bayes_rl.weights.naming import named_weights


@register
class OneDraw(tf.keras.Model):
    """A model under one draw of its weights in each call.

        weights ~ posterior,  outputs = model(inputs) with the weights held

    A Bayesian layer makes a new draw in every call. If one layer is called several times in
    a pass, as in a Siamese network or an auto-encoder with shared weights, the evidence
    bound needs one draw for all these calls. Flipout layers also keep the signs of each row
    of their inputs: a row is an example, or a step of it where `TimeDistributed` or a
    reshape makes rows of the steps. Weights that are held already stay held.

    Source: Blundell et al., 2015, Weight Uncertainty in Neural Networks, equation 2, whose
    expectation is over one draw of all weights.

    Args:
        model: Keras model or layer; it is shared, not copied.
        **kwargs: of `tf.keras.Model`.

    Example:
        >>> import bayes_rl as ed
        >>> layer = ed.layers.DenseFlipout(4)
        >>> inputs = tf.keras.Input([3])
        >>> difference = layer(inputs) - layer(inputs)
        >>> model = ed.OneDraw(tf.keras.Model(inputs, difference))
        >>> bool(tf.reduce_all(model(tf.ones([2, 3])) == 0.0))
        True
    """

    def __init__(self, model, **kwargs):
        super().__init__(**kwargs)
        self.model = model

    def call(self, inputs, training=None):
        with self._one_draw(inputs):
            return self.model(inputs, training=training)

    def _one_draw(self, inputs):
        if not self.model.built:
            self.model(inputs)
        named = named_weights(self.model).values()
        if any(held(layer, weight.key) is not None for layer, weight in named):
            return contextlib.nullcontext()
        weights, signs = sample_with_signs(self.model)
        return hold(self.model, weights | signs)

"""AtTest: a layer that behaves differently in training, and at test time as one asks."""

import tensorflow as tf

from bayes_rl.tracing import is_tracing
from bayes_rl.weights import held, hold, mean_weights

MODES = ("sample", "mean")


class AtTest:
    """Mixin, left of a `StochasticLayer` with `train(inputs)` and `predict(inputs)`.

    `predict` draws the weights anew or, with `at_test="mean"`, runs while the posteriors'
    means (of Cauchy and half-Cauchy posteriors, which have none, the medians) are held.
    Weights that are held already stay so, and a tracer sees them drawn.

    Args:
        *args: of the layer.
        at_test: "sample" or "mean".
        **kwargs: of the layer.

    Raises:
        ValueError: `at_test` is neither.
    """

    def __init__(self, *args, at_test="sample", **kwargs):
        if at_test not in MODES:
            raise ValueError(f"at_test must be one of {MODES}, got {at_test!r}")
        super().__init__(*args, **kwargs)
        self.at_test = at_test

    def call(self, inputs, training=None):
        if not tf.is_tensor(training):
            return self.train(inputs) if training else self._predict(inputs)
        return tf.cond(
            training,
            lambda: tf.convert_to_tensor(self.train(inputs)),
            lambda: tf.convert_to_tensor(self._predict(inputs)),
        )

    @tf.autograph.experimental.do_not_convert
    def _predict(self, inputs):
        is_set = is_tracing() or held(self, self.kernel_key) is not None
        if self.at_test == "sample" or is_set:
            return self.predict(inputs)
        with hold(self, mean_weights(self)):
            return self.predict(inputs)

    def get_config(self):
        return {**super().get_config(), "at_test": self.at_test}

"""Layers whose output is a random variable: the noise of data, or a stochastic code."""

import tensorflow as tf

from bayes_rl import constraints, distributions
from bayes_rl.initializers.trainable import unconstrained
from bayes_rl.layers.precision import parameter_dtype
from bayes_rl.serialization import configured, register


@configured
class StochasticOutput(tf.keras.layers.Layer):
    """What output layers share: an optional linear projection to their parameters.

    The random variable has the name of the layer, so `tape` records it and `condition`
    sets it. A subclass gives `parameters_per_unit` and `random_variable(parameters)`.

    Source: Tran et al., 2019, Bayesian Layers, section 2.3.

    Args:
        units: size of the last axis after a trainable linear projection of the inputs;
            None for no projection.
        kernel_initializer: of the projection.
        bias_initializer: of the projection.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: `units` is below 1.
    """

    parameters_per_unit = 1

    def __init__(
        self,
        units=None,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        **kwargs,
    ):
        if units is not None and units < 1:
            raise ValueError(f"units must be at least 1 or None, got {units}")
        super().__init__(**kwargs)
        self.units = units
        self.kernel_initializer = tf.keras.initializers.get(kernel_initializer)
        self.bias_initializer = tf.keras.initializers.get(bias_initializer)
        self.projection = None
        if units is not None:
            self._project_to(units * self.parameters_per_unit)

    def _project_to(self, size):
        self.projection = tf.keras.layers.Dense(
            size,
            kernel_initializer=self.kernel_initializer,
            bias_initializer=self.bias_initializer,
            dtype=self._dtype_policy,
            name="projection",
        )

    def build(self, input_shape):
        if self.projection is not None:
            with tf.name_scope("projection"):
                self.projection.build(input_shape)
        super().build(input_shape)

    def call(self, inputs):
        if self.projection is not None:
            inputs = self.projection(inputs)
        return self.random_variable(tf.cast(inputs, parameter_dtype(self)))

    def random_variable(self, parameters):
        """Random variable with `parameters` [..., units * parameters_per_unit]."""
        raise NotImplementedError

    def compute_output_shape(self, input_shape):
        shape = tf.TensorShape(input_shape)
        return shape if self.units is None else shape[:-1].concatenate(self.units)


@register
class Normal(StochasticOutput):
    """Normal output, independent for each element.

        output ~ Normal(mean, stddev)

    | units | stddev | mean | stddev of the output |
    |---|---|---|---|
    | None | None | inputs | learned, one for each size of the last axis, 1 at first |
    | None | number | inputs | the number |
    | given | None | inputs @ kernel + bias | constraint(inputs @ other kernel + bias) |
    | given | number | inputs @ kernel + bias | the number |

    The value is reparameterized: gradients flow through it to mean and stddev.

    Source: Tran et al., 2019, section 2.3 and Figure 7; Kingma and Welling, 2014,
    Auto-Encoding Variational Bayes, appendix C.2.

    Args:
        units: as in `StochasticOutput`.
        stddev: above 0, or None for a learned one.
        stddev_constraint: maps what is learned to the stddev.
        **kwargs: of `StochasticOutput`.

    Raises:
        ValueError: `stddev` is not above 0; `units` is below 1; or, when it is built,
            `stddev_constraint` gives no stddev of 1 to start with, as a function without
            `inverse` may.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> code = ed.layers.Normal(2, name="code")(tf.ones([5, 3]))
        >>> code.shape, code.log_prob(tf.zeros([5, 2])).shape
        (TensorShape([5, 2]), TensorShape([5, 2]))
    """

    def __init__(self, units=None, stddev=None, stddev_constraint="softplus", **kwargs):
        if stddev is not None and stddev <= 0:
            raise ValueError(f"stddev must be above 0 or None, got {stddev}")
        self.parameters_per_unit = 2 if stddev is None else 1
        super().__init__(units, **kwargs)
        self.stddev = stddev
        self.stddev_constraint = constraints.get(stddev_constraint)

    def build(self, input_shape):
        if self.units is None and self.stddev is None:
            self.raw_stddev = self.add_weight(
                "stddev",
                [input_shape[-1]],
                initializer=tf.keras.initializers.Constant(self._start()),
                dtype=parameter_dtype(self),
                experimental_autocast=False,
            )
        super().build(input_shape)

    def _start(self):
        with tf.init_scope():
            one = tf.ones([], parameter_dtype(self))
            return unconstrained("stddev", one, self.stddev_constraint).numpy()

    def random_variable(self, parameters):
        if self.stddev is not None:
            mean, stddev = parameters, tf.cast(self.stddev, parameters.dtype)
        elif self.units is None:
            mean, stddev = parameters, self._constrained(self.raw_stddev)
        else:
            mean, raw_stddev = tf.split(parameters, 2, axis=-1)
            stddev = self._constrained(raw_stddev)
        return distributions.Normal(mean, stddev, name=self.name)

    def _constrained(self, raw_stddev):
        raw_stddev = tf.convert_to_tensor(raw_stddev)
        return self.stddev_constraint(raw_stddev) if self.stddev_constraint else raw_stddev


@register
class Bernoulli(StochasticOutput):
    """Output of zeros and ones, independent for each element.

        P(output = 1) = sigmoid(inputs) or sigmoid(inputs @ kernel + bias)

    The value is floating, so that other layers can follow; it has no gradient.

    Source: Tran et al., 2019, section 2.3 and Figure 17.

    Args: as in `StochasticOutput`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> image = ed.layers.Bernoulli(name="image")(tf.zeros([5, 3]))
        >>> float(image.probs_parameter()[0, 0])
        0.5
    """

    def random_variable(self, parameters):
        return distributions.Bernoulli(
            logits=parameters, dtype=parameters.dtype, name=self.name
        )


@register
class Categorical(StochasticOutput):
    """Output of integers 0, ..., categories - 1, one for each position but the last axis.

        P(output = k) = softmax(inputs)_k or softmax(inputs @ kernel + bias)_k

    Source: Tran et al., 2019, section 2.3 and Figure 7.

    Args: as in `StochasticOutput`; `units` is the number of categories.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> label = ed.layers.Categorical(10)(tf.ones([5, 3]))
        >>> label.shape, label.dtype
        (TensorShape([5]), tf.int32)
    """

    def random_variable(self, parameters):
        return distributions.Categorical(logits=parameters, name=self.name)

    def compute_output_shape(self, input_shape):
        return tf.TensorShape(input_shape)[:-1]


@register
class OneHotCategorical(StochasticOutput):
    """Output of one-hot vectors along the last axis.

        P(output_k = 1) = softmax(inputs)_k or softmax(inputs @ kernel + bias)_k

    The value is floating, so that other layers can follow; it has no gradient.

    Source: Tran et al., 2019, section 2.3.

    Args: as in `StochasticOutput`; `units` is the number of categories.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> label = ed.layers.OneHotCategorical(10)(tf.ones([5, 3]))
        >>> label.shape, float(tf.reduce_sum(label[0]))
        (TensorShape([5, 10]), 1.0)
    """

    def random_variable(self, parameters):
        return distributions.OneHotCategorical(
            logits=parameters, dtype=parameters.dtype, name=self.name
        )

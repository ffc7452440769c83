"""Noise contrastive priors: what a network should say far from the data.

A perturbing layer doubles the batch by inputs near, but off, the data. The output layer
pulls the predictions for those towards a prior and returns the predictions for the data.

    inputs [B, ...] -> perturb -> [2B, ...] -> network -> [2B, ...] -> output [B, ...]

Source: Hafner et al., 2018, Noise Contrastive Priors for Functional Uncertainty.
"""

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl import checks, distributions
from bayes_rl.layers.precision import parameter_dtype
from bayes_rl.numerics.means import mean_cost
from bayes_rl.numerics.noise import as_seed
from bayes_rl.random_variables.random_variable import RandomVariable
from bayes_rl.serialization import register


@register
class NCPNormalPerturb(tf.keras.layers.Layer):
    """Appends normally perturbed inputs to the batch.

        outputs = concat([inputs, inputs + noise], axis=0)    noise ~ Normal(mean, stddev)

    Whole numbers, such as pixels, become numbers of the layer's type.

    Source: Hafner et al., 2018, equation 4.

    Args:
        mean: of the noise, a number or an array that broadcasts to the inputs.
        stddev: of the noise, not below 0; likewise.
        seed: int; with it every call adds the same noise.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: `stddev` is below 0.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> ed.layers.NCPNormalPerturb(stddev=0.1)(tf.ones([2, 3])).shape
        TensorShape([4, 3])
    """

    def __init__(self, mean=0.0, stddev=1.0, seed=None, **kwargs):
        checks.not_negative(stddev=stddev)
        super().__init__(**kwargs)
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def call(self, inputs):
        inputs = tf.convert_to_tensor(inputs)
        if not inputs.dtype.is_floating:
            inputs = tf.cast(inputs, self.compute_dtype)
        noise = tf.random.stateless_normal(tf.shape(inputs), as_seed(self.seed))
        mean, stddev = (tf.cast(x, noise.dtype) for x in (self.mean, self.stddev))
        noise = tf.cast(mean + stddev * noise, inputs.dtype)
        return tf.concat([inputs, inputs + noise], axis=0)


@register
class NCPCategoricalPerturb(tf.keras.layers.Layer):
    """Appends randomly replaced categories to the batch.

        outputs = concat([inputs, where(is_replaced, category, inputs)], axis=0)
        is_replaced ~ Bernoulli(probs)    category ~ uniform on 0, ..., input_dim - 1

    Source: Hafner et al., 2018, section 2.3, with noise for categories.

    Args:
        input_dim: number of categories, at least 1.
        probs: probability in [0, 1] that an element is replaced.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: an argument is out of its range.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> ed.layers.NCPCategoricalPerturb(10)(tf.constant([[1, 2, 3]])).shape
        TensorShape([2, 3])
    """

    def __init__(self, input_dim, probs=0.1, **kwargs):
        checks.at_least_1(input_dim=input_dim)
        if not 0 <= probs <= 1:
            raise ValueError(f"probs must be in [0, 1], got {probs}")
        super().__init__(**kwargs)
        self.input_dim, self.probs = input_dim, probs
        # Category numbers above 256 are no bfloat16 and above 2048 no float16.
        self._autocast = False

    def call(self, inputs):
        inputs = tf.convert_to_tensor(inputs)
        shape = tf.shape(inputs)
        category = tf.random.uniform(shape, maxval=self.input_dim, dtype=tf.int32)
        is_replaced = tf.random.uniform(shape) < self.probs
        replaced = tf.where(is_replaced, tf.cast(category, inputs.dtype), inputs)
        return tf.concat([inputs, replaced], axis=0)


@register
class NCPNormalOutput(tf.keras.layers.Layer):
    """Pulls the second half of a batch to a prior and returns the first half.

        losses = mean over elements of KL(Normal(mean, stddev) || second half)

    The inputs are a normal random variable; a Tensor counts as Normal(inputs, 1).

    Source: Hafner et al., 2018, equation 5.

    Args:
        mean: of the prior, a number or an array that broadcasts to the outputs.
        stddev: of the prior, above 0, likewise.
        axis: of the batch; 1 where S draws of the network's weights are held, so that the
            inputs are [S, 2B, ...].
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: the batch has an odd size, `axis` is below 0, or `stddev` is not above
            0.
        TypeError: the random variable is not normal.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.NCPNormalOutput(mean=1.0)
        >>> outputs = layer(tf.constant([[5.0], [3.0]]))
        >>> outputs.mean().numpy().tolist(), float(layer.losses[0])
        ([[5.0]], 2.0)
    """

    def __init__(self, mean=0.0, stddev=1.0, axis=0, **kwargs):
        checks.not_negative(axis=axis)
        checks.above_0(stddev=stddev)
        super().__init__(**kwargs)
        self.mean, self.stddev, self.axis = mean, stddev, axis

    def call(self, inputs):
        if not isinstance(inputs, RandomVariable):
            inputs = RandomVariable(tfd.Normal(tf.cast(inputs, parameter_dtype(self)), 1.0))
        normal = inputs.distribution
        if type(normal) is not tfd.Normal:
            raise TypeError(
                "NCPNormalOutput takes a Tensor or a normal random variable, got "
                f"{type(normal).__name__}"
            )
        half = _half(inputs, self.axis)
        before = (slice(None),) * self.axis
        data, perturbed = (*before, slice(None, half)), (*before, slice(half, None))
        dtype = normal.dtype
        prior = tfd.Normal(tf.cast(self.mean, dtype), tf.cast(self.stddev, dtype))
        self.add_loss(mean_cost(prior.kl_divergence(normal[perturbed])))
        parameters = normal[data]
        return distributions.Normal(
            parameters.loc, parameters.scale, value=inputs.value[data], name=self.name
        )

    def compute_output_shape(self, input_shape):
        shape = tf.TensorShape(input_shape).as_list()
        size = shape[self.axis]
        shape[self.axis] = None if size is None else size // 2
        return tf.TensorShape(shape)


def _half(inputs, axis):
    size = inputs.shape[axis]
    if size is None:
        return inputs.distribution.batch_shape_tensor()[axis] // 2
    if size % 2:
        raise ValueError(
            f"the batch must have as many perturbed inputs as inputs, got {size} in all"
        )
    return size // 2

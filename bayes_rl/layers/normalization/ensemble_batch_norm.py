"""Batch normalization of each member of an ensemble."""

import math

import tensorflow as tf

from bayes_rl import checks
from bayes_rl.layers.ensembles.members import examples_of
from bayes_rl.layers.products import sizes
from bayes_rl.numerics.means import mean_over_replicas
from bayes_rl.serialization import register


def ensemble_batchnorm(x, ensemble_size=1, use_tpu=True, **kwargs):
    """Applies a new batch normalization to each member of an ensemble.

    It makes layers at every call, so it is for building functional Keras models; elsewhere
    keep an `EnsembleSyncBatchNorm`.

    Source: Wen et al., 2020, BatchEnsemble: An Alternative Approach to Efficient Ensemble
    and Lifelong Learning.

    Args:
        x: [ensemble_size * examples, ...], the examples of one member after another.
        ensemble_size: number of members.
        use_tpu: whether statistics are also averaged over replicas, in one layer; else
            there is one `tf.keras.layers.BatchNormalization` a member.
        **kwargs: of these layers.

    Returns:
        Tensor of the shape of x.

    Example:
        >>> ensemble_batchnorm(tf.keras.Input([3]), ensemble_size=2, axis=-1).shape
        TensorShape([None, 3])
    """
    if ensemble_size == 1:
        return tf.keras.layers.BatchNormalization(**kwargs)(x)
    if use_tpu:
        return EnsembleSyncBatchNorm(ensemble_size=ensemble_size, **kwargs)(x)
    name = kwargs.pop("name", None)
    names = [name and f"{name}_{member}" for member in range(ensemble_size)]
    members = [
        tf.keras.layers.BatchNormalization(name=own, **kwargs)(part)
        for own, part in zip(names, tf.split(x, ensemble_size), strict=True)
    ]
    return tf.concat(members, axis=0)


@register
class EnsembleSyncBatchNorm(tf.keras.layers.Layer):
    """Batch normalization of each member of an ensemble, over all replicas.

        y = gamma[k] * (x - mean[k]) / sqrt(variance[k] + epsilon) + beta[k]

    for the examples of member k. In training mean and variance are those of the member's
    batch over all replicas, and moving averages follow them; else they are the averages.
    An empty batch leaves these as they are.

    Source: Ioffe and Szegedy, 2015, Batch Normalization, algorithm 1; Wen et al., 2020,
    BatchEnsemble.

    Args:
        axis: of the channels, the last one; 3 is that of images [batch, height, width,
            channels].
        ensemble_size: number of members; inputs are [ensemble_size * examples, ...], the
            examples of one member after another.
        momentum: of the moving averages, 0 to 1.
        epsilon: added to the variance.
        trainable: whether gamma and beta are trained; if not, it always uses the averages.
        name: of the layer.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: `ensemble_size` is below 1, or `momentum` is not in its range; `axis` is
            not the last one of the inputs; they have another rank than those it was built
            for, as under S held draws; or their number is no multiple of `ensemble_size`
            (`tf.errors.InvalidArgumentError` where it is only known when the graph runs).

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.EnsembleSyncBatchNorm(axis=-1, ensemble_size=2, epsilon=0.0)
        >>> layer(tf.constant([[0.0], [2.0], [0.0], [8.0]]), training=True).numpy().ravel()
        array([-1.,  1., -1.,  1.], dtype=float32)
    """

    def __init__(
        self,
        axis=3,
        ensemble_size=1,
        momentum=0.99,
        epsilon=0.001,
        trainable=True,
        name=None,
        **kwargs,
    ):
        checks.at_least_1(ensemble_size=ensemble_size)
        if not 0 <= momentum <= 1:
            raise ValueError(f"momentum must be 0 to 1, got {momentum}")
        super().__init__(name=name, trainable=trainable, **kwargs)
        self.axis = axis
        self.ensemble_size = ensemble_size
        self.momentum = momentum
        self.epsilon = epsilon

    def build(self, input_shape):
        shape = tf.TensorShape(input_shape)
        if self.axis not in (-1, shape.rank - 1):
            raise ValueError(
                f"axis must be the last one, {shape.rank - 1} or -1 for inputs of rank "
                f"{shape.rank}, got {self.axis}"
            )
        self._rank = shape.rank
        size = [self.ensemble_size, shape[-1]]
        # Statistics and their updates need more digits than float16 has.
        options = {"shape": size, "experimental_autocast": False}
        self.gamma = self.add_weight("gamma", initializer="ones", **options)
        self.beta = self.add_weight("beta", initializer="zeros", **options)
        options |= {"trainable": False, "aggregation": tf.VariableAggregation.MEAN}
        self.moving_mean = self.add_weight("moving_mean", initializer="zeros", **options)
        self.moving_variance = self.add_weight(
            "moving_variance", initializer="ones", **options
        )
        super().build(input_shape)

    def call(self, inputs, training=None):
        if training is None:
            training = tf.keras.backend.learning_phase()
        self._check_rank(inputs.shape)
        shape = sizes(inputs)
        each = math.prod(shape[1:-1], start=examples_of(self, shape[0]))
        members = tf.reshape(
            tf.cast(inputs, self.gamma.dtype), [self.ensemble_size, each, shape[-1]]
        )
        mean, variance = self._statistics(members, training)
        scale = self.gamma * tf.math.rsqrt(variance + self.epsilon)
        outputs = members * scale[:, None] + (self.beta - mean * scale)[:, None]
        return tf.cast(tf.reshape(outputs, shape), inputs.dtype)

    def _check_rank(self, shape):
        if shape.rank != self._rank:
            raise ValueError(
                f"layer {self.name!r} was built for inputs of rank {self._rank}, got "
                f"{shape}; it takes no axis of draws: call ed.predict(model, inputs, "
                "draws), or hold one draw after the other"
            )

    def _statistics(self, members, training):
        averages = [
            tf.convert_to_tensor(x) for x in (self.moving_mean, self.moving_variance)
        ]
        if not self.trainable or (isinstance(training, (bool, int)) and not training):
            return averages
        count = mean_over_replicas(tf.cast(tf.shape(members)[1], members.dtype))

        def mean_of(values):
            total = mean_over_replicas(tf.reduce_sum(values, axis=1))
            return tf.math.divide_no_nan(total, count)

        mean = mean_of(members)
        variance = mean_of(tf.math.squared_difference(members, mean[:, None]))
        is_training = tf.cast(training, tf.bool)
        rate = tf.cast(1.0 - self.momentum, mean.dtype)
        rate = tf.where(is_training & (count > 0), rate, 0.0)
        self.moving_mean.assign_add(rate * (mean - averages[0]))
        self.moving_variance.assign_add(rate * (variance - averages[1]))
        return [
            tf.where(is_training, batch, average)
            for batch, average in zip((mean, variance), averages, strict=True)
        ]

    def compute_output_shape(self, input_shape):
        return tf.TensorShape(input_shape)

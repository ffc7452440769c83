"""Costs of a posterior over weights, in nats."""

import numpy as np
import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl.normal import normal_parameters
from bayes_rl.serialization import deserialize, make_get, register, serialize

__all__ = ["NormalKLDivergence", "deserialize", "get", "serialize"]


@register
class NormalKLDivergence(tf.keras.regularizers.Regularizer):
    """KL divergence from a posterior over weights to a normal prior.

        KL = sum(log(stddev / s) + (s^2 + (m - mean)^2) / (2 stddev^2) - 1/2)

    for a posterior Normal(m, s), in closed form. Other posteriors: TFP's closed form where
    it has one, else log posterior - log prior at one draw, whose mean is the KL. A weight
    without a posterior costs -sum(log prior), so that its minimum is the posterior mode.

    Source: Kingma and Welling, 2014, Auto-Encoding Variational Bayes, appendix B.

    Args:
        mean: mean of the prior; a scalar or of a shape that broadcasts to the weight's.
        stddev: standard deviation of the prior, above 0; likewise.
        scale_factor: multiplies the result, for example 1 / number of training examples.

    Raises:
        ValueError: `stddev` is not above 0.

    Example:
        >>> from tensorflow_probability import distributions as tfd
        >>> posterior = tfd.Independent(tfd.Normal([1.0, 0.0], 1.0), 1)
        >>> float(NormalKLDivergence()(posterior))
        0.5
    """

    def __init__(self, mean=0.0, stddev=1.0, scale_factor=1.0):
        if np.any(np.asarray(stddev) <= 0):
            raise ValueError(f"stddev of the prior must be above 0, got {stddev}")
        self.mean = mean
        self.stddev = stddev
        self.scale_factor = scale_factor

    def __call__(self, x):
        """KL of a weight, [] in nats times `scale_factor`.

        Args:
            x: random variable or distribution of the weight, or its Tensor.

        Returns:
            [], in the type of the posterior's parameters.
        """
        distribution = getattr(x, "distribution", x)
        if not isinstance(distribution, tfd.Distribution):
            x = tf.convert_to_tensor(x)
            cost = -tf.reduce_sum(tfd.Normal(*self._prior(x.shape, x.dtype)).log_prob(x))
        elif (parameters := normal_parameters(distribution)) is not None:
            cost = self._closed_form(*parameters, distribution)
        else:
            cost = self._from_tfp(distribution)
        return cost * tf.cast(self.scale_factor, cost.dtype)

    def _prior(self, shape, dtype):
        mean, stddev = (np.asarray(x, np.float64) for x in (self.mean, self.stddev))
        for name, parameter in (("mean", mean), ("stddev", stddev)):
            try:
                np.broadcast_to(parameter, shape)
            except ValueError:
                raise ValueError(
                    f"{name} of the prior has shape {parameter.shape}, which does not "
                    f"broadcast to the weight's {tuple(shape)}"
                ) from None
        return tf.cast(mean, dtype), tf.cast(stddev, dtype)

    def _closed_form(self, mean, stddev, distribution):
        shape = distribution.batch_shape + distribution.event_shape
        prior_mean, prior_stddev = self._prior(shape, mean.dtype)
        ratio = tf.square(stddev / prior_stddev)
        distance = tf.square((mean - prior_mean) / prior_stddev)
        return 0.5 * tf.reduce_sum(distance + (ratio - 1.0 - tf.math.log(ratio)))

    def _from_tfp(self, distribution):
        shape = distribution.batch_shape + distribution.event_shape
        mean, stddev = self._prior(shape, distribution.dtype)
        prior = tfd.Normal(tf.broadcast_to(mean, shape), stddev)
        prior = tfd.Independent(prior, distribution.event_shape.rank)
        try:
            return tf.reduce_sum(tfd.kl_divergence(distribution, prior))
        except NotImplementedError:
            draw = distribution.sample()
            return tf.reduce_sum(distribution.log_prob(draw) - prior.log_prob(draw))

    def get_config(self):
        return {
            "mean": _plain(self.mean),
            "stddev": _plain(self.stddev),
            "scale_factor": _plain(self.scale_factor),
        }


def _plain(value):
    return np.asarray(value).tolist()


get = make_get({"normal_kl_divergence": NormalKLDivergence}, tf.keras.regularizers)

"""Normal posteriors Normal(mean, softplus(parameter) + epsilon), fast.

Draws and KL are those of `families` and `regularizers`. Here they and their gradients come
straight from the parameters, in as few passes over memory as there can be.
"""

import numpy as np
import tensorflow as tf

from bayes_rl.constraints import Softplus
from bayes_rl.initializers.normal import TrainableNormal
from bayes_rl.numerics.fused import fused, is_fused
from bayes_rl.numerics.noise import as_seed, quantized_normal
from bayes_rl.regularizers.normal import NormalKLDivergence


def parameters_of(initializer):
    """(mean [*shape], parameter [*shape], epsilon) of a posterior of this kind, or None."""
    if not _is_normal(type(initializer)):
        return None
    constraint = initializer.stddev_constraint
    if type(constraint) is not Softplus or initializer.mean_constraint is not None:
        return None
    mean, parameter = map(tf.convert_to_tensor, (initializer.mean, initializer.stddev))
    if mean.shape != parameter.shape:
        return None
    return mean, parameter, float(constraint.epsilon)


def _is_normal(kind):
    """Whether a class of initializers has the distribution of `TrainableNormal`."""
    methods = ("_distribution", "parameters", "_parameter", "__call__")
    return issubclass(kind, TrainableNormal) and all(
        getattr(kind, name) is getattr(TrainableNormal, name) for name in methods
    )


def perturbation(parameter, epsilon, mean=None):
    """What a draw adds to the mean, stddev * noise; with a mean, their sum."""
    if not is_fused(parameter):
        noise = tf.random.normal(parameter.shape, dtype=parameter.dtype)
        change = (tf.nn.softplus(parameter) + epsilon) * noise
        return change if mean is None else mean + change
    seed = as_seed(None)

    @tf.custom_gradient
    def draw(parameter, *means):
        result, slope = _draw_and_slope(parameter, seed, *means, epsilon=epsilon)
        return result, lambda upstream: (upstream * slope, *[upstream for _ in means])

    return draw(parameter) if mean is None else draw(parameter, mean)


@fused
def _draw_and_slope(parameter, seed, mean=0.0, *, epsilon):
    """Mean plus noise times stddev, and the slope of that in the parameter."""
    noise = quantized_normal(parameter.shape, seed, parameter.dtype)
    softplus, slope = _softplus_and_slope(parameter)
    return mean + (softplus + epsilon) * noise, slope * noise


def _softplus_and_slope(x):
    """Both from one exponential: softplus(x) = x above 30, to the last digit."""
    bounded = tf.minimum(x, 30.0)
    exponential = tf.exp(bounded)
    softplus = tf.math.log1p(exponential) + (x - bounded)
    return softplus, exponential / (1.0 + exponential)


def divergence(parameter, epsilon, mean, prior_mean, prior_stddev):
    """KL divergence to a normal prior, [] in nats, with gradients of parameter and mean.

        s = softplus(parameter) + epsilon
        KL = sum(log(prior_stddev / s) + (s^2 + (mean - prior_mean)^2)
                 / (2 prior_stddev^2) - 1/2)

    Source: Kingma and Welling, 2014, Auto-Encoding Variational Bayes, appendix B.
    """
    constants = {
        "epsilon": epsilon,
        "prior_mean": prior_mean,
        "prior_stddev": prior_stddev,
    }
    if tf.executing_eagerly():  # A custom gradient takes as long there as the KL itself.
        return _divergence(parameter, mean, **constants)

    @tf.custom_gradient
    def kl(parameter, mean):
        value, *slopes = _divergence_and_slopes(parameter, mean, **constants)
        return value, lambda upstream: [upstream * slope for slope in slopes]

    return kl(parameter, mean)


@fused
def _divergence(parameter, mean, epsilon, prior_mean, prior_stddev):
    ratio = (tf.nn.softplus(parameter) + epsilon) / prior_stddev
    distance = tf.square((mean - prior_mean) / prior_stddev)
    return 0.5 * tf.reduce_sum(
        distance + (tf.square(ratio) - 1.0 - 2.0 * tf.math.log(ratio))
    )


def _slopes(parameter, mean, epsilon, prior_mean, prior_stddev):
    """Derivatives of the divergence in parameter and mean."""
    stddev = tf.nn.softplus(parameter) + epsilon
    of_stddev = stddev / prior_stddev**2 - 1.0 / stddev
    return of_stddev * tf.sigmoid(parameter), (mean - prior_mean) / prior_stddev**2


@fused
def _divergence_and_slopes(*tensors, **constants):
    """Compiled together, they share the exponential, which takes most of the time."""
    return _divergence(*tensors, **constants), *_slopes(*tensors, **constants)


def prior_of(regularizer):
    """Mean and stddev of a normal prior that is the same for all elements, or None."""
    if type(regularizer) is not NormalKLDivergence:
        return None
    values = regularizer.mean, regularizer.stddev
    is_number = all(isinstance(x, (int, float, np.number)) for x in values)
    return tuple(map(float, values)) if is_number else None

"""KLDivergence: what every cost of a posterior shares."""

import contextlib
import numbers

import numpy as np
import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl import checks
from bayes_rl.initializers.seeding import seed_of
from bayes_rl.regularizers.divergence import kl_divergence, minus_log_prior
from bayes_rl.serialization import configured


class ScaleFactor(tf.__internal__.tracking.AutoTrackable):
    """Holds a variable where a Keras layer does not take it for a weight of its own."""

    def __init__(self, value=None):
        self.value = value

    def __call__(self, dtype):
        if self.value is None:
            return 1.0
        value = self.value() if callable(self.value) else self.value
        is_kept = not tf.executing_eagerly() and callable(self.value)
        if is_kept and isinstance(value, (int, float, np.number)):
            raise ValueError(
                f"scale_factor must read a tf.Variable, got a function that returns "
                f"{value}, which a tf.function would keep for ever; or use ed.scale_kl"
            )
        return float(value) if isinstance(value, (int, float)) else tf.cast(value, dtype)


class PassingScaleFactor(ScaleFactor):
    """One that SavedModels hold, which compute with it, but checkpoints do not."""

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        is_checkpoint = save_type == "checkpoint"
        return {} if is_checkpoint else super()._trackable_children(save_type, **kwargs)


@configured
class KLDivergence(
    tf.keras.regularizers.Regularizer, tf.__internal__.tracking.AutoTrackable
):
    """KL divergence of a posterior over a weight, times `scale_factor`.

    A subclass makes its prior in `make_prior`. It is trackable, because a scale factor that
    is a variable has to be found by SavedModel.

    Args:
        scale_factor: multiplies the result, for example 1 / number of training examples. A
            `tf.Variable`, or a function without arguments that reads one, is read at every
            call, so that it can be annealed. Configurations keep a variable's value and a
            function's registered name.
        num_samples: number of draws where the KL has no closed form.
        seed: int; makes these draws the same at every call.

    Raises:
        ValueError: `num_samples` is below 1, or `scale_factor` is a negative number or of
            another kind.

    Example:
        >>> class LaplaceKLDivergence(KLDivergence):
        ...     def make_prior(self, shape, dtype):
        ...         return tfd.Laplace(tf.zeros(shape, dtype), 1.0)
        >>> posterior = tfd.Independent(tfd.Laplace([1.0], 1.0), 1)
        >>> round(float(LaplaceKLDivergence()(posterior)), 4)  # exp(-1)
        0.3679
    """

    def __init__(self, scale_factor=1.0, num_samples=1, seed=None):
        checks.at_least_1(num_samples=num_samples)
        _check_scale_factor(scale_factor)
        self._scale_factor = ScaleFactor(scale_factor)
        self.num_samples = num_samples
        self.seed = seed

    @property
    def scale_factor(self):
        """What the KL is multiplied by: a number, variable or function."""
        return self._scale_factor.value

    @property
    def is_whole(self):
        """Whether the KL is not scaled."""
        return isinstance(self.scale_factor, (int, float)) and self.scale_factor == 1

    def make_prior(self, shape, dtype):
        """TFP distribution of each element of a weight.

        Args:
            shape: of the weight, to which the distribution's batch_shape broadcasts.
            dtype: of the weight.
        """
        raise NotImplementedError

    def __call__(self, x):
        """Cost of a weight.

        Args:
            x: random variable or distribution of the weight, or its Tensor.

        Returns:
            [] in nats times `scale_factor`, in the type of the posterior's parameters.

        Raises:
            ValueError: the prior does not fit the weight.
        """
        with naming(getattr(x, "name", None)):
            cost = self._cost(x)
        return self.scaled(cost)

    def scaled(self, cost):
        """A cost times the scale factor of this moment."""
        return cost * self._scale_factor(cost.dtype)

    def _cost(self, x):
        is_posterior = isinstance(x, tfd.Distribution)
        posterior = x if is_posterior else getattr(x, "distribution", None)
        if posterior is None:
            return self._of_point(tf.convert_to_tensor(x))
        return self._of_posterior(posterior, x.name)

    def _of_point(self, point):
        return minus_log_prior(point, self.make_prior(point.shape, point.dtype))

    def _of_posterior(self, posterior, name):
        prior = self.make_prior(shape_of(posterior), posterior.dtype)
        return self._divergence(posterior, prior, name)

    def _divergence(self, posterior, prior, name):
        return kl_divergence(posterior, prior, self.num_samples, self._seed(name))

    def _seed(self, name):
        return None if self.seed is None else [0, seed_of(self.seed, name)]


def _check_scale_factor(value):
    if callable(value) or tf.is_tensor(value) or isinstance(value, tf.Variable):
        return
    if not isinstance(value, numbers.Real) or value < 0:
        raise ValueError(
            "scale_factor must be a number that is not negative, a tf.Variable or a "
            f"function that reads one, got {value!r}"
        )


class LocationScaleKLDivergence(KLDivergence):
    """KL divergence to a prior with two parameters, which may depend on the shape.

    A parameter is a number, an array that broadcasts to the weight, a `tf.Variable`, a
    Keras initializer that is not random, such as `ScaledNormalStdDev` with a constant
    distribution, or a function of the shape. A variable is read at every call; no layer
    counts it among its weights, so `fit` does not train it. Priors that are trained have
    classes of their own, such as `TrainableNormalKLDivergenceStdDev`.
    """

    prior_class = None
    parameter_names = ("loc", "scale")

    def __init__(self, location, scale, scale_factor=1.0, num_samples=1, seed=None):
        super().__init__(scale_factor, num_samples, seed)
        self._check_scale(scale)
        for name, value in zip(self.parameter_names, (location, scale), strict=True):
            setattr(self, name, value)

    def _check_scale(self, scale):
        is_number = not (callable(scale) or isinstance(scale, (dict, tf.Variable)))
        if is_number and np.any(np.asarray(scale) <= 0):
            name = self.parameter_names[1]
            raise ValueError(f"{name} of the prior must be above 0, got {scale}")

    def prior_parameters(self, shape, dtype):
        """Location and scale of the prior, which broadcast to the shape of a weight."""
        return [
            prior_parameter(getattr(self, name), name, shape, dtype)
            for name in self.parameter_names
        ]

    def make_prior(self, shape, dtype):
        return self.prior_class(*self.prior_parameters(shape, dtype))


@contextlib.contextmanager
def naming(weight):
    """Lets errors begin with the name of a weight, where it has one."""
    try:
        yield
    except ValueError as error:
        if not isinstance(weight, str):
            raise
        raise ValueError(f"weight {weight!r}: {error}") from None


def shape_of(distribution):
    """Shape of one draw of a distribution."""
    return distribution.batch_shape + distribution.event_shape


def prior_parameter(value, name, shape, dtype):
    """Value of a prior's parameter, which must broadcast to the shape of a weight."""
    if isinstance(value, (int, float)):
        return tf.constant(value, dtype)
    if isinstance(value, tf.keras.initializers.Initializer):
        value = value(shape, dtype=dtype)
    elif callable(value) and not isinstance(value, tf.Variable):
        value = value(shape)
    if not tf.is_tensor(value):
        value = np.asarray(value, np.float64)
    if value.shape not in ((), shape):
        _check_broadcasts(value.shape, name, shape)
    return tf.cast(value, dtype)


def _check_broadcasts(found, name, shape):
    try:
        shape = tf.TensorShape(shape)
        fits = tf.broadcast_static_shape(tf.TensorShape(found), shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"{name} of the prior has shape {tuple(found)}, which does not broadcast to "
            f"the weight's {tuple(shape)}"
        )

"""Independent Gaussians: what IVON has learned."""

import numpy as np
import tensorflow as tf

from bayes_rl.inference.posterior import (
    Posterior,
    kind_of_posterior,
    standard_normals,
    values_of,
    with_prefix,
)
from bayes_rl.optimizers.training import optimizers_of
from bayes_rl.weights import trainable_variables


@kind_of_posterior("gaussian")
class Gaussian(Posterior):
    """Weights that are independent; made by `bayes_rl.inference.posterior`.

        weights ~ Normal(mean, stddev^2)

    Attributes:
        mean: dict of full name -> array.
        stddev: dict of full name -> array.
        prior_stddev: of each weight's prior, whose mean is 0.
    """

    def __init__(self, model, mean, stddev, prior_stddev):
        super().__init__(model, mean)
        self.stddev = {name: np.asarray(x) for name, x in stddev.items()}
        self.prior_stddev = prior_stddev

    def log_prob(self, weights):
        """Log density.

        Args:
            weights: as `sample` gives them.

        Returns:
            [*sample_shape], nats.
        """
        total = 0.0
        for name, mean in self.mean.items():
            stddev = self.stddev[name].astype(np.float64)
            distance = (np.asarray(weights[name], np.float64) - mean) / stddev
            each = -0.5 * np.square(distance) - np.log(stddev) - 0.5 * np.log(2.0 * np.pi)
            axes = tuple(range(each.ndim - mean.ndim, each.ndim))
            total = total + np.sum(each, axis=axes)
        return total

    def kl_divergence(self):
        """KL divergence from the prior, Normal(0, prior_stddev^2), in nats."""
        total = 0.0
        for name, mean in self.mean.items():
            ratio = np.square(self.stddev[name].astype(np.float64) / self.prior_stddev)
            square = np.square(mean.astype(np.float64) / self.prior_stddev)
            total += 0.5 * float(np.sum(ratio + square - 1.0 - np.log(ratio)))
        return total

    def _draws(self, count, seed):
        shapes = {name: value.shape for name, value in self.mean.items()}
        noise = standard_normals(shapes, count, seed)
        return {
            name: mean + self.stddev[name] * tf.cast(noise[name], mean.dtype)
            for name, mean in self.mean.items()
        }

    def _state(self):
        arrays = {f"mean/{name}": x for name, x in self.mean.items()}
        arrays |= {f"stddev/{name}": x for name, x in self.stddev.items()}
        return {"prior_stddev": self.prior_stddev}, arrays

    @classmethod
    def _from_state(cls, model, settings, arrays):
        mean, stddev = (with_prefix(start, arrays) for start in ("mean/", "stddev/"))
        return cls(model, mean, stddev, settings["prior_stddev"])


def posterior(model):
    """The posterior that a model's optimizer has learned.

    Args:
        model: Keras model, compiled with `bayes_rl.optimizers.IVON` and trained.

    Returns:
        A `Gaussian` of now: later training does not change it.

    Raises:
        ValueError: the optimizer is another one, or has not been used yet.

    Example:
        >>> import bayes_rl as ed
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[2])])
        >>> optimizer = ed.optimizers.IVON(
        ...     0.1, effective_sample_size=4, hessian_init=0.99, weight_decay=0.01)
        >>> model.compile(optimizer, "mse")
        >>> optimizer.build(model.trainable_variables)
        >>> [x.ravel().tolist() for x in ed.inference.posterior(model).stddev.values()]
        [[0.5, 0.5], [0.5]]
    """
    found = [x for x in optimizers_of(model) if hasattr(x, "draw")]
    if not found:
        kinds = [type(x).__name__ for x in optimizers_of(model)]
        raise ValueError(
            "ed.inference.posterior takes a model compiled with ed.optimizers.IVON, got "
            f"{kinds[0] if kinds else 'no optimizer'}; ed.inference.laplace and swag take "
            "any"
        )
    variables = trainable_variables(model)
    if not getattr(found[0], "_built", False):
        raise ValueError("the model was not trained yet: call fit first")
    stddev = {name: np.asarray(found[0].stddev(x)) for name, x in variables.items()}
    prior = (found[0].effective_sample_size * found[0].weight_decay) ** -0.5
    return Gaussian(model, values_of(variables), stddev, prior)

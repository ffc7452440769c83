"""PoissonProcess: counts of events over a grid, or where the events are."""

import tensorflow as tf

from bayes_rl import checks, distributions
from bayes_rl.layers import products
from bayes_rl.layers.precision import parameter_dtype
from bayes_rl.serialization import register


@register
class PoissonProcess(tf.keras.layers.Layer):
    """Poisson process with a rate that is a function of the inputs.

        counts[cell] ~ Poisson(rate(cell) volume)

    With a Gaussian process under the rate it is a Cox process: the rate is one draw over
    all the cells of a call. Outputs are random variables of the shape of the rate.

    Source: Tran et al., 2019, Bayesian Layers: A Module for Neural Network Uncertainty,
    figure 9; Moller et al., 1998, Log Gaussian Cox Processes, section 2.

    Args:
        rate: expected events per unit of volume: a Keras layer or function from inputs
            [cells, features] to [cells, units], or a number above 0.
        volume: of a cell, above 0.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: a number is not above 0.

    Example:
        >>> import bayes_rl as ed
        >>> rate = tf.keras.Sequential([
        ...     ed.layers.GaussianProcess(1), tf.keras.layers.Activation("softplus")])
        >>> counts = ed.layers.PoissonProcess(rate=rate, volume=0.1)(tf.ones([5, 2]))
        >>> counts.shape, counts.log_prob(tf.zeros([5, 1])).shape
        (TensorShape([5, 1]), TensorShape([5, 1]))
    """

    def __init__(self, rate, volume=1.0, **kwargs):
        if not callable(rate) and rate <= 0:
            raise ValueError(f"rate must be a function or above 0, got {rate}")
        checks.above_0(volume=volume)
        super().__init__(**kwargs)
        self.rate = rate
        self.volume = volume

    def _rates(self, inputs):
        dtype = parameter_dtype(self)
        if callable(self.rate):
            return tf.cast(self.rate(inputs), dtype)
        return tf.fill([*products.sizes(inputs)[:-1], 1], tf.cast(self.rate, dtype))

    def call(self, inputs):
        """Counts in the cells of a grid.

        Args:
            inputs: centers of the cells [cells, features].

        Returns:
            Poisson random variable [cells, units].
        """
        return distributions.Poisson(self._rates(inputs) * self.volume, name=self.name)

    def log_likelihood(self, events, grid):
        """Log density of events, with the integral of the rate taken over a grid.

            sum over events of log rate - volume * sum over the grid of rate

        Args:
            events: where the events are [events, features].
            grid: centers of the cells [cells, features].

        Returns:
            [units], for one draw of the rate.
        """
        rates = self._rates(tf.concat([tf.cast(events, grid.dtype), grid], axis=0))
        at_events, over_grid = tf.split(rates, [tf.shape(events)[0], -1])
        expected = self.volume * tf.reduce_sum(over_grid, axis=0)
        return tf.reduce_sum(tf.math.log(at_events), axis=0) - expected

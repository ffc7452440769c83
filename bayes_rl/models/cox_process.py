"""Cox process: events at a random rate, itself a deep Gaussian process."""

import tensorflow as tf

from bayes_rl import layers


def build_cox_process(units=1, hidden_units=64, volume=1.0):
    """Makes a point process whose rate has a deep Gaussian process as its prior.

        counts[cell] ~ Poisson(volume softplus(f_2(f_1(cell)))),  f_1, f_2 ~ GaussianProcess

    Source: Tran et al., 2019, Bayesian Layers, Figure 9 (`model`); Moller et al., 1998,
    Log Gaussian Cox Processes.

    Args:
        units: number of rates.
        hidden_units: number of functions of the first Gaussian process.
        volume: of a cell.

    Returns:
        A `PoissonProcess` from centers of cells [cells, features] to counts [cells, units].

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> model = ed.models.build_cox_process(hidden_units=4)
        >>> model(tf.random.normal([6, 2])).shape
        TensorShape([6, 1])
    """
    rate = tf.keras.Sequential(
        [
            layers.GaussianProcess(hidden_units),
            layers.GaussianProcess(units),
            tf.keras.layers.Activation("softplus"),
        ]
    )
    return layers.PoissonProcess(rate=rate, volume=volume)


def build_cox_process_posterior(units=1, hidden_units=64, num_inducing=512):
    """Makes the approximate posterior of the rate of `build_cox_process`.

        rate(cell) = softplus(f_2(f_1(cell))),  f_1, f_2 ~ SparseGaussianProcess

    `losses` holds its KL from the prior.

    Source: Tran et al., 2019, Bayesian Layers, Figure 9 (`posterior`).

    Args:
        units: number of rates.
        hidden_units: number of functions of the first Gaussian process.
        num_inducing: number of inducing inputs of each Gaussian process.

    Returns:
        A Keras model from centers of cells [cells, features] to rates [cells, units].

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> rate = ed.models.build_cox_process_posterior(hidden_units=4, num_inducing=8)
        >>> rate(tf.ones([6, 2])).shape, len(rate.losses)
        (TensorShape([6, 1]), 2)
    """
    return tf.keras.Sequential(
        [
            layers.SparseGaussianProcess(units=hidden_units, num_inducing=num_inducing),
            layers.SparseGaussianProcess(units=units, num_inducing=num_inducing),
            tf.keras.layers.Activation("softplus"),
        ]
    )

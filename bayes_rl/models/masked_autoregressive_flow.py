"""Masked autoregressive flow: a density by invertible changes of variables."""

import tensorflow as tf

from bayes_rl import layers


def build_masked_autoregressive_flow(hidden_dims=(512, 512), num_flows=3, activation=None):
    """Makes a chain of `RealNVP` flows, each parameterized by a `MADE` network.

    Every other network takes its inputs from right to left. Given a random variable, the
    chain returns one with the same distribution up to a change of volume.

    Source: Tran et al., 2019, Bayesian Layers, Figure 8; Papamakarios et al., 2017, Masked
    Autoregressive Flow for Density Estimation, section 3.1.

    Args:
        hidden_dims: numbers of hidden units of each network.
        num_flows: number of flows.
        activation: of hidden units; None leaves them linear.

    Returns:
        A Keras model from a random variable [B, size] to a random variable [B, size].

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> model = ed.models.build_masked_autoregressive_flow([8], num_flows=2)
        >>> outputs = model(ed.Normal(tf.zeros([5, 3]), 1.0))
        >>> outputs.log_prob(tf.ones([5, 3])).shape
        TensorShape([5])
    """
    orders = ["left-to-right", "right-to-left"]
    return tf.keras.Sequential(
        [
            layers.RealNVP(
                layers.MADE(
                    hidden_dims=hidden_dims, order=orders[flow % 2], activation=activation
                )
            )
            for flow in range(num_flows)
        ]
    )

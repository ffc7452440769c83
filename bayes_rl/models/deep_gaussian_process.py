"""Deep Gaussian process: Gaussian processes of Gaussian processes."""

import tensorflow as tf

from bayes_rl import layers


def build_deep_gaussian_process(units=(256, 256, 10), num_inducing=512):
    """Makes a chain of sparse Gaussian process layers.

        f = f_L(... f_1(inputs)),  f_l ~ SparseGaussianProcess

    The outputs are a random variable: given a draw of the layers before it, the last one's
    function. `losses` holds the KL of each layer's inducing outputs.

    Source: Tran et al., 2019, Bayesian Layers, Figure 5; Salimbeni and Deisenroth, 2017,
    Doubly Stochastic Variational Inference for Deep Gaussian Processes, section 3.

    Args:
        units: number of functions of each layer.
        num_inducing: number of inducing inputs of each layer.

    Returns:
        A Keras model from inputs [B, ...] to a random variable [B, units[-1]].

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> model = ed.models.build_deep_gaussian_process([4, 2], num_inducing=8)
        >>> model(tf.ones([5, 3, 3])).mean().shape, len(model.losses)
        (TensorShape([5, 2]), 2)
    """
    return tf.keras.Sequential(
        [
            tf.keras.layers.Flatten(),  # no spatial knowledge
            *(
                layers.SparseGaussianProcess(units=size, num_inducing=num_inducing)
                for size in units
            ),
        ]
    )

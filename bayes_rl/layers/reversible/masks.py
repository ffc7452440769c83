"""Masks of autoregressive networks."""

import numpy as np
import tensorflow as tf

_ORDERS = ("left-to-right", "right-to-left", "random")


def create_degrees(
    input_dim,
    hidden_dims,
    input_order="left-to-right",
    hidden_order="left-to-right",
    seed=None,
):
    """Gives each unit of a network a degree: how many inputs it may depend on.

    An input of degree k is the k-th of its order. A hidden unit of degree k depends on
    inputs of degrees up to k only, an output on inputs of degrees below its own.

    Source: Germain et al., 2015, MADE: Masked Autoencoder for Distribution Estimation,
    section 4.

    Args:
        input_dim: number of inputs.
        hidden_dims: list of numbers of hidden units, one a layer.
        input_order: "left-to-right", "right-to-left", "random", or the degrees themselves,
            a permutation of 1 to input_dim.
        hidden_order: "left-to-right" for equal numbers of each degree, or "random".
        seed: int, of random orders; None for another order at every call.

    Returns:
        List of integer arrays: degrees of the inputs, then of each hidden layer.

    Raises:
        ValueError: an order is unknown, or no permutation.

    Example:
        >>> [degrees.tolist() for degrees in create_degrees(3, [4], "right-to-left")]
        [[3, 2, 1], [1, 2, 1, 2]]
    """
    generator = np.random.default_rng(seed)
    degrees = [_input_degrees(input_dim, input_order, generator)]
    if hidden_order not in ("left-to-right", "random"):
        raise ValueError(
            f"hidden_order must be 'left-to-right' or 'random', got {hidden_order!r}"
        )
    least, most = min(1, input_dim - 1), max(1, input_dim - 1)
    for units in hidden_dims:
        if hidden_order == "random":
            least = min(degrees[-1].min(), input_dim - 1)
            degrees.append(generator.integers(least, max(input_dim, least + 1), units))
        else:
            degrees.append(np.arange(units) % most + least)
    return degrees


def _input_degrees(input_dim, order, generator):
    degrees = np.arange(1, input_dim + 1)
    if isinstance(order, str):
        if order not in _ORDERS:
            raise ValueError(
                f"input_order must be one of {', '.join(_ORDERS)} or an array of degrees, "
                f"got {order!r}"
            )
        if order == "random":
            return generator.permutation(degrees)
        return degrees if order == "left-to-right" else degrees[::-1]
    order = np.asarray(order)
    if not np.array_equal(np.sort(order), degrees):
        raise ValueError(
            f"input_order must hold each of 1 to {input_dim} once, got {order.tolist()}"
        )
    return order


def create_masks(
    input_dim,
    hidden_dims,
    input_order="left-to-right",
    hidden_order="left-to-right",
    seed=None,
):
    """Masks that make a network of dense layers autoregressive.

    Source: Germain et al., 2015, MADE: Masked Autoencoder for Distribution Estimation,
    equations 12 and 13.

    Args: as in `create_degrees`.

    Returns:
        List of float32 tensors [units of one layer, units of the next] of 0 and 1, from
        the inputs through the hidden layers to the outputs, which are as many as inputs.

    Example:
        >>> [mask.numpy().tolist() for mask in create_masks(2, [])]
        [[[0.0, 1.0], [0.0, 0.0]]]
    """
    degrees = create_degrees(input_dim, hidden_dims, input_order, hidden_order, seed)
    masks = [
        before[:, None] <= after
        for before, after in zip(degrees[:-1], degrees[1:], strict=True)
    ]
    masks.append(degrees[-1][:, None] < degrees[0])
    return [tf.constant(mask, tf.float32) for mask in masks]


def make_masked_initializer(mask):
    """Makes an initializer that is Glorot normal where the mask is 1 and 0 elsewhere.

    Args:
        mask: [*shape] of the weight, 0 or 1.

    Returns:
        A function of shape and dtype.

    Example:
        >>> float(abs(make_masked_initializer(tf.zeros([2, 3]))([2, 3]).numpy()).max())
        0.0
    """
    initializer = tf.keras.initializers.GlorotNormal()

    def masked_initializer(shape, dtype=None, partition_info=None):
        del partition_info  # TensorFlow 1 gives one
        weight = initializer(shape, dtype or tf.keras.backend.floatx())
        return weight * tf.cast(mask, weight.dtype)

    return masked_initializer


def make_masked_constraint(mask):
    """Makes a Keras constraint that sets a weight to 0 where the mask is 0.

    Keras optimizers alone apply constraints; `MADE` does not rely on them.

    Args:
        mask: [*shape] of the weight, 0 or 1.

    Returns:
        A function of the weight.

    Example:
        >>> make_masked_constraint(tf.constant([0.0, 1.0]))(tf.ones([2])).numpy().tolist()
        [0.0, 1.0]
    """

    def masked_constraint(weight):
        return weight * tf.cast(mask, weight.dtype)

    return masked_constraint

"""Initial values of the weights of a mixture of experts."""

import math

import tensorflow as tf

from bayes_rl.initializers.seeding import fresh, seed_of


def get_condconv_initializer(initializer, num_experts, expert_shape):
    """Initializer of experts whose weights are the rows of one matrix.

    Each expert is drawn as a weight of `expert_shape`, so that fans are its own, and no two
    are alike.

    Source: Yang et al., 2019, CondConv: Conditionally Parameterized Convolutions for
    Efficient Inference.

    Args:
        initializer: Keras initializer.
        num_experts: number of rows.
        expert_shape: shape of one expert's weight.

    Returns:
        Function `(shape, dtype=None)` to [num_experts, size of expert_shape].

    Raises:
        ValueError: the function is asked for another shape.

    Example:
        >>> import tensorflow as tf
        >>> ones = tf.keras.initializers.Ones()
        >>> get_condconv_initializer(ones, 3, [2, 2])([3, 4]).shape
        TensorShape([3, 4])
    """
    expected = [num_experts, math.prod(expert_shape)]

    def initialize(shape, dtype=None, **kwargs):
        del kwargs
        if list(shape) != expected:
            raise ValueError(
                f"weights of {num_experts} experts of shape {list(expert_shape)} have "
                f"shape {expected}, got {list(shape)}"
            )
        rows = [
            _of_expert(initializer, expert)(expert_shape, dtype=dtype)
            for expert in range(num_experts)
        ]
        return tf.reshape(tf.stack(rows), expected)

    return initialize


def _of_expert(initializer, expert):
    copy = fresh(initializer)
    if getattr(copy, "seed", None) is None:
        return copy
    config = copy.get_config()
    return type(copy).from_config({**config, "seed": seed_of(copy.seed, expert)})

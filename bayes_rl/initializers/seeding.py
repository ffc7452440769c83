"""Initial values that differ between weights and, with a seed, are reproducible."""

import zlib


def fresh(initializer, seed=None, scope=""):
    """A copy of an initializer: Keras' own return the same values at each call.

    Args:
        initializer: Keras initializer, or any callable, which is returned as it is.
        seed: int; a copy without a seed of its own then takes one of `scope`.
        scope: what the values are for, such as "dense/kernel/mean".

    Returns:
        The copy.

    Example:
        >>> import tensorflow as tf
        >>> shared = tf.keras.initializers.RandomNormal()
        >>> first, second = (fresh(shared, 1, scope)([3]) for scope in ("a", "b"))
        >>> bool(tf.reduce_any(first == second))
        False
    """
    if not hasattr(initializer, "get_config"):
        return initializer
    config = initializer.get_config()
    if seed is not None and config.get("seed", 0) is None:
        config["seed"] = seed_of(seed, scope)
    return type(initializer).from_config(config)


def seed_of(seed, scope):
    """An int that depends on nothing but `seed` and the name `scope`."""
    return zlib.crc32(f"{seed}/{scope}".encode()) & 0x7FFFFFFF

"""Initial values that differ between weights and, with a seed, are reproducible."""

import zlib


def fresh(initializer, seed=None, scope=""):
    """A copy of an initializer: Keras' own return the same values at each call.

    With a seed, a copy that has none of its own takes one of `scope`, what the values are
    for, such as "dense/kernel/mean". What is no initializer of Keras is returned as it is.
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

"""Configurations of the kernels of `tfp.math.psd_kernels`, sums and products included."""

import functools
import operator

import tensorflow_probability as tfp

from bayes_rl.layers.processes import parameters

Kernel = tfp.math.psd_kernels.PositiveSemidefiniteKernel
_COMBINED = {"_SumKernel": operator.add, "_ProductKernel": operator.mul}


def to_config(kernel):
    """Plain description of a kernel, with the values of its variables.

    Args:
        kernel: of `tfp.math.psd_kernels`.

    Returns:
        A dict.

    Raises:
        TypeError: a parameter, such as a function, has no plain description.

    Example:
        >>> kernel = tfp.math.psd_kernels.ExponentiatedQuadratic(2.0)
        >>> float(from_config(to_config(kernel)).amplitude)
        2.0
    """
    name = type(kernel).__name__
    described = {
        key: _describe(value, name)
        for key, value in kernel.parameters.items()
        if value is not None
    }
    return {"kernel": name, "parameters": described}


def _describe(value, owner):
    if isinstance(value, Kernel):
        return to_config(value)
    if isinstance(value, (list, tuple)):
        return [_describe(item, owner) for item in value]
    return parameters.to_config(value, owner)


def from_config(config):
    """Kernel from what `to_config` returned.

    Args:
        config: see `to_config`.

    Returns:
        A kernel of `tfp.math.psd_kernels` with variables of its own.
    """
    made = {key: _make(value) for key, value in config["parameters"].items()}
    if config["kernel"] in _COMBINED:
        return functools.reduce(_COMBINED[config["kernel"]], made["kernels"])
    return getattr(tfp.math.psd_kernels, config["kernel"])(**made)


def _make(config):
    if isinstance(config, list):
        return [_make(item) for item in config]
    if isinstance(config, dict) and "kernel" in config:
        return from_config(config)
    return parameters.from_config(config)

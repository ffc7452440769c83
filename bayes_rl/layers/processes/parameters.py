"""Parameters given as numbers, variables or kernels of TFP, and their configuration.

A number or array is a constant, a `tf.Variable` is trained as it is, and a
`tfp.util.TransformedVariable` is trained before its bijector, which keeps it positive.
"""

import functools
import operator

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

from bayes_rl import checks

Kernel = tfp.math.psd_kernels.PositiveSemidefiniteKernel
_COMBINED = {"_SumKernel": operator.add, "_ProductKernel": operator.mul}
_PLAIN = (type(None), bool, int, float, str)


def dtype_of(kernel):
    """Type that a kernel of TFP computes in: that of its parameters, at any depth, or None.

    What a kernel says itself leaves out parameters of those that scale its inputs.

    Raises:
        ValueError: parameters have different types.
    """
    found = sorted({dtype.name for dtype in _dtypes_of(kernel)})
    if len(found) > 1:
        raise ValueError(
            f"parameters of the kernel {kernel.name!r} must have one type, got "
            f"{' and '.join(found)}"
        )
    return tf.as_dtype(found[0]) if found else None


def _dtypes_of(kernel):
    if kernel.dtype is not None:
        yield tf.as_dtype(kernel.dtype)
    for value in tf.nest.flatten([x for key, x in vars(kernel).items() if key[0] == "_"]):
        if isinstance(value, Kernel):
            yield from _dtypes_of(value)
        elif is_variable(value) or tf.is_tensor(value):
            dtype = tf.as_dtype(value.dtype)
            if dtype.is_floating:
                yield dtype


def positive(value, dtype, name):
    """Trainable positive parameter that starts at a value, which must be above 0."""
    if not np.all(np.greater(value, 0.0)):
        raise ValueError(f"{name} must be above 0 to be trained, got {value}")
    start = tf.cast(value, dtype)
    return tfp.util.TransformedVariable(start, tfp.bijectors.Softplus(), name=name)


def is_variable(parameter):
    """Whether a parameter is a variable, transformed or not."""
    return isinstance(parameter, (tf.Variable, tfp.util.TransformedVariable))


def check(name, parameter, can_be_zero=True):
    """Refuses numbers and arrays below 0, or 0; values of variables are not looked at."""
    if not is_variable(parameter):
        check_number = checks.not_negative if can_be_zero else checks.above_0
        check_number(**{name: parameter})


def value_of(parameter, dtype):
    """Present value of a number, array or variable; numbers in full precision."""
    if is_variable(parameter):
        parameter = tf.convert_to_tensor(parameter)
    return tf.cast(parameter if tf.is_tensor(parameter) else np.asarray(parameter), dtype)


def to_config(value, owner):
    """Plain description of a parameter, from which `from_config` makes an equal one.

    It may be a plain value, array, tensor, variable, kernel of TFP, or a list of such; a
    TypeError names its owner where it is of another kind, such as a function.
    """
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, (list, tuple)):
        return [to_config(item, owner) for item in value]
    if isinstance(value, Kernel):
        name, given = type(value).__name__, value.parameters.items()
        described = {k: to_config(x, name) for k, x in given if x is not None}
        return {"kernel": name, "parameters": described}
    if isinstance(value, tfp.util.TransformedVariable):
        variable = to_config(value.pretransformed_input, owner)
        return {**variable, "bijector": _bijector_config(value.bijector, owner)}
    if isinstance(value, tf.Variable):
        return {
            "variable": _plain(value),
            "dtype": value.dtype.name,
            "trainable": value.trainable,
            "name": value.name.rpartition(":")[0].rpartition("/")[2],
        }
    if isinstance(value, (np.ndarray, np.generic)) or tf.is_tensor(value):
        return {"constant": _plain(value), "dtype": tf.as_dtype(value.dtype).name}
    raise TypeError(
        f"{owner} cannot be saved, because it has the parameter {value!r}; give numbers, "
        "arrays, variables, or a covariance function of your own that is registered with "
        "Keras"
    )


def _plain(value):
    return tf.convert_to_tensor(value).numpy().tolist()


def _bijector_config(bijector, owner):
    settings = {
        name: value for name, value in bijector.parameters.items() if value is not None
    }
    if not all(isinstance(value, _PLAIN) for value in settings.values()):
        raise TypeError(f"{owner} cannot be saved with {bijector!r} and its parameters")
    return {"class": type(bijector).__name__, "settings": settings}


def from_config(config):
    """Parameter, with variables of its own, of what `to_config` gave; or what is given."""
    if isinstance(config, list):
        return [from_config(item) for item in config]
    if not isinstance(config, dict):
        return config
    if "kernel" in config:
        given = {key: from_config(value) for key, value in config["parameters"].items()}
        if config["kernel"] in _COMBINED:
            return functools.reduce(_COMBINED[config["kernel"]], given["kernels"])
        return getattr(tfp.math.psd_kernels, config["kernel"])(**given)
    if "constant" in config:
        return np.asarray(config["constant"], config["dtype"])
    variable = tf.Variable(
        config["variable"],
        trainable=config["trainable"],
        dtype=config["dtype"],
        name=config["name"],
    )
    if "bijector" not in config:
        return variable
    bijector = getattr(tfp.bijectors, config["bijector"]["class"])
    bijector = bijector(**config["bijector"]["settings"])
    return tfp.util.TransformedVariable(
        bijector.forward(variable), bijector, name=config["name"]
    )

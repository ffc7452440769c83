"""Normal(...), Bernoulli(...): one RandomVariable constructor per TFP distribution."""

import functools
import inspect

from tensorflow_probability import distributions as tfd

from bayes_rl.random_variable import RandomVariable
from bayes_rl.tracing import traceable


def make_random_variable(distribution_class):
    """Makes the constructor of random variables of one distribution.

    Args:
        distribution_class: subclass of `tfp.distributions.Distribution`.

    Returns:
        A function of the class's arguments and of `sample_shape`, `value` and `name`;
        tracers see it.

    Example:
        >>> from tensorflow_probability import distributions as tfd
        >>> Normal = make_random_variable(tfd.Normal)
        >>> Normal(0.0, 1.0, sample_shape=[3]).shape
        TensorShape([3])
    """

    @traceable
    @functools.wraps(distribution_class, updated=())
    def constructor(*args, **kwargs):
        options = {
            key: kwargs.pop(key) for key in ("sample_shape", "value") if key in kwargs
        }
        distribution = distribution_class(*args, **kwargs)
        return RandomVariable(distribution, name=kwargs.get("name"), **options)

    return constructor


def _distribution_classes():
    for name in sorted(dir(tfd)):
        found = getattr(tfd, name)
        if inspect.isclass(found) and issubclass(found, tfd.Distribution):
            yield name, found


__all__ = ["make_random_variable"]
for _name, _class in _distribution_classes():
    if _class is not tfd.Distribution:
        globals()[_name] = make_random_variable(_class)
        __all__ += [_name]

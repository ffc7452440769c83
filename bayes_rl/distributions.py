"""Normal(...), Bernoulli(...): one RandomVariable constructor per TFP distribution."""

import functools
import inspect

from tensorflow_probability import distributions as tfd

from bayes_rl.random_variables.random_variable import RandomVariable
from bayes_rl.random_variables.tracing import traceable


def make_random_variable(distribution_class):
    """Makes the constructor of random variables of one distribution.

    Args:
        distribution_class: subclass of `tfp.distributions.Distribution`.

    Returns:
        A function of the class's arguments and of `sample_shape`, `value` and `name`;
        tracers see it. That of `tfp.distributions.Sample` is the class's: of its event.

    Example:
        >>> Normal = make_random_variable(tfd.Normal)
        >>> Normal(0.0, 1.0, sample_shape=[3]).shape
        TensorShape([3])
    """
    has_own_shape = issubclass(distribution_class, tfd.Sample)

    @traceable
    @functools.wraps(distribution_class, updated=())
    def constructor(*args, value=None, **kwargs):
        sample_shape = () if has_own_shape else kwargs.pop("sample_shape", ())
        distribution = distribution_class(*args, **kwargs)
        return RandomVariable(distribution, sample_shape, value, kwargs.get("name"))

    return constructor


__all__ = ["make_random_variable"]
for _name, _found in inspect.getmembers(tfd, inspect.isclass):
    if issubclass(_found, tfd.Distribution) and _found is not tfd.Distribution:
        globals()[_name] = make_random_variable(_found)
        __all__ += [_name]

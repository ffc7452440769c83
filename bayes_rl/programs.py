"""make_log_joint_fn: the log joint density of a program with named random variables."""

import collections
import inspect

import tensorflow as tf

from bayes_rl import checks
from bayes_rl.layers.base import make_weight
from bayes_rl.random_variables.tracing import Owners, trace
from bayes_rl.random_variables.transformed import TransformedRandomVariable
from bayes_rl.weights.naming import named_weights


def make_log_joint_fn(model):
    """Makes the log joint density of a program, a function of its variables' values.

        log_joint(values) = sum over random variables of log p(value | values before it)

    A Keras layer's weights are such variables, named `<layer>/<weight>`, in a Keras model
    as in `sample_weights`; each counts once, however often its layer is called. Their
    density is that of their initializer, so a model with a prior over weights has the prior
    there, for example
    `kernel_initializer=ed.initializers.TrainableNormalFixedStddev(1.0, "zeros")`, and no
    regularizer. With `layer(random_variable)` of a reversible layer nothing is added,
    because its output follows from its input.

    Source: Tran et al., 2018, Simple, Distributed, and Accelerated Probabilistic
    Programming, figure 6.

    Args:
        model: callable that makes random variables, all of them named. It may be a Keras
            model; it may not be a `tf.function`, which is traced only once.

    Returns:
        A function `log_joint(*args, **kwargs)` of the model's arguments and, by keyword, of
        the variables' values, to the log joint density, [] in nats, summed over all
        elements. A value that the program or `condition` already sets need not be given.
        For a batch of values use `tf.vectorized_map`. It raises LookupError where a value
        is missing or belongs to no variable, KeyError where a variable has no name, and
        ValueError where two have the same.

    Raises:
        TypeError: the model is a `tf.function`.

    Example:
        >>> import bayes_rl as ed
        >>> def model():
        ...     mean = ed.Normal(0.0, 1.0, name="mean")
        ...     return ed.Normal(mean, 1.0, name="x")
        >>> log_joint = make_log_joint_fn(model)
        >>> expected = 2 * ed.Normal(0.0, 1.0).log_prob(1.0)
        >>> bool(abs(log_joint(mean=1.0, x=2.0) - expected) < 1e-6)
        True
    """
    if isinstance(model, tf.types.experimental.GenericFunction):
        raise TypeError(
            "the model is a tf.function, whose random variables are made only while it is "
            "traced; pass the Python function, and make the log joint a tf.function"
        )
    parameters = _named_parameters(model)

    def log_joint(*args, **kwargs):
        log_probs, owners, variables = collections.OrderedDict(), Owners(), {}
        names = _names(model)

        def add_log_prob(constructor, *inputs, **options):
            owner = options.get("owner")
            name = names.get(id(owner), options.get("name"))
            if name is None:
                raise KeyError(
                    f"a random variable made by {constructor.__name__} has no name, so its "
                    "value cannot be given; pass name="
                )
            owners.check(name, owner)
            if constructor is TransformedRandomVariable:
                _check_base(name, options.get("rv", *inputs[:1]), variables)
            if name in kwargs:
                options["value"] = kwargs[name]
            variable = constructor(*inputs, **options)
            if not variable.is_given:
                raise LookupError(
                    f"the log joint needs a value of random variable {name!r}; pass it by "
                    "keyword"
                )
            variables[name] = variable
            if name in log_probs and constructor is not make_weight:
                raise ValueError(
                    f"two random variables of the program are named {name!r}; give each a "
                    "name of its own"
                )
            if name not in log_probs:
                log_prob = variable.distribution.log_prob(variable.value)
                log_probs[name] = tf.reduce_sum(log_prob)
            return variable

        with trace(add_log_prob):
            model(*args, **{k: v for k, v in kwargs.items() if k in parameters})
        _check_all_used(kwargs, parameters, log_probs)
        return sum(log_probs.values())

    return log_joint


def _names(model):
    """The name of each weight of a Keras model, by the identity of its initializer."""
    if not isinstance(model, tf.Module) or not getattr(model, "built", True):
        return {}
    named = named_weights(model).items()
    return {id(weight.initializer): path for path, (_, weight) in named}


def _named_parameters(function):
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = inspect.signature(function).parameters.values()
    return {p.name for p in parameters if p.kind in named}


def _check_base(name, base, variables):
    for other, variable in variables.items():
        if variable is base:
            raise ValueError(
                f"random variable {name!r} is a transform of {other!r}, so both would "
                "count; write layer(x), which adds no random variable"
            )


def _check_all_used(kwargs, parameters, log_probs):
    for name in kwargs:
        if name not in parameters and name not in log_probs:
            hint = checks.did_you_mean(name, log_probs)
            raise LookupError(f"the program has no random variable {name!r}{hint}")

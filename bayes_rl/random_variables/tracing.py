"""See or set the draws of a program, by name.

A tracer is a function `tracer(constructor, *args, **kwargs)` that runs in place of every
traceable constructor called inside `with trace(tracer)`. Tracers nest: a tracer that
calls its constructor hands over to the tracer around it. Threads, tasks and generators that
yield have their own.

Source: Tran et al., 2018, Simple, Distributed, and Accelerated Probabilistic Programming.
"""

import collections
import contextlib
import functools
import typing

from bayes_rl.scopes import Scopes

_scopes = Scopes("tracers")


class _Active:
    """One `with trace(tracer)`."""

    def __init__(self, tracer):
        self.tracer = tracer


class _Aside(typing.NamedTuple):
    active: _Active


def _innermost():
    """The innermost tracer that is not set aside, or None."""
    aside = []
    for entered in _scopes.innermost_first():
        if isinstance(entered, _Aside):
            aside.append(entered.active)
        elif not any(entered is other for other in aside):
            return entered
    return None


def _construct(constructor, *args, **kwargs):
    return constructor(*args, **kwargs)


def is_tracing():
    """Whether any tracer is active in this thread."""
    return _innermost() is not None


@contextlib.contextmanager
def trace(tracer):
    """Lets `tracer` run in place of every traceable constructor in its context.

    Args:
        tracer: function `tracer(constructor, *args, **kwargs)`; what it returns is what
            the constructor's caller gets.

    Yields:
        None.

    Example:
        >>> import bayes_rl as ed
        >>> def at_zero(constructor, *args, **kwargs):
        ...     return constructor(*args, **{**kwargs, "value": 0.0})
        >>> with ed.trace(at_zero):
        ...     x = ed.Normal(5.0, 1.0)
        >>> float(x)
        0.0
    """
    with _scopes.entered(_Active(tracer)):
        yield


@contextlib.contextmanager
def get_next_tracer():
    """Yields the innermost tracer, which is set aside while the context lasts.

    Yields:
        The tracer; where there is none, one that only calls the constructor.

    Example:
        >>> import bayes_rl as ed
        >>> with ed.tape() as draws, get_next_tracer() as record:
        ...     x = record(ed.Normal, 0.0, 1.0, name="x")
        >>> draws["x"] is x
        True
    """
    innermost = _innermost()
    if innermost is None:
        yield _construct
        return
    with _scopes.entered(_Aside(innermost)):
        yield innermost.tracer


def traceable(func):
    """Makes a function visible to tracers.

    Args:
        func: function that returns a random variable.

    Returns:
        A function of the same arguments.

    Example:
        >>> import bayes_rl as ed
        >>> @traceable
        ... def coin(name):
        ...     return ed.RandomVariable(ed.Bernoulli(0.5).distribution, name=name)
        >>> with ed.tape() as draws:
        ...     x = coin(name="x")
        >>> draws["x"] is x
        True
    """

    @functools.wraps(func)
    def traced(*args, **kwargs):
        if not is_tracing():
            return func(*args, **kwargs)
        with get_next_tracer() as tracer:
            # The tracer may call `traced` again, which then meets the next one outside.
            return tracer(traced, *args, **kwargs)

    return traced


class Owners(dict):
    """Whose random variable a name is, in a program: of a layer, or of the program."""

    def check(self, name, owner):
        """Raises a ValueError where a name belongs to another owner; None is no owner."""
        if owner is not None and self.setdefault(name, owner) is not owner:
            raise ValueError(
                f"two layers of the program have a weight named {name!r}; give each layer "
                "a name of its own"
            )


@contextlib.contextmanager
def tape():
    """Records the named random variables that a program makes.

    Yields:
        An ordered dict, name -> random variable, in the order of construction.

    Example:
        >>> import bayes_rl as ed
        >>> with ed.tape() as draws:
        ...     x = ed.Normal(0.0, 1.0, name="x")
        >>> draws["x"] is x
        True
    """
    draws, owners = collections.OrderedDict(), Owners()

    def record(constructor, *args, **kwargs):
        owners.check(kwargs.get("name"), kwargs.get("owner"))
        variable = constructor(*args, **kwargs)
        if kwargs.get("name") is not None:
            draws[kwargs["name"]] = variable
        return variable

    with trace(record):
        yield draws


@contextlib.contextmanager
def condition(**name_to_value):
    """Sets the values of the random variables with these names.

    Args:
        **name_to_value: name -> value. Names that are no Python identifiers, such as the
            weights of layers, go in as `condition(**{"dense/kernel": value})`.

    Yields:
        None.

    Example:
        >>> import bayes_rl as ed
        >>> with ed.condition(x=2.0):
        ...     x = ed.Normal(0.0, 1.0, name="x")
        >>> float(x)
        2.0
    """
    owners = Owners()

    def set_value(constructor, *args, **kwargs):
        if kwargs.get("name") in name_to_value:
            owners.check(kwargs["name"], kwargs.get("owner"))
            kwargs["value"] = name_to_value[kwargs["name"]]
        return constructor(*args, **kwargs)

    with trace(set_value):
        yield

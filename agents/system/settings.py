"""Dataclasses that check themselves: the type and the range of a key stand on its field.

The groups of a run's config are such, and the strategies, planners and noise that it
names; so a value is judged alike on the command line, in a saved run and in a notebook.
Values stand in configs/ alone: there are no defaults here.
"""

import dataclasses
import math
import numbers
import reprlib
import types
import typing

from agents.system.errors import UserError, nearest


def key(least=None, above=None, below=None, most=None, choices=None, kinds=None):
    """A required field of `Settings`, and the range of its values.

    Args:
        least: the smallest value.
        above: what values are larger than.
        below: what values are smaller than.
        most: the largest value.
        choices: the only values.
        kinds: where one of several classes stands here: dict from the `kind` that names it
            in YAML to the class.
    """
    limits = {"least": least, "above": above, "below": below, "most": most}
    limits["choices"] = choices
    return dataclasses.field(metadata={"limits": limits, "kinds": kinds})


class Settings:
    """Base of frozen dataclasses whose fields were made by `key`.

    Numbers take the type of their field: 1e6 is a whole number, 1 a float where a float is
    meant.

    Raises:
        UserError: a value is of another type or out of its range; a `ValueError`.

    Example:
        >>> @dataclasses.dataclass(frozen=True)
        ... class Wheel(Settings):
        ...     spokes: int = key(least=3)
        >>> Wheel(spokes=2)
        Traceback (most recent call last):
        agents.system.errors.UserError: spokes must be at least 3, got 2
    """

    def __post_init__(self):
        hints = typing.get_type_hints(type(self))
        for field in dataclasses.fields(self):
            value = _converted(hints[field.name], getattr(self, field.name), field.name)
            if value is not None:
                _check_limits(value, field.name, **field.metadata["limits"])
            object.__setattr__(self, field.name, value)  # as dataclasses do where frozen


_TOO_LARGE = 2**63  # for what computes with it
_WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a word"}


def _converted(hint, value, name):
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    kind = options[0]
    if kind not in _WORDS or (value is None and type(None) in options):
        return value
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if is_number and isinstance(value, int) and not -_TOO_LARGE < value < _TOO_LARGE:
        raise UserError(f"{name} must fit in 63 bits, got {reprlib.repr(value)}")
    if is_number and math.isfinite(value):
        if kind is float:
            return float(value)
        if kind is int and value == int(value):  # also 1e6
            return int(value)
    if kind is str and is_number:
        return str(value)
    if kind in (bool, str) and isinstance(value, kind) and value != "":
        return value
    shown = "nothing" if value is None or value == "" else repr(value)
    raise UserError(f"{name} must be {_WORDS[kind]}, got {shown}")


def check_settings(kind, name):
    """Refuses a class whose fields would not check themselves.

    Args:
        kind: class that stands for settings.
        name: of it, in messages.

    Raises:
        UserError: it is no dataclass, none of `Settings`, or has a field without a `key`.
    """
    bare = [
        each for each, value in vars(kind).items() if isinstance(value, dataclasses.Field)
    ]
    if bare or not dataclasses.is_dataclass(kind):
        raise UserError(
            f"{name} must be a dataclass: @dataclasses.dataclass(frozen=True) goes before "
            f"class {kind.__name__}"
        )
    if not issubclass(kind, Settings):
        raise UserError(
            f"{name} must be a subclass of agents.system.settings.Settings, which checks "
            f"its fields: class {kind.__name__}(Settings, ...)"
        )
    for field in dataclasses.fields(kind):
        if "limits" not in field.metadata:
            hint = getattr(field.type, "__name__", field.type)
            raise UserError(
                f"{field.name} of {name} must have a range from "
                f"agents.system.settings.key, such as {field.name}: {hint} = key(least=0)"
            )


def check_choice(value, name, choices):
    """Refuses a value that is none of the choices, and names the nearest.

    Example:
        >>> check_choice("icen", "planner.kind", ["cem", "icem"])
        Traceback (most recent call last):
        agents.system.errors.UserError: planner.kind must be cem or icem, got 'icen'; did you mean 'icem'?
    """  # noqa: E501
    if value not in list(choices):  # a value of YAML may be a list, in no dict
        words = [str(choice) for choice in choices]
        listed = " or ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)
        raise UserError(f"{name} must be {listed}, got {value!r}{nearest(value, words)}")


def _check_limits(value, name, least, above, below, most, choices):
    if choices is not None:
        check_choice(value, name, choices)
    if least is not None and value < least:
        raise UserError(f"{name} must be at least {least}, got {value}")
    if above is not None and value <= above:
        raise UserError(f"{name} must be above {above}, got {value}")
    if most is not None and value > most:
        raise UserError(f"{name} must be at most {most}, got {value}")
    if below is not None and value >= below:
        raise UserError(f"{name} must be below {below}, got {value}")

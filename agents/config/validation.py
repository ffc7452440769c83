"""Checking nested plain values against dataclasses, with one line for every mistake."""

import dataclasses
import math
import types
import typing

from agents.errors import UserError, matches, nearest


def key(least=None, above=None, below=None, most=None, choices=None):
    """A required field of a schema, and the range of its values."""
    limits = {"least": least, "above": above, "below": below, "most": most}
    limits["choices"] = choices
    return dataclasses.field(metadata=limits)


def validate(schema, values, targets, prefix=""):
    """Makes a schema from nested plain values.

    Args:
        schema: dataclass whose fields were made by `key`; a field may be a dataclass too.
        values: dict of every field, nested ones as dicts.
        targets: dict from each value of a `_target_` field to the dataclass of its keys.
        prefix: of the keys in messages, such as `planner.`.

    Raises:
        UserError: a key is unknown, missing, of another type or out of its range.
    """
    fields = {field.name: field for field in dataclasses.fields(schema)}
    hints = typing.get_type_hints(schema)
    for name in values:
        check_key(f"{prefix}{name}", [prefix + each for each in fields])
    for name in fields:
        if name not in values:
            raise UserError(f"{prefix}{name} is missing")
    return schema(
        **{
            name: _value(hints[name], values[name], targets, prefix + name, field.metadata)
            for name, field in fields.items()
        }
    )


def check_key(name, known):
    """Refuses a key that does not exist, and names the nearest that does.

    Args:
        name: dotted key.
        known: all dotted keys, groups among them.
    """
    if name in known:
        return
    meant = _meant(name, known)
    hint = f"did you mean {meant[0]!r}?" if meant else "bayes-rl train --help has them all"
    raise UserError(f"there is no key {name!r}; {hint}")


def _meant(name, known):
    """What a wrong key may mean, best first; sharing a section with a key tells nothing."""
    section, _, last = name.rpartition(".")
    same = [each for each in known if each.rpartition(".")[2] == last]
    if same:
        return matches(name, same, least=0)
    inside = [each for each in known if each.rpartition(".")[0] == section]
    if section and inside:
        lasts = matches(last, [each.removeprefix(f"{section}.") for each in inside])
        return [f"{section}.{each}" for each in lasts]
    return matches(name, known)


def _value(hint, value, targets, name, limits):
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if any(dataclasses.is_dataclass(option) for option in options):
        return _group(options, value, targets, name)
    if value is None and type(None) in options:
        return None
    kind = options[0]
    converted = _convert(kind, value, name)
    _check_limits(converted, name, **limits)
    return converted


def _group(options, value, targets, name):
    if not isinstance(value, dict):
        raise UserError(f"{name} has keys of its own ({name}.key=value), got {value!r}")
    schema = options[0]
    if "_target_" in {field.name for field in dataclasses.fields(schema)}:
        target = value.get("_target_")
        choices = [known for known, made in targets.items() if made in options]
        _check_limits(target, f"{name}._target_", choices=choices)
        schema = targets[target]
    return validate(schema, value, targets, f"{name}.")


_WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a word"}


def _convert(kind, value, name):
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and math.isfinite(value):
        if kind is float:
            return float(value)
        if kind is int and value == int(value):  # also 1e6
            return int(value)
    if kind is str and is_number:
        return str(value)
    if kind in (bool, str) and isinstance(value, kind) and value != "":
        return value
    raise UserError(f"{name} must be {_WORDS[kind]}, got {_show(value)}")


def _check_limits(value, name, least=None, above=None, below=None, most=None, choices=None):
    if choices is not None and value not in choices:
        words = [str(choice) for choice in choices]
        listed = " or ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)
        raise UserError(f"{name} must be {listed}, got {value!r}{nearest(value, words)}")
    if least is not None and value < least:
        raise UserError(f"{name} must be at least {least}, got {value}")
    if above is not None and value <= above:
        raise UserError(f"{name} must be above {above}, got {value}")
    if most is not None and value > most:
        raise UserError(f"{name} must be at most {most}, got {value}")
    if below is not None and value >= below:
        raise UserError(f"{name} must be below {below}, got {value}")


def _show(value):
    return "nothing" if value is None or value == "" else repr(value)

"""From nested plain values to settings, with one line for every mistake."""

import dataclasses
import typing

from agents.system.errors import UserError, matches
from agents.system.settings import check_choice, check_settings


def validate(schema, values, prefix=""):
    """Makes settings from nested plain values.

    The schema is a dataclass of `agents.system.settings.Settings`; a field may be one too.
    Where it may be one of several classes, its `kind` tells which. The prefix is that of
    the keys in messages, such as `planner.`. A `UserError`: a key is unknown, missing, of
    another type or out of its range.
    """
    check_settings(schema, schema.__name__)
    fields = {field.name: field for field in dataclasses.fields(schema)}
    hints = typing.get_type_hints(schema)
    for name in values:
        check_key(f"{prefix}{name}", [prefix + each for each in fields])
    for name in fields:
        if name not in values:
            raise UserError(f"{prefix}{name} is missing")
    made = {
        name: _value(hints[name], field.metadata["kinds"], values[name], prefix + name)
        for name, field in fields.items()
    }
    try:
        return schema(**made)
    except UserError as error:
        raise UserError(f"{prefix}{error}") from None


def _value(schema, kinds, value, name):
    if kinds is None and not dataclasses.is_dataclass(schema):
        return value
    if not isinstance(value, dict):
        raise UserError(
            f"{name} is a group: set its keys ({name}.key=value), got {value!r}"
        )
    if kinds is not None:
        if "kind" not in value:
            raise UserError(f"{name}.kind is missing")
        check_choice(value["kind"], f"{name}.kind", kinds)
        schema = kinds[value["kind"]]
        value = {each: value[each] for each in value if each != "kind"}
    return validate(schema, value, f"{name}.")


def check_key(name, known):
    """Refuses a dotted key that is none of the known, and names the nearest of those."""
    if name in known:
        return
    meant = _meant(name, known)
    named = " or ".join(map(repr, meant))
    hint = f"did you mean {named}?" if meant else "bayes-rl train --help has them all"
    raise UserError(f"there is no key {name!r}; {hint}")


def _meant(name, known):
    """What a wrong key may mean; sharing a section with a key tells nothing."""
    section, _, last = name.rpartition(".")
    same = [each for each in known if each.rpartition(".")[2] == last]
    if same:
        return same
    inside = [each for each in known if each.rpartition(".")[0] == section]
    if section and inside:
        lasts = matches(last, [each.removeprefix(f"{section}.") for each in inside])
        return [f"{section}.{each}" for each in lasts[:1]]
    return matches(name, known)[:1]

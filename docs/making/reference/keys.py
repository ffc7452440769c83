"""The page of every config key and choice, from the schema and the YAML files."""

import dataclasses
import inspect
import re
import typing

import yaml

from agents.runs.config import choices, overrides, schema
from agents.system.screen.text import as_markdown

_TYPES = {int: "whole number", float: "number", bool: "true or false", str: "word"}
_LIMITS = {"least": "at least", "above": "above", "most": "at most", "below": "below"}
_GROUPS = ("planner", "explore", "exploit", "value", "world_model")  # each file is a choice
_COMMENT = re.compile(r"( *)(\w+):(.*?)(?:\s+# (.*))?$")
_ABOUT = """# Config keys

Made from the schema (`agents/runs/config/schema.py`), which has types and ranges, and from
the files of `configs/`, which have the values. Any key is set on the command line:
`bayes-rl train task=walker_walk planner.horizon=8`. A group is chosen by its name:
`planner=cem`. The whole config of a run, without the run:
`bayes-rl train experiment=paper --print-config`.
"""


def page():
    """The text, in Markdown."""
    values = schema.as_dict(overrides.load([])) | {"logdir": None}
    parts = [_ABOUT, _run(values)]
    parts += [_section(name, values) for name in _own_sections()]
    parts += [_group(group) for group in _GROUPS]
    return "\n\n".join([*parts, _presets()]) + "\n"


def _own_sections():
    """The sections of the run that are no group of files."""
    hints = typing.get_type_hints(schema.Train).items()
    kinds = {name: kind for name, kind in hints if name not in _GROUPS}
    return [name for name, kind in kinds.items() if dataclasses.is_dataclass(kind)]


def _run(values):
    """The table of the keys that stand on their own."""
    fields = {field.name: field for field in dataclasses.fields(schema.Train)}
    hints = typing.get_type_hints(schema.Train)
    own = [name for name in fields if name not in (*_own_sections(), *_GROUPS)]
    said = _comments(inspect.getsource(schema.Train).splitlines())
    said |= _comments(choices.read("train"))
    rows = [
        _row(name, fields[name], hints[name], [_shown(values[name])], _unit(said, name))
        for name in own
    ]
    return "## Of a run\n\n" + _table(["default"], rows)


def _section(name, values):
    """The table of a section such as `optimizer`."""
    kind = typing.get_type_hints(schema.Train)[name]
    strategy = choices.read("explore", choices.defaults()["explore"])
    said = _comments(choices.read("train")) | _comments(strategy)
    rows = [
        _row(f"{name}.{key}", field, hint, [_shown(values[name][key])], unit)
        for key, field, hint, unit in _fields(kind, said, name)
    ]
    said_of_all = f"{said[name]}." if name in said else ""
    parts = [f"## {name}", _first_line(kind), said_of_all, _table(["default"], rows)]
    return "\n\n".join(filter(None, parts))


def _group(group):
    """The tables of a group: its choices, and their keys with the values in each."""
    names = choices.groups()[group]
    said_of = {name: choices.about(group, name) for name in names}
    said_of[choices.defaults()[group]] += " (default)"
    said = _joined({name: _comments(choices.read(group, name)) for name in names})
    found = {name: choices.values(group, name) for name in names}
    found = {name: values.get(group, values) for name, values in found.items()}
    rows = {}  # of each key that of the first class which has it
    for kind in _classes(group):
        for key, field, hint, unit in _fields(kind, said, group):
            cells = {n: _shown(v[key]) for n, v in found.items() if key in v}
            row = _row(f"{group}.{key}", field, hint, [_by_choice(cells)], unit)
            rows.setdefault(key, row)
    keys = _table(["value in each choice"], rows.values())
    return "\n\n".join([f"## {group}", _choices(group, said_of), keys])


def _joined(said_by):
    """What most files of a group say of each key, and which choices say else.

    Example:
        >>> _joined({"a": {"draws": "of weights"}, "b": {"draws": "of weights"}})
        {'draws': 'of weights'}
        >>> _joined({"a": {"beta": "of a bonus"}, "b": {"beta": "of a penalty"}})
        {'beta': 'of a bonus; b: of a penalty'}
    """
    cells = {}
    for name, said in said_by.items():
        for key, comment in said.items():
            cells.setdefault(key, {}).setdefault(comment, []).append(name)
    joined = {}
    for key, names in cells.items():
        most, *others = sorted(names, key=lambda comment: -len(names[comment]))
        parts = [f"{', '.join(names[comment])}: {comment}" for comment in others]
        joined[key] = "; ".join([most, *parts])
    return joined


def _by_choice(cells):
    """`0.3: cem, icem; 0.1: others`, or the value alone where all have the same."""
    by_value = {}
    for name, value in cells.items():
        by_value.setdefault(value, []).append(name)
    if len(by_value) == 1:
        (value,) = by_value
        return f"{value} ({', '.join(by_value[value])})" if len(cells) < 3 else value
    return "; ".join(f"{value} ({', '.join(names)})" for value, names in by_value.items())


def _presets():
    """The files of `experiment=`, as they are."""
    said_of = {n: choices.about("experiment", n) for n in choices.groups()["experiment"]}
    parts = ["## experiment", "A preset sets some of the keys above."]
    parts.append(_choices("experiment", said_of))
    for name in said_of:
        text = "\n".join(choices.read("experiment", name))
        parts.append(f"### experiment={name}\n\n```yaml\n{text}\n```")
    return "\n\n".join(parts)


def _classes(group):
    """The dataclasses that a section may be."""
    field = next(f for f in dataclasses.fields(schema.Train) if f.name == group)
    kinds = field.metadata["kinds"] or {group: field.type}
    return list(dict.fromkeys(kinds.values()))


def _fields(kind, said, section):
    """(key, field, type, unit) of each field of a dataclass."""
    hints = typing.get_type_hints(kind)
    own = _comments(inspect.getsource(kind).splitlines())
    for field in dataclasses.fields(kind):
        unit = _unit(said, field.name, section) or own.get(field.name, "")
        yield field.name, field, hints[field.name], unit or _argument(kind, field.name)


def _unit(said, name, section=None):
    return said.get(f"{section}.{name}" if section else name) or said.get(name, "")


def _argument(kind, name):
    """What the docstring of a class, or of what it comes from, says of an argument."""
    for each in kind.__mro__:
        text = inspect.cleandoc(each.__doc__ or "")
        found = re.search(rf"^    {name}: ((?:.|\n {{8}})*)", text, re.MULTILINE)
        if found:
            return " ".join(found[1].split())
    return ""


def _first_line(kind):
    text = kind.__doc__ or ""
    return "" if text.startswith(f"{kind.__name__}(") else text.strip().splitlines()[0]


def _comments(lines):
    """Maps keys, and `section.key` of nested ones, to the comment after their value.

    Example:
        >>> _comments(["seed: 0    # first", "noise:", "  stddev: 0.3  # of it"])
        {'seed': 'first', 'noise.stddev': 'of it', 'stddev': 'of it'}
    """
    said, section = {}, ""
    for line in lines:
        found = _COMMENT.match(line)
        if not found:
            continue
        indent, key, value, comment = found.groups()
        if not indent and not value.strip():
            section = key
        if comment:
            nested = {f"{section}.{key}": comment} if indent and section else {}
            said |= nested | {key: comment}
    return said


def _row(name, field, hint, values, unit):
    return [f"`{name}`", *values, _kind(hint, field), cell(unit)]


def _table(values, rows):
    return as_markdown(["key", *values, "type and range", "unit, meaning"], rows)


def _choices(group, about):
    """The choices of a group, of a dict of name -> what it is."""
    rows = [[f"`{group}={name}`", cell(text)] for name, text in about.items()]
    return as_markdown(["choice", "what it is"], rows)


def _kind(hint, field):
    """Type and range in words."""
    limits = field.metadata.get("limits", {})
    if limits.get("choices"):
        return " or ".join(f"`{each}`" for each in limits["choices"])
    options = typing.get_args(hint) or (hint,)
    words = [_TYPES.get(options[0], "")]
    for name, text in _LIMITS.items():
        if limits.get(name) is not None:
            words.append(f"{text} {limits[name]:,}")
    return ", ".join(words) + (" or null" if type(None) in options else "")


def _shown(value):
    if value is None:
        return "`null`"
    return f"`{yaml.safe_dump(value, default_flow_style=True).splitlines()[0]}`"


def cell(text):
    r"""Text of a cell of a table: what would be markup is not.

    Example:
        >>> print(cell("| a_b |"))
        \| a\_b \|
    """
    return re.sub(r"([|<>*_])", r"\\\1", text)

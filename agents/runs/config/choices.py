"""The choices of each group: the YAML files of configs/, and what is in them."""

import pathlib
import re

import yaml

import configs

FOLDER = pathlib.Path(configs.__file__).parent


def groups():
    """Maps each group to the names of its YAML files.

    Example:
        >>> groups()["planner"]
        ['cem', 'icem']
    """
    found = {}
    for file in sorted(FOLDER.glob("*/*.yaml")):
        found.setdefault(file.parent.name, []).append(file.stem)
    return found


def defaults():
    """Maps each group to the choice of a run that names none; None where there is none.

    Example:
        >>> defaults()["planner"]
        'icem'
    """
    named = values("train")["defaults"]
    return dict(pair for each in named if isinstance(each, dict) for pair in each.items())


def about(group, choice):
    """The line that opens the file of a choice; empty where none does."""
    comments = (line for line in read(group, choice) if line.startswith("# "))
    return next((line[2:] for line in comments if "@package" not in line), "")


def settings(group, choice):
    """Maps the keys that come and go with a choice to their values, as they are written.

    Empty where all choices of the group have the same keys: there is no `kind`.

    Example:
        >>> settings("explore", "thompson")
        {'redraw': 'episode', 'draws': '1'}
    """
    values = yaml.load("\n".join(read(group, choice)), yaml.BaseLoader)
    values = values.get(group, values)
    own = {key: value for key, value in values.items() if key != "kind"}
    return own if "kind" in values else {}


def values(*names):
    """The nested plain values of a YAML file, such as that of a choice.

    Example:
        >>> values("explore", "noise")["action_noise"]["stddev"]
        0.3
    """
    return yaml.safe_load("\n".join(read(*names)))


def units(group, key):
    """What the files of a group say of a key, each text once, in order.

    Where they say several things, the choices follow of which each is said.

    Example:
        >>> units("explore", "alpha")
        ['share of the draws; only those of the lowest return count']
    """
    pattern = re.compile(rf"\s*{key}:.*?# (.*)")
    said = {}
    for choice in groups()[group]:
        for found in filter(None, map(pattern.fullmatch, read(group, choice))):
            said.setdefault(found[1], []).append(choice)
    if len(said) < 2:
        return list(said)
    return [f"{text} ({', '.join(names)})" for text, names in said.items()]


def having(group, key):
    """The choices of a group that have a key which others lack.

    Example:
        >>> having("planner", "momentum")
        ['icem']
    """
    return [choice for choice in groups().get(group, []) if key in settings(group, choice)]


def read(*names):
    """The lines of a YAML file, such as `read("planner", "cem")`."""
    return FOLDER.joinpath(*names).with_suffix(".yaml").read_text().splitlines()

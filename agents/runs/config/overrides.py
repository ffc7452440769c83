"""From the words of a command line, such as `seed=1 planner.horizon=8`, to a config.

Hydra composes the YAML files. Its compose function is used instead of its decorator, for
three reasons: every mistake can be answered in one line, nothing is written before the
config is known to be right, and each run of a sweep gets a process of its own, because
TensorFlow gives no memory back to the next run of the same process.
"""

import contextlib
import dataclasses
import functools
import itertools

from agents.runs.config.choices import groups, having, settings
from agents.runs.config.schema import (
    COUNTED_IN_EPISODES,
    COUNTED_IN_REWARDS,
    RENAMED,
    flatten,
    in_rewarded_episodes,
    in_steps,
    is_count,
    make_config,
)
from agents.runs.config.validation import check_key
from agents.system.errors import UserError, nearest
from envs.tasks import ALIASES, OBSERVATIONS, check_task

_NAMED = 3  # choices in an error message


def load(words):
    """The checked config of one run.

    Args:
        words: list of `key=value` and `group=choice`, as typed.

    Returns:
        An `agents.runs.config.schema.Train`.

    Raises:
        UserError: a word is not right. One line.

    Example:
        >>> load(["seed=1", "planner.horizon=8"]).planner.horizon
        8
    """
    overrides = [_parse(word) for word in words]
    for override, word in zip(overrides, words, strict=True):
        if override.is_sweep_override():
            raise UserError(f"{word} has several values; add -m to train a run for each")
    known = groups()
    choices = [each for each in overrides if each.key_or_group in known]
    others = [each for each in overrides if each.key_or_group not in known]
    for override in choices:
        _check_choice(override)
    composed, chosen = _compose(tuple(each.input_line for each in choices))
    keys = flatten(composed)
    for override in others:
        _check_keys(override, keys, chosen)
    values = _set(composed, chosen, others)
    is_named = values["logdir"] is not None
    config = make_config(values if is_named else values | {"logdir": "logdir"})
    if not is_named:
        task = config.task.replace(":", "_").replace("/", "_")
        name = chosen["explore"] if config.data is None else "from_logs"
        logdir = f"logdir/{task}/{name}/{config.seed}"
        config = dataclasses.replace(config, logdir=logdir)
    check_environment(config)
    return config


def expand(words):
    """The runs of a sweep: every combination of the comma-separated values, in order.

    Example:
        >>> expand(["task=fake", "seed=0,1"])
        [['task=fake', 'seed=0'], ['task=fake', 'seed=1']]
    """
    return [list(run) for run in itertools.product(*map(_alternatives, words))]


def all_keys():
    """The dotted keys that there are with any choice, and the groups."""
    own = [
        f"{group}.{key}"
        for group, names in groups().items()
        for name in names
        for key in settings(group, name)
    ]
    return list(dict.fromkeys([*flatten(_compose(())[0]), *groups(), *own]))


@functools.cache
def _parser():
    from hydra.core.override_parser.overrides_parser import OverridesParser

    return OverridesParser.create()


def _parse(word):
    from hydra.errors import HydraException

    try:
        override = _parser().parse_override(word)
    except HydraException:
        raise UserError(f"cannot read {word!r}; {_right(word)}") from None
    if override.is_add() or override.is_delete() or override.package is not None:
        raise UserError(f"cannot read {word!r}; keys can only be set, as in key=value")
    return override


def _right(word):
    """How a word would be right that Hydra cannot read."""
    name, equals, value = word.partition("=")
    if not equals:
        if name in all_keys():
            return f"write {name}=VALUE, without spaces around ="
        return f"write key=value, without spaces around ={nearest(name, all_keys())}"
    if name != name.strip():
        return f"there must be no spaces around =: {name.strip()}={value.strip()}"
    return f"put quotes around the value: {name}=\"'...'\""


def _alternatives(word):
    from hydra.core.override_parser.types import Glob
    from hydra.errors import HydraException

    override = _parse(word)
    if not override.is_sweep_override():
        return [word]
    name, value = override.key_or_group, override.value()
    if isinstance(value, Glob):
        choices = value.filter(groups().get(name, []))
    else:
        try:
            choices = list(override.sweep_string_iterator())
        except (HydraException, ValueError) as error:
            raise UserError(f"cannot read {word!r}: {error}") from None
    if not choices:
        raise UserError(f"{word} matches nothing")
    return [f"{name}={choice}" for choice in choices]


def _check_choice(override):
    group, choice, known = override.key_or_group, override.value(), groups()
    if group == "experiment" and choice is None:
        return
    if choice not in known[group]:
        listed = ", ".join(known[group])
        hint = nearest(choice, known[group])
        raise UserError(f"{group} must be one of {listed}, got {choice!r}{hint}")


def _check_keys(override, keys, chosen):
    name, value = override.key_or_group, override.value()
    sections = {key.rpartition(".")[0] for key in keys} - {""}
    known = [*keys, *sections, *groups()]
    inner = flatten(value, f"{name}.") if isinstance(value, dict) else {}
    for each in (name, *inner):
        if each in RENAMED | COUNTED_IN_EPISODES | COUNTED_IN_REWARDS:
            _refuse_earlier_name(each, value if each == name else inner[each])
        if each.endswith(".kind") and each in keys:
            group = each.removesuffix(".kind")
            raise UserError(f"{each} cannot be set; write {group}=CHOICE, which sets it")
        if each not in known:
            _refuse_choice(each)
            _refuse_key_of_others(each, known, chosen)
            check_key(each, known)


def _refuse_earlier_name(name, value):
    shown = "null" if value is None else value
    if name in COUNTED_IN_EPISODES:
        today = COUNTED_IN_EPISODES[name]
        steps = in_steps(name, value, 1000) if is_count(value) else "NUMBER"
        raise UserError(
            f"{name} is counted in environment steps now: where an episode has 1,000, "
            f"write {today}={steps} for {name}={shown}"
        )
    if name in COUNTED_IN_REWARDS:
        today = COUNTED_IN_REWARDS[name]
        is_known = value is None or is_count(value)
        episodes = in_rewarded_episodes(value) if is_known else "NUMBER"
        episodes = "null" if episodes is None else episodes
        raise UserError(
            f"{name} is counted in episodes now: write {today}={episodes} for "
            f"{name}={shown}; it is how many of the last ten must come to a reward"
        )
    today = RENAMED[name]
    raise UserError(f"{name} is called {today} now: write {today}={shown}")


def _refuse_choice(name):
    """Says how a choice is written, where one was taken for a key."""
    group, _, choice = name.rpartition(".")
    if choice in groups().get(group, []):
        raise UserError(f"there is no key {name!r}; write {group}={choice}")


def _refuse_key_of_others(name, known, chosen):
    """Says which choices have a key, where the chosen one lacks it."""
    section, _, last = name.rpartition(".")
    if not section and any(key.endswith(f".{last}") for key in known):
        return
    for group in [section] if section else groups():
        others = [f"{group}={choice}" for choice in having(group, last)]
        if others:
            more = ", ..." if others[_NAMED:] else ""
            raise UserError(
                f"{group}={chosen[group]} has no key {last!r}; "
                f"{', '.join(others[:_NAMED])}{more} {'have' if others[1:] else 'has'} it"
            )


@functools.cache
def _compose(choices):
    """Nested values of the files of these words, and the choice of each group.

    It takes Hydra a tenth of a second, too long for each run of a sweep.
    """
    from hydra import compose, initialize_config_module
    from omegaconf import OmegaConf

    # An absent preset is told to Hydra by leaving it out.
    words = [word for word in choices if word != "experiment=null"]
    with _in_one_line(), initialize_config_module("configs", version_base="1.3"):
        composed = compose("train", words, return_hydra_config=True)
    values = OmegaConf.to_container(composed, resolve=False)
    chosen = values.pop("hydra")["runtime"]["choices"]
    _leave_keys_of_others(values, chosen)
    return values, chosen


def _leave_keys_of_others(values, chosen):
    """Leaves out what a preset sets of a choice where another one is chosen."""
    for group in values.keys() & chosen.keys():
        own = settings(group, chosen[group]) if chosen[group] else {}
        for key in values[group].keys() - own.keys() - {"kind"}:
            if having(group, key):
                del values[group][key]


def _set(composed, chosen, overrides):
    """The values with keys as they were typed, as Hydra sets them, and resolved."""
    from omegaconf import OmegaConf

    # for ${choices.explore} in a logdir
    choices = {name: choice for name, choice in chosen.items() if choice}
    with _in_one_line():
        values = OmegaConf.create(composed | {"choices": choices})
        for override in overrides:
            name, value = override.key_or_group, override.value()
            if name == "task":
                value = ALIASES.get(str(value), value)
            if name == "observation" and isinstance(value, list):
                value = _joined(value)
            OmegaConf.update(values, name, value, merge=True)
        values = OmegaConf.to_container(values, resolve=True)
    del values["choices"]
    return values


def _joined(parts):
    """The observation of these parts, in any order: `[position, pixels]` is one of both."""
    names = sorted(map(str, parts))
    known = (each for each in OBSERVATIONS if sorted(each.split("+")) == names)
    return next(known, "+".join(names))


@contextlib.contextmanager
def _in_one_line():
    """What Hydra says in many lines."""
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    try:
        yield
    except (HydraException, OmegaConfBaseException) as error:
        raise UserError(" ".join(str(error).split())) from None


def check_environment(config):
    """Refuses a config whose task does not offer what it asks for, by a `UserError`."""
    try:
        check_task(**config.environment, seed=config.seed)
    except ValueError as error:
        raise UserError(str(error)) from None

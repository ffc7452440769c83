"""What a config leaves open: null where the task or the machine decides.

A run saves what is used, so that no reader decides anew, and another table of tasks changes
no run that was begun.
"""

import dataclasses

from agents.planet.model.sizes import LEFT_TO_TASK, for_task
from agents.planet.value import SLOW, TemporalDifference, discount_of, pace_of
from agents.runs.config.consistency import check_lengths
from agents.runs.config.schema import as_dict, flatten, make_config

# Keys that null leaves open. Elsewhere null is a value: none, or without end.
OPEN = ("action_repeat", "compile", "value.discount", "value.centered")
OPEN += ("updates_per_step", "sequence_length", "value.updates", "value.learning_rate")
OPEN += tuple(f"world_model.{name}" for name in LEFT_TO_TASK)


@dataclasses.dataclass(frozen=True)
class Surroundings:
    """What decides: the task's environment, and the machine."""

    action_repeat: int  # environment steps of a decision
    episode_length: int | None  # decisions of a full episode; None where nobody knows
    observation_size: int  # numbers; an image beside a vector counts as 20
    action_size: int
    can_end: bool = False  # whether an episode can end before its time limit
    has_images: bool = False  # whether images are observed
    has_gpu: bool = False  # whether TensorFlow has one here


def open_keys(values):
    """The dotted keys that nested plain values leave open, a list.

    Example:
        >>> open_keys({"action_repeat": None, "compile": True, "hold_out_every": None})
        ['action_repeat']
    """
    flat = flatten(values)
    return [name for name in OPEN if name in flat and flat[name] is None]


def resolve(config, surroundings):
    """The config with every key that it leaves open set; those that are set stay.

    The model is set by `agents.planet.model.sizes.for_task`, the discount by
    `agents.planet.value.discount_of`, the pace of learning by
    `agents.planet.value.pace_of`; without a value it is the slower one. Critics are
    centered where an episode can end: elsewhere an offset of all values changes no
    decision. Vectors are compiled, except in bfloat16 on a processor, where XLA leaves
    matrix units unused: a gradient step takes it two to six times as long. Pictures are
    not: its convolutions on a processor are slower.

    Raises:
        UserError: sequences are too short for what is learned from them.

    Example:
        >>> from agents.runs.config.overrides import load
        >>> config = load(["task=cartpole_swingup"])
        >>> found = resolve(config, Surroundings(8, 125, 5, 1))
        >>> found.action_repeat, found.value.discount, found.world_model.belief_size
        (8, 0.96, 64)
    """
    model, value = config.world_model, config.value
    sizes = surroundings.observation_size, surroundings.action_size
    pace = SLOW
    if isinstance(value, TemporalDifference):
        discount = value.discount or discount_of(surroundings.episode_length)
        pace = pace_of(discount)
        value = _with_pace(value, discount, pace, surroundings.can_end)
    is_fast = config.compute_dtype == "float32" or surroundings.has_gpu
    compiles = is_fast and not surroundings.has_images
    found = dataclasses.replace(
        config,
        action_repeat=config.action_repeat or surroundings.action_repeat,
        compile=compiles if config.compile is None else config.compile,
        updates_per_step=config.updates_per_step or pace.updates_per_step,
        sequence_length=config.sequence_length or pace.sequence_length,
        value=value,
        world_model=for_task(model, *sizes),
    )
    check_lengths(found)
    return found


def _with_pace(value, discount, pace, can_end):
    return dataclasses.replace(
        value,
        discount=discount,
        centered=can_end if value.centered is None else value.centered,
        updates=value.updates or pace.updates,
        learning_rate=value.learning_rate or pace.learning_rate,
    )


def fill(config, saved):
    """The config with every key that it leaves open as the saved config of a run has it."""
    values, before = as_dict(config), flatten(as_dict(saved))
    for name in open_keys(values):
        *groups, last = name.split(".")
        place = values[groups[0]] if groups else values
        place[last] = before.get(name)
    return make_config(values)

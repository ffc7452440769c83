"""What a config leaves open: null where the task or the machine decides.

A run saves what is used, so that no reader decides anew, and another table of tasks changes
no run that was begun.
"""

import dataclasses

from agents.planet.model.sizes import SIZES, with_sizes
from agents.planet.value import TemporalDifference, discount_of, pace_of
from agents.runs.config.schema import as_dict, flatten, make_config

# Keys that null leaves open. Elsewhere null is a value: none, or without end.
OPEN = ("action_repeat", "compile", "value.discount", "value.centered")
OPEN += ("value.updates", "value.learning_rate")
OPEN += tuple(f"world_model.{size}" for size in SIZES)


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

    Sizes are set by `agents.planet.model.sizes.with_sizes`, the discount by
    `agents.planet.value.discount_of`, the pace of the critics by
    `agents.planet.value.pace_of`. Critics are centered where an episode can end:
    elsewhere an offset of all values changes no decision. Vectors are compiled, except in
    bfloat16 on a processor, where XLA leaves matrix units unused: a gradient step takes it
    two to six times as long. Pictures are not: its convolutions on a processor are slower.

    Example:
        >>> from agents.runs.config.overrides import load
        >>> config = load(["task=cartpole_swingup"])
        >>> found = resolve(config, Surroundings(8, 125, 5, 1))
        >>> found.action_repeat, found.value.discount, found.world_model.belief_size
        (8, 0.96, 64)
    """
    model, value = config.world_model, config.value
    sizes = surroundings.observation_size, surroundings.action_size
    if isinstance(value, TemporalDifference):
        value = _with_value(value, surroundings)
    is_fast = config.compute_dtype == "float32" or surroundings.has_gpu
    compiles = is_fast and not surroundings.has_images
    return dataclasses.replace(
        config,
        action_repeat=config.action_repeat or surroundings.action_repeat,
        compile=compiles if config.compile is None else config.compile,
        value=value,
        world_model=with_sizes(model, *sizes),
    )


def _with_value(value, surroundings):
    discount = value.discount or discount_of(surroundings.episode_length)
    updates, learning_rate = pace_of(discount)
    is_open = value.centered is None
    return dataclasses.replace(
        value,
        discount=discount,
        centered=surroundings.can_end if is_open else value.centered,
        updates=value.updates or updates,
        learning_rate=value.learning_rate or learning_rate,
    )


def fill(config, saved):
    """The config with every key that it leaves open as the saved config of a run has it."""
    values, before = as_dict(config), flatten(as_dict(saved))
    for name in open_keys(values):
        *groups, last = name.split(".")
        place = values[groups[0]] if groups else values
        place[last] = before.get(name)
    return make_config(values)

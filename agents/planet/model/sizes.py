"""What the settings of a world model leave to the task: its sizes, and its precision."""

import dataclasses
import math

_LEAST_UNITS, _MOST_UNITS = 64, 200  # units
_BASE, _PER_NUMBER = 32, 4
_OF_LATENT = 4  # units for each number of the stochastic state
_UNITS = ("belief_size", "hidden_size", "embedding_size", "reward_units")
LEFT_TO_TASK = (*_UNITS, "latent_size", "observation_stddev")  # keys that may be None

_STDDEV_OF_ONE, _MOST_STDDEV = 0.03, 0.15  # in units of the data's spread

# An image beside a vector counts as so many numbers, in the loss and in the sizes of
# networks, however many it has: so that it neither drowns the vector nor is drowned.
IMAGE_NUMBERS = 20


def for_task(settings, observation_size, action_size):
    """The settings of a world model with every key that is None set by the rule.

        n = numbers of the observation
        units = 32 + 4 (n + numbers of the action), 64 to 200
        latent_size = units / 4
        observation_stddev = 0.03 sqrt(n), at most 0.15

    So an observation of which the latent tells nothing costs as many nats on each task, up
    to 25 numbers: n / (2 observation_stddev^2). Few numbers can be kept precisely, and have
    to be where reward is narrow, see `results/narrow_reward`.

    Example:
        >>> from agents.runs.config.overrides import load
        >>> found = for_task(load([]).world_model, observation_size=4, action_size=6)
        >>> found.belief_size, found.latent_size, found.observation_stddev
        (72, 18, 0.06)
    """
    units = _BASE + _PER_NUMBER * (observation_size + action_size)
    units = min(max(units, _LEAST_UNITS), _MOST_UNITS)
    rule = dict.fromkeys(_UNITS, units) | {"latent_size": units // _OF_LATENT}
    stddev = _STDDEV_OF_ONE * math.sqrt(observation_size)
    rule["observation_stddev"] = min(stddev, _MOST_STDDEV)
    unset = {name: value for name, value in rule.items() if getattr(settings, name) is None}
    return dataclasses.replace(settings, **unset)

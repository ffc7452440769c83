"""The sizes of a world model that its settings leave to the task."""

import dataclasses

_LEAST_UNITS, _MOST_UNITS = 64, 200  # units
_BASE, _PER_NUMBER = 32, 4
_OF_LATENT = 4  # units for each number of the stochastic state
_UNITS = ("belief_size", "hidden_size", "embedding_size", "reward_units")
SIZES = (*_UNITS, "latent_size")  # keys that may be None

# An image beside a vector counts as so many numbers, in the loss and in the sizes of
# networks, however many it has: so that it neither drowns the vector nor is drowned.
IMAGE_NUMBERS = 20


def with_sizes(settings, observation_size, action_size):
    """The settings of a world model with every size that is None set by the rule.

        units = 32 + 4 (numbers of the observation + numbers of the action), 64 to 200
        latent_size = units / 4

    Example:
        >>> from agents.runs.config.overrides import load
        >>> found = with_sizes(load([]).world_model, observation_size=17, action_size=6)
        >>> found.belief_size, found.latent_size
        (124, 31)
    """
    units = _BASE + _PER_NUMBER * (observation_size + action_size)
    units = min(max(units, _LEAST_UNITS), _MOST_UNITS)
    rule = dict.fromkeys(_UNITS, units) | {"latent_size": units // _OF_LATENT}
    unset = {name: size for name, size in rule.items() if getattr(settings, name) is None}
    return dataclasses.replace(settings, **unset)

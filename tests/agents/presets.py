"""Settings with the values of their files in configs/, but for some."""

import dataclasses
import functools

from agents.runs.config import overrides
from agents.runs.config.resolving import Surroundings, resolve

FAKE = Surroundings(action_repeat=1, episode_length=20, observation_size=2, action_size=1)


def preset(group, choice, **changes):
    """What `group=choice` builds, such as `preset("planner", "icem", horizon=3)`."""
    return dataclasses.replace(_load(group, choice), **changes)


def used(*words, surroundings=FAKE):
    """The config of a run as it is saved: nothing is left open."""
    return resolve(overrides.load(list(words)), surroundings)


@functools.cache
def _load(group, choice):
    return getattr(overrides.load([f"{group}={choice}"]), group)

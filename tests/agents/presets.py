"""Strategies and planners with the values of their files in configs/, but for some."""

import dataclasses
import functools

from agents.runs.config import overrides


def preset(group, choice, **changes):
    """What `group=choice` builds, such as `preset("planner", "icem", horizon=3)`."""
    return dataclasses.replace(_load(group, choice), **changes)


@functools.cache
def _load(group, choice):
    return getattr(overrides.load([f"{group}={choice}"]), group)

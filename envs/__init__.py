"""DeepMind Control, gym and environments of users behind one door: `load(task, ...)`.

Nothing is imported until it is used, so that a wrong name costs no TensorFlow.
"""

import importlib.util
import os

from envs.failing import EnvironmentFailedError
from envs.tasks import can_end, check_task, rewards_are_unbounded

__all__ = [
    "EnvironmentFailedError",
    "batched",
    "called",
    "can_end",
    "check_entries",
    "check_task",
    "concatenate",
    "entries_in_words",
    "entry",
    "give",
    "lies",
    "load",
    "load_many",
    "rewards_are_unbounded",
    "spread_seeds",
    "wrapping_angles",
]

_OF_PARTS = ("called", "check_entries", "concatenate", "entries_in_words", "entry", "lies")

# TF-Agents and the layers are of Keras 2, which a later TensorFlow than 2.15 has to be told
# before it is imported.
if importlib.util.find_spec("tf_keras"):
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")


def __getattr__(name):
    if name == "wrapping_angles":
        from envs import angles

        return angles.wrapping_angles
    if name in _OF_PARTS:
        from envs.simulations import parts

        return getattr(parts, name)
    if name == "give":
        from envs.simulations import own

        return own.give
    if name in ("batched", "load", "load_many", "spread_seeds"):
        from envs import loading

        return getattr(loading, name)
    raise AttributeError(f"module 'envs' has no attribute {name!r}")

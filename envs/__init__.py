"""DeepMind Control, gym and environments of users behind one door: `load(task, ...)`.

Nothing is imported until it is used, so that a wrong name costs no TensorFlow.
"""

import importlib.util
import os
import pkgutil

from envs.failing import EnvironmentFailedError
from envs.tasks import can_end, check_task, rewards_are_unbounded

_PLACES = {  # of what is imported when it is used
    "batched": "loading",
    "called": "simulations.parts",
    "check_entries": "simulations.parts",
    "concatenate": "simulations.parts",
    "entries_in_words": "simulations.parts",
    "entry": "simulations.parts",
    "give": "simulations.own",
    "lies": "simulations.parts",
    "load": "loading",
    "load_many": "loading",
    "spread_seeds": "loading",
    "wrapping_angles": "loading",
}
__all__ = [
    "EnvironmentFailedError",
    "can_end",
    "check_task",
    "rewards_are_unbounded",
    *_PLACES,
]

# TF-Agents and the layers are of Keras 2, which a later TensorFlow than 2.15 has to be told
# before it is imported.
if importlib.util.find_spec("tf_keras"):
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")


def __getattr__(name):
    if name not in _PLACES:
        raise AttributeError(f"module 'envs' has no attribute {name!r}")
    return pkgutil.resolve_name(f"envs.{_PLACES[name]}:{name}")

"""Runs whose models can be judged by the same observations."""

from agents.config.schema import as_dict, flatten
from agents.errors import UserError
from agents.runs.folder import load_config

# What two runs must share for their forecasts to be of the same thing.
_SHARED = ("task", "observation", "action_repeat", "image", "world_model.image_pool")


def check_same_observations(run, other):
    """Raises a UserError where the other run does not predict the run's observations.

    Args:
        run: folder of a run.
        other: folder of another one.
    """
    ours, theirs = (flatten(as_dict(load_config(folder))) for folder in (run, other))
    for key in ours:
        shared = any(key == each or key.startswith(f"{each}.") for each in _SHARED)
        if shared and ours[key] != theirs.get(key):
            raise UserError(
                f"{other} does not predict the observations of {run}: "
                f"{key} is {theirs.get(key)} instead of {ours[key]}"
            )

"""What of a run other processes do."""

from agents.training.distributed.apart import EvaluatedApart
from agents.training.distributed.learner import CollectedByActors


def parts(config):
    """What `agents.training.trainer.train` takes beside config and run.

    Args:
        config: `agents.runs.config.schema.Train`.
    """
    found = {}
    if config.actors:
        found["make_experience"] = CollectedByActors
    if config.evaluates_apart:
        found["make_apart"] = EvaluatedApart
    return found

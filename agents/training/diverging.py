"""The end of a run whose model diverges: no checkpoint is made of what is not finite."""

import sys

from agents.runs import divergence

# The sum of the losses, and the norm of what all of them cause, tell no loss from another.
_WHOLE = ("loss", "gradient_norm")


class Diverged(Exception):  # noqa: N818
    """A loss or gradient was not finite.

    Attributes:
        divergence: `agents.runs.divergence.Divergence`.
    """

    def __init__(self, found):
        super().__init__(str(found))
        self.divergence = found


def check(agent, first_step):
    """Stops where a gradient step was not finite; costs a copy of a few numbers.

    Args:
        agent: `agents.planet.agent.planet_agent.PlaNetAgent`.
        first_step: train steps when its metrics were popped last.

    Raises:
        Diverged: one was, since then.
    """
    steps, names = agent.steps_to_divergence()
    if names:
        terms = [name for name in names if name not in _WHOLE] or names
        episode = agent.counts["episodes"]
        found = divergence.Divergence(episode, first_step + steps, tuple(terms))
        raise Diverged(found)


def tell(config, run, found):
    """Writes what ended a run to its folder, and one line to standard error.

    Args:
        config: `agents.runs.config.schema.Train`.
        run: `agents.runs.folder.Run`.
        found: `agents.runs.divergence.Divergence`.
    """
    divergence.write(run.folder, found)
    optimizer = config.optimizer
    print(
        f"bayes-rl: {found}; start a new run with another logdir and a lower "
        f"optimizer.learning_rate (it is {optimizer.learning_rate:g}) or "
        f"optimizer.clip_norm ({optimizer.clip_norm:g}): the same command would stop here "
        "again. The last good checkpoint is kept",
        file=sys.stderr,
    )

"""A model that diverged: in words, and as the trace that it leaves in its run."""

import dataclasses
import json
import pathlib

from agents.system.files import write_text

_FILE = "diverged.json"


@dataclasses.dataclass(frozen=True)
class Divergence:
    """The first gradient step of a run whose loss or gradient was not finite.

    Args:
        episode: after which the step was taken, from 1.
        train_step: number of the step, from 1.
        terms: names of what was not finite, a tuple.

    Example:
        >>> print(Divergence(12, 2071, ("reward_loss", "latent_loss")))
        the model diverged after episode 12: not finite at gradient step 2071: reward_loss, latent_loss
    """  # noqa: E501

    episode: int
    train_step: int
    terms: tuple

    def __str__(self):
        return (
            f"the model diverged after episode {self.episode}: not finite at gradient step "
            f"{self.train_step}: {', '.join(self.terms)}"
        )


def write(folder, divergence):
    """Leaves the trace in the folder of a run."""
    write_text(pathlib.Path(folder) / _FILE, json.dumps(dataclasses.asdict(divergence)))


def read(folder):
    """The `Divergence` at which the newest session of a run ended, or None."""
    try:
        values = json.loads((pathlib.Path(folder) / _FILE).read_bytes())
        return Divergence(**values | {"terms": tuple(values["terms"])})
    except (OSError, ValueError, TypeError, KeyError):  # there is none, or none to read
        return None


def forget(folder):
    """Removes the trace, as another session begins."""
    (pathlib.Path(folder) / _FILE).unlink(missing_ok=True)

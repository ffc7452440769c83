"""One run from its config to its end: what `bayes-rl train` and `agents.train` share."""

from agents.runs.folder import check_run, open_run
from agents.system.errors import UserError
from agents.training import checking, trainer


def train(config, after_episode=()):
    """Starts a run, or goes on with it, in this process; see `trainer.train`.

    Raises:
        UserError: the run cannot start.
    """
    if config.address:
        raise UserError(
            f"address={config.address} changes nothing for one run of one process: add "
            "actors=N, evaluation.apart=true, or -m, which trains several runs"
        )
    check_run(config)
    config = checking.check(config)
    with open_run(config) as run:
        return trainer.train(config, run, after_episode=after_episode)

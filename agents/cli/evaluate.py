"""The command `bayes-rl evaluate RUN`: a line for each way of acting, a file of scores."""

from agents.training.scoring import score


def evaluate(run, episodes, out=None, physics=()):
    """Scores the newest checkpoint of a run, see `agents.training.scoring.score`."""
    score(run, episodes, out, dict(physics))

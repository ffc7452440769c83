"""The command `bayes-rl evaluate RUN`: a line for each way of acting, a file of scores."""

from agents.training.evaluating import score


def evaluate(run, episodes, out=None, physics=()):
    """Scores the newest checkpoint of a run, see `agents.training.evaluating.score`."""
    score(run, episodes, out, dict(physics))

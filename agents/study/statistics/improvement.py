"""How likely a run of one group beats a run of another."""

import numpy as np

from agents.study.statistics.bootstrap import draw_seeds, edges


def probability_of_improvement(scores, others, confidence=0.95, repetitions=50_000, seed=0):
    """The chance that a run scores more than another group's run of the same task.

        P(X > Y) = mean over tasks, i, j of 1 if x_i > y_j, 1/2 if x_i = y_j, else 0

    which for each task is the U of Mann and Whitney over n m. It says how sure, not how
    large an improvement is.

    Source: Agarwal et al., 2021, Deep Reinforcement Learning at the Edge of the
    Statistical Precipice, section 4.3; Mann and Whitney, 1947.

    Args:
        scores: list with an array for each task, [seeds].
        others: the same for the other group; its seeds may be fewer or more.
        confidence: share of the bootstrap's repetitions inside of the interval.
        repetitions: of the bootstrap, which draws the seeds of both groups anew.
        seed: of the draws.

    Returns:
        (probability, lower, upper); nan edges where a task has a single seed.

    Example:
        >>> probability_of_improvement([[1.0, 3.0]], [[2.0]])[0]
        0.5
    """
    wins = [_wins(ours, theirs) for ours, theirs in zip(scores, others, strict=True)]
    probability = float(np.mean([table.mean() for table in wins]))
    if min(min(table.shape) for table in wins) < 2:
        return probability, np.nan, np.nan
    random = np.random.default_rng(seed)
    drawn = [_draw(random, table, repetitions) for table in wins]
    return probability, *map(float, edges(np.mean(drawn, axis=0), confidence))


def _wins(ours, theirs):
    """1, 1/2 or 0 for each pair, [our seeds, their seeds]."""
    ours, theirs = np.asarray(ours)[:, np.newaxis], np.asarray(theirs)
    return (ours > theirs) + 0.5 * (ours == theirs)


def _draw(random, table, repetitions):
    """The probability in each repetition, [repetitions]."""
    ours, theirs = (draw_seeds(random, repetitions, count) for count in table.shape)
    return table[ours[:, :, np.newaxis], theirs[:, np.newaxis, :]].mean(axis=(1, 2))

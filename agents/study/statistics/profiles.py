"""Performance profiles: the whole distribution of scores at one look."""

import numpy as np

from agents.study.statistics.bootstrap import interval
from agents.study.statistics.summaries import mean


def performance_profile(scores, thresholds, repetitions=2000, **settings):
    """The share of runs that score more than each threshold, with its interval.

        profile(tau) = 1 / runs * number of runs with score > tau

    A group whose profile lies above another's everywhere is better at every quantile.

    Source: Agarwal et al., 2021, Deep Reinforcement Learning at the Edge of the
    Statistical Precipice, section 4.2 (run-score distributions).

    Args:
        scores: list with an array for each task, [seeds].
        thresholds: [points].
        repetitions: of the bootstrap.
        **settings: further ones of `interval`.

    Returns:
        (share, lower, upper), each [points].

    Example:
        >>> share, *_ = performance_profile([[0.2, 0.5], [0.9, 1.0]], [0.0, 0.5, 1.0])
        >>> share.tolist()
        [1.0, 0.5, 0.0]
    """
    thresholds = np.asarray(thresholds, float)[:, np.newaxis]
    above = [np.asarray(values) > thresholds for values in scores]  # [points, seeds]
    edges = interval(above, mean, repetitions=repetitions, **settings)
    return mean(np.concatenate(above, axis=-1)), *edges

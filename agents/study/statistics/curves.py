"""Curves of several seeds, compared at the same environment steps."""

import numpy as np

from agents.study.statistics.bootstrap import interval
from agents.study.statistics.summaries import interquartile_mean


def align(curves):
    """Puts curves of several seeds on one axis; each keeps its value until its next one.

    Args:
        curves: (steps, values) for each seed, steps ascending, values [points, ...].

    Returns:
        (steps, values): all steps that every seed has reached, [points], and the values
        there, [points, seeds, ...].

    Example:
        >>> align([([1, 3], [10, 30]), ([1, 2, 9], [1, 2, 9])])
        (array([1, 2, 3]), array([[10,  1],
               [10,  2],
               [30,  2]]))
    """
    curves = [(np.asarray(steps), np.asarray(values)) for steps, values in curves]
    first = max(steps[0] for steps, _ in curves)
    last = min(steps[-1] for steps, _ in curves)
    grid = np.unique(np.concatenate([steps for steps, _ in curves]))
    grid = grid[(grid >= first) & (grid <= last)]
    columns = [
        values[np.searchsorted(steps, grid, side="right") - 1] for steps, values in curves
    ]
    return grid, np.stack(columns, axis=1)


def sample_efficiency(tasks, repetitions=2000, **settings):
    """IQM over seeds and tasks at each environment step, with its bootstrap interval.

    Source: Agarwal et al., 2021, Deep Reinforcement Learning at the Edge of the
    Statistical Precipice, figure 8.

    Args:
        tasks: for each task a list with (steps, values) of each seed, values [points].
        repetitions: of the bootstrap.
        **settings: further ones of `interval`.

    Returns:
        (steps, IQM, lower, upper), each [points]; points that every seed has reached.

    Example:
        >>> steps, middle, *_ = sample_efficiency([[([1, 2], [0, 4])], [([2, 3], [6, 6])]])
        >>> steps.tolist(), middle.tolist()
        ([2], [5.0])
    """
    steps, values = align([curve for curves in tasks for curve in curves])
    ends = np.cumsum([len(curves) for curves in tasks])
    scores = np.split(values, ends[:-1], axis=1)  # [points, seeds] of each task
    if not len(steps):
        return steps, *np.zeros([3, 0])
    edges = interval(scores, interquartile_mean, repetitions=repetitions, **settings)
    return steps, interquartile_mean(values), *edges

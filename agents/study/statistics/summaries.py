"""One number for many scores, and how far the scores spread."""

import numpy as np


def interquartile_mean(values):
    """IQM: the mean of the middle half of the last axis, [..., values] -> [...].

    A quarter of the values, rounded down, is left out at each end: of fewer than 4 none.
    It is as deaf to single lucky seeds as the median and steadier.

    Source: Agarwal et al., 2021, Deep Reinforcement Learning at the Edge of the
    Statistical Precipice, section 4.3.

    Example:
        >>> float(interquartile_mean([0.0, 1.0, 2.0, 3.0, 100.0]))
        2.0
    """
    ordered = np.sort(np.asarray(values, float), axis=-1)
    cut = ordered.shape[-1] // 4
    return ordered[..., cut : ordered.shape[-1] - cut].mean(axis=-1)


def mean(values):
    """The mean of the last axis, [..., values] -> [...]."""
    return np.mean(values, axis=-1)


def median(values):
    """The median of the last axis, [..., values] -> [...]."""
    return np.median(values, axis=-1)


def spread(values, low=5, high=95):
    """Returns median and percentiles over all axes but the first; nan is left out.

    It says how much results vary, not how well their mean is known.

    Source: Hafner et al., 2019, Learning Latent Dynamics for Planning from Pixels,
    figure 4: median and 5 to 95 percentiles over seeds and evaluation episodes.

    Args:
        values: [points, ...].
        low: percentile of the lower edge.
        high: percentile of the upper edge.

    Returns:
        (median, lower, upper), each [points].

    Example:
        >>> [float(x) for (x,) in spread(np.arange(101.0)[None])]
        [50.0, 5.0, 95.0]
    """
    values = np.asarray(values, float)
    values = values.reshape(len(values), values[:1].size)
    if not len(values):
        return np.zeros(0), np.zeros(0), np.zeros(0)
    return tuple(np.nanpercentile(values, [50, low, high], axis=1))

"""Calibration: whether open-loop forecasts come true as often as they say.

The forecast of an observation is a mixture of equally likely normals, one for each latent
sequence and weight draw, with the stddev of the model's likelihood:

    p(o) = 1 / K sum over k of N(o; decoded_k, observation_stddev^2)

The central interval of probability P holds o where |2 F(o) - 1| <= P, with F the exact
cumulative distribution of the mixture; no quantile is searched or sampled.
"""

from typing import NamedTuple

import numpy as np
from scipy import special
from tensorflow_probability import distributions as tfd

from bayes_rl.uncertainty import log_score

LEVELS = tuple(np.arange(5, 100, 5) / 100)
SHOWN = (0.5, 0.8, 0.95)


class Scores(NamedTuple):
    """Of the forecasts of one episode, averaged over starts, dimensions and mixtures.

    Attributes:
        coverage: [steps, levels], share of observations inside the interval of `LEVELS`.
        negative_log_likelihood: [steps], nats, of each dimension on its own. A density of
            all together would need far more components than one can imagine.
    """

    coverage: np.ndarray
    negative_log_likelihood: np.ndarray


def cumulative(components, stddev, truth):
    """F(truth) of the mixture, for each dimension.

    Args:
        components: [K, ...], means of the normals.
        stddev: of each normal.
        truth: [...].

    Returns:
        [...], uniform on [0, 1] where forecasts are right.

    Example:
        >>> float(cumulative(np.zeros([3]), 1.0, 0.0))
        0.5
    """
    return special.ndtr((truth - components) / stddev).mean(axis=0)


def score(components, stddev, truth):
    """Judges the forecasts of one episode.

    Args:
        components: [mixtures, K, steps, starts, *observation], decoded means.
        stddev: of the likelihood of an observation.
        truth: [steps, starts, *observation].

    Returns:
        `Scores`.
    """
    shape = truth.shape[:2]
    truth = np.asarray(truth, np.float64).reshape(*shape, -1)
    coverage, scores = 0.0, 0.0
    for means in components:  # one mixture after another: pictures need the memory
        means = np.asarray(means, np.float64).reshape(len(means), *truth.shape)
        away = np.abs(2 * cumulative(means, stddev, truth) - 1)
        coverage += np.stack([(away <= p).mean(axis=(1, 2)) for p in LEVELS], axis=-1)
        normals = tfd.Normal(means, np.float64(stddev))
        scores += log_score(normals, truth).numpy().mean(axis=(1, 2))
    return Scores(coverage / len(components), scores / len(components))


def with_interval(values, resamples=2000):
    """Mean over episodes and the interval that holds 95 per cent of resampled means.

    Args:
        values: [episodes, ...].
        resamples: of the episodes.

    Returns:
        Mean, low and high, [...]; without interval (nan) for one episode.

    Example:
        >>> [float(x) for x in with_interval(np.ones([4]))]
        [1.0, 1.0, 1.0]
    """
    values = np.asarray(values)
    mean = values.mean(axis=0)
    if len(values) < 2:
        return mean, np.full_like(mean, np.nan), np.full_like(mean, np.nan)
    chosen = np.random.default_rng(0).integers(len(values), size=[resamples, len(values)])
    counts = np.stack([np.bincount(row, minlength=len(values)) for row in chosen])
    means = np.tensordot(counts / len(values), values, 1)
    low, high = np.percentile(means, [2.5, 97.5], axis=0)
    return mean, low, high

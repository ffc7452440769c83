"""Regressions that are judged on episodes they were not fitted to.

Episodes are the unit: rows of one episode resemble each other, so a split by rows would
let a regression recognise its test rows.
"""

from typing import NamedTuple

import numpy as np
from scipy import stats
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

FOLDS = 5
_PENALTIES = np.logspace(-4, 4, 9)  # of standardized inputs; the best for each target
_UNITS = (64, 64)
_CONSTANT = 1e-6  # stddev, in the target's unit, of what counts as never changing


def make_ridge():
    """Linear regression; each target has its own quadratic penalty, by leaving one out."""
    return make_pipeline(
        StandardScaler(), RidgeCV(alphas=_PENALTIES, alpha_per_target=True)
    )


def make_mlp():
    """Two hidden layers, trained until a tenth of the rows stops to improve."""
    network = MLPRegressor(
        hidden_layer_sizes=_UNITS,
        early_stopping=True,
        learning_rate_init=3e-3,
        random_state=0,
    )
    return make_pipeline(
        StandardScaler(),
        TransformedTargetRegressor(network, transformer=StandardScaler()),
    )


def split(count):
    """Numbers of training and of held-out episodes, `FOLDS` times; each is held out once.

    Example:
        >>> [held_out.tolist() for _, held_out in split(3)]
        [[0], [1], [2]]
    """
    return KFold(min(FOLDS, count)).split(np.arange(count))


def predict_held_out(make, inputs, targets):
    """Predictions for each episode by a regression fitted to other episodes alone.

    Args:
        make: makes a regression, such as `make_ridge`; None predicts the mean.
        inputs: list of [T, F], one for each episode, at least 2.
        targets: list of [T, D].

    Returns:
        List of [T, D].
    """
    predictions = [None] * len(targets)
    for training, held_out in split(len(targets)):
        fitted = fit(make, inputs, targets, training)
        for number in held_out:
            predictions[number] = fitted(inputs[number])
    return predictions


def fit(make, inputs, targets, training):
    """A function from [T, F] to [T, D], fitted to the training episodes."""
    target = np.concatenate([targets[number] for number in training])
    if make is None:
        return lambda rows: np.repeat(target.mean(axis=0)[np.newaxis], len(rows), axis=0)
    with threadpool_limits(1):  # small products are slower with more threads
        model = make().fit(np.concatenate([inputs[number] for number in training]), target)
    return lambda rows: model.predict(rows).reshape(len(rows), -1)


class Share(NamedTuple):
    """Explained shares of the variance, [D] each: the estimate and its interval."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray


def r_squared(targets, predictions, resamples=2000):
    """Share of the variance of each target that the predictions explain.

        R^2 = 1 - sum (target - prediction)^2 / sum (target - mean target)^2

    over the rows of all episodes; 1 is perfect, 0 as good as the mean, nan for a target
    that never changes. The interval holds 95 per cent of the values for resampled
    episodes; it says how much the episodes matter, not how much the fit would vary.

    Source: Efron, 1979, Bootstrap Methods: Another Look at the Jackknife.

    Args:
        targets: list of [T, D], one for each episode.
        predictions: list of [T, D].
        resamples: of the episodes.

    Returns:
        `Share`.

    Example:
        >>> r_squared([np.array([[0.0], [2.0]])], [np.array([[0.0], [1.0]])]).value
        array([0.5])
    """
    centre = np.concatenate(targets).mean(axis=0, dtype=np.float64)
    sums = [[], [], [], []]  # of each episode
    for target, prediction in zip(targets, predictions, strict=True):
        about = target - centre
        sums[0].append(((target - prediction) ** 2).sum(0))
        sums[1].append(about.sum(0))
        sums[2].append((about**2).sum(0))
        sums[3].append(np.full(len(centre), len(target)))
    sums = [np.stack(each, axis=-1).astype(np.float64) for each in sums]  # [D, episodes]
    value = _share(*sums)
    if len(targets) < 2:
        return Share(value, np.full_like(value, np.nan), np.full_like(value, np.nan))
    interval = stats.bootstrap(
        tuple(sums),
        _share,
        paired=True,
        vectorized=True,
        axis=-1,
        n_resamples=resamples,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return Share(value, interval.low, interval.high)


def _share(residual, total, squares, rows, axis=-1):
    residual, total, squares, rows = (
        each.sum(axis) for each in (residual, total, squares, rows)
    )
    variation = squares - total**2 / rows
    varies = variation > _CONSTANT**2 * rows
    return np.where(varies, 1 - residual / np.where(varies, variation, 1.0), np.nan)

"""Regressions that are judged on episodes they were not fitted to.

Episodes are the unit: rows of one episode resemble each other, so a split by rows would
let a regression recognise its test rows. What a regression chooses while it is fitted, its
penalty or when to stop, it chooses by episodes as well: it holds out some of those that it
is given. A single one is cut into `FOLDS` spans of time that stand for episodes.
"""

import itertools
import warnings

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from agents.study.statistics import draw_seeds

FOLDS = 5
_PENALTIES = np.logspace(-4, 4, 9)  # of standardized inputs; the best for each target
_UNITS = (64, 64)
_EPOCHS = 200  # at most
_PATIENCE = 10  # epochs without a better one
_BETTER = 1e-3  # share of the variance of targets
_CONSTANT = 1e-6  # stddev, in the target's unit, of what counts as never changing


def fit_ridge(rows, targets, episodes):
    """Linear regression; each target has its own quadratic penalty.

    That is the one under which the target is predicted best in episodes that were held out.
    Of rows [N, F], targets [N, D] and the number of each row's episode, [N], it makes a
    function from [T, F] to [T, D].
    """
    many = np.tile(targets, len(_PENALTIES))  # all penalties share the products of inputs
    every = make_pipeline(StandardScaler(), Ridge(np.repeat(_PENALTIES, targets.shape[1])))
    predictions = cross_val_predict(every, rows, many, cv=_folds(episodes))
    errors = ((predictions - many) ** 2).mean(axis=0).reshape(len(_PENALTIES), -1)
    best = Ridge(_PENALTIES[errors.argmin(axis=0)])
    return make_pipeline(StandardScaler(), best).fit(rows, targets).predict


def fit_mlp(rows, targets, episodes):
    """Two hidden layers, trained for as many epochs as are best for held-out episodes.

    A fold of the episodes is held out to count the epochs; then all are learnt from. The
    arguments are those of `fit_ridge`.

    Source: Goodfellow et al., 2016, Deep Learning, algorithm 7.2.
    """
    scaled, outputs = StandardScaler().fit(rows), StandardScaler().fit(targets)
    rows, targets = scaled.transform(rows), outputs.transform(targets)
    training, held_out = _folds(episodes)[0]
    best, least = 1, np.inf
    for epoch, predict in enumerate(_epochs(rows[training], targets[training]), 1):
        error = ((predict(rows[held_out]) - targets[held_out]) ** 2).mean()
        if error < least - _BETTER:
            best, least = epoch, error
        if epoch == _EPOCHS or epoch - best == _PATIENCE:
            break
    *_, predict = itertools.islice(_epochs(rows, targets), best)
    return lambda new: outputs.inverse_transform(predict(scaled.transform(new)))


def _epochs(rows, targets):
    """Trains a network; yields its function after each epoch."""
    random = np.random.RandomState(0)  # an int would shuffle all epochs alike
    network = MLPRegressor(
        hidden_layer_sizes=_UNITS, learning_rate_init=3e-3, random_state=random
    )
    while True:
        network.partial_fit(rows, targets[:, 0] if targets.shape[1] == 1 else targets)
        yield lambda new: network.predict(new).reshape(len(new), -1)


def _folds(episodes):
    """Rows to train on and rows to hold out: of whole episodes, or of spans of one."""
    groups = np.unique(episodes, return_inverse=True)[1]
    if groups.max() == 0:
        groups = np.arange(len(groups)) * FOLDS // len(groups)
    folds = GroupKFold(min(FOLDS, len(np.unique(groups))))
    return list(folds.split(groups, groups=groups))


def split(count):
    """Numbers of training and of held-out episodes, `FOLDS` times; each is held out once.

    Example:
        >>> [held_out.tolist() for _, held_out in split(3)]
        [[0], [1], [2]]
    """
    return KFold(min(FOLDS, count)).split(np.arange(count))


def predict_held_out(regression, inputs, targets):
    """Predictions for each episode, [T, D], by a regression fitted to others alone.

    It is one such as `fit_ridge`; None predicts the mean. Inputs and targets are lists of
    [T, F] and [T, D], one for each episode, at least 2.
    """
    predictions = [None] * len(targets)
    for training, held_out in split(len(targets)):
        predict = fit(regression, inputs, targets, training)
        for number in held_out:
            predictions[number] = predict(inputs[number])
    return predictions


def fit(regression, inputs, targets, training):
    """A function from [T, F] to [T, D], fitted to the training episodes."""
    target = np.concatenate([targets[number] for number in training]).astype(np.float64)
    if regression is None:
        return lambda rows: np.repeat(target.mean(axis=0)[np.newaxis], len(rows), axis=0)
    rows = np.concatenate([inputs[number] for number in training]).astype(np.float64)
    episodes = np.repeat(training, [len(targets[number]) for number in training])
    with threadpool_limits(1):  # small products are slower with more threads
        predict = regression(rows, target, episodes)
    return lambda rows: predict(rows).reshape(len(rows), -1)


def r_squared(targets, predictions):
    """Share of the variance of each target that the predictions explain, [D].

        R^2 = 1 - sum (target - prediction)^2 / sum (target - mean target)^2

    over the rows of all episodes, of which each has targets and predictions [T, D]; 1 is
    perfect, 0 as good as the mean, nan for a target that never changes.

    Example:
        >>> r_squared([np.array([[0.0], [2.0]])], [np.array([[0.0], [1.0]])])
        array([0.5])
    """
    return _share(*_sums(targets, predictions))


def r_squared_and_interval(targets, predictions, resamples=2000):
    """R squared, and the interval that holds 95 per cent of it for resampled episodes.

    These are [3, D]: the estimate and the two edges. The interval says how much the
    episodes matter, not how much the fit would vary. Resamples in which a target never
    changes have no R squared and are left out; where none is left, or for one episode, the
    interval is nan.

    Source: Efron, 1979, Bootstrap Methods: Another Look at the Jackknife.
    """
    sums = _sums(targets, predictions)
    value = _share(*sums)
    if len(targets) < 2:
        return np.stack([value, *np.full([2, len(value)], np.nan)])
    drawn = draw_seeds(np.random.default_rng(0), resamples, len(targets))
    found = _share(*(each[:, drawn] for each in sums))  # [D, resamples]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN slice", RuntimeWarning)
        return np.stack([value, *np.nanpercentile(found, [2.5, 97.5], axis=-1)])


def _sums(targets, predictions):
    """Squared errors, deviations, squared deviations and rows, each [D, episodes]."""
    centre = np.concatenate(targets).mean(axis=0, dtype=np.float64)
    sums = []
    for target, prediction in zip(targets, predictions, strict=True):
        about = target - centre
        each = (target - prediction) ** 2, about, about**2, np.ones_like(about)
        sums.append([rows.sum(0) for rows in each])
    return np.stack(sums, axis=-1).astype(np.float64)


def _share(*sums):
    residual, total, squares, rows = (each.sum(-1) for each in sums)
    variation = squares - total**2 / rows
    varies = variation > _CONSTANT**2 * rows
    return np.where(varies, 1 - residual / np.where(varies, variation, 1.0), np.nan)

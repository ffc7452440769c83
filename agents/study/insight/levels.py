"""Levels of intervals, changed so that they hold what they say.

Of a forecast with the cumulative distribution F, the central interval that just reaches
what came, y, has the level u = |2 F(y) - 1|. Of right forecasts all levels are equally
likely. Of others a share R(u) of what came had a lower one; so with density f

    G(y) = (1 + sign(F(y) - 1/2) R(u)) / 2,    g(y) = f(y) R'(u)

are right, and the interval that holds a share R is that of level u before. R is linear
between `SHARES`. The median stays where it is.

Source: Kuleshov, Fenner and Ermon, 2018, Accurate Uncertainties for Deep Learning Using
Calibrated Regression, section 3, where R is of F itself.
"""

import numpy as np
import tensorflow as tf

SHARES = np.array([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1])
_APART = 1e-6  # neighbours, at least: R has a slope


def fit_levels(levels):
    """Which level held each of `SHARES` of what came.

    Args:
        levels: u of each, [N, D].

    Returns:
        [len(SHARES), D], from 0 to 1, ascending.

    Example:
        >>> narrow = np.linspace(0, 1, 101)[:, np.newaxis] ** 0.5
        >>> fit_levels(narrow)[[0, 5, 8, 12], 0].round(2).tolist()
        [0.0, 0.71, 0.89, 1.0]
    """
    found = np.quantile(levels, SHARES, axis=0)
    found[0], found[-1] = 0.0, 1.0
    steps = np.maximum(np.diff(found, axis=0), _APART)
    return np.concatenate([found[:1], np.cumsum(steps, axis=0) / steps.sum(axis=0)])


def level_before(share, table):
    """The level of which an interval holds a share.

    Args:
        share: between 0 and 1.
        table: [..., len(SHARES), D], see `fit_levels`.

    Returns:
        [..., D].
    """
    piece = _piece(share, SHARES)
    part = (share - SHARES[piece]) / (SHARES[piece + 1] - SHARES[piece])
    return (1 - part) * table[..., piece, :] + part * table[..., piece + 1, :]


class WithLevels:
    """A forecast whose intervals have other levels, see above.

    Args:
        forecast: TFP distribution, batch shape [1, steps, starts, D].
        tables: one for each step, [steps, len(SHARES), D], see `fit_levels`.
    """

    def __init__(self, forecast, tables):
        self._forecast = forecast
        self._tables = np.moveaxis(tables, 1, -1)[:, np.newaxis]  # [steps, 1, D, SHARES]
        self.dtype = forecast.dtype

    def cdf(self, value):
        """G."""
        off = 2 * self._forecast.cdf(value).numpy() - 1
        share, _ = self._share_and_slope(np.abs(off))
        return tf.constant((1 + np.sign(off) * share) / 2)

    def log_prob(self, value):
        """The logarithm of g."""
        off = 2 * self._forecast.cdf(value).numpy() - 1
        _, slope = self._share_and_slope(np.abs(off))
        return self._forecast.log_prob(value) + np.log(slope)

    def _share_and_slope(self, levels):
        tables = np.broadcast_to(self._tables, (*levels.shape, len(SHARES)))
        piece = _piece(levels, tables)
        low, high = (
            np.take_along_axis(tables, place[..., np.newaxis], -1)[..., 0]
            for place in (piece, piece + 1)
        )
        slope = (SHARES[piece + 1] - SHARES[piece]) / (high - low)
        return SHARES[piece] + slope * (levels - low), slope


def _piece(values, edges):
    """Between which two edges, [..., E], each value [...] lies: the place of the lower."""
    below = np.expand_dims(values, -1) >= edges
    return np.clip(below.sum(axis=-1) - 1, 0, edges.shape[-1] - 2)

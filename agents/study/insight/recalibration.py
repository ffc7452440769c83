"""Intervals that hold: forecasts whose spread was fitted to episodes never trained on.

Of a forecast of dimension d, h steps ahead, see `agents.study.insight.forecasts`, only the
mean o and two variances over components are kept: of the draws' means, epistemic, and
within a draw, latent. Recalibrated it is

    p(o_d) = t(o_d; o + shift_hd, scale_hd, tails_hd)
    scale^2 = stddev_hd^2 + epistemic_hd^2 Var_epistemic + latent_hd^2 Var_latent

where t is Student's distribution: of few tails, its degrees of freedom, it has many
outliers, of many it is a normal one. All five are fitted by likelihood, which tells their
sum: where the parts grow alike, how much of it is either's stays open. What is left, for
errors may have two humps, levels_hd mend, see `WithLevels`. Errors
where the policy acts are not those of random actions: each has a fit of its own. So has
each h, for errors of one dimension grow within few steps and those of another shrink.

Source: Malik et al., 2019, Calibrated Model-Based Deep Reinforcement Learning, for
recalibration on held-out transitions; Sukhija et al., 2023, Optimistic Active Exploration
of Dynamical Systems, for a factor of the epistemic part.
"""

import dataclasses
import math

import numpy as np
import tensorflow as tf
from scipy import optimize, special, stats
from tensorflow_probability import distributions as tfd

from agents.planet.model.networks import is_image
from agents.study.insight.forecasts import ForecastTimes, broadest
from agents.system.seeds import fold

_WIDE = 0.95  # level of the interval that 2 stddevs are compared with
_ENOUGH = 400  # errors of a step, for its five numbers and its levels
# Of what is fitted, in units of the truths' spread: where to begin, least and most. All
# but the shift are positive, and searched for by their logarithms.
_SEARCH = {
    "shift": (0.0, -3.0, 3.0),
    "stddev": (0.1, 1e-3, 10.0),
    "tails": (4.0, 0.8, 100.0),
    "latent": (1.0, 0.01, 10.0),
    "epistemic": (1.0, 0.01, 10.0),
}
SHARES = np.array([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1])
_APART = 1e-6  # neighbours, at least: R has a slope


@dataclasses.dataclass(frozen=True)
class Recalibration:
    """How the forecasts of a model are changed, from one agent step ahead on.

    Arrays are [steps, D]; further ahead all is as at the last.
    """

    draws: int  # of the weights, in the forecasts that it is of; 0: the central weights
    shift: np.ndarray  # of the mean, in units of the task
    stddev: np.ndarray  # that every forecast has, in units of the task
    tails: np.ndarray  # degrees of freedom
    latent: np.ndarray  # factor of what latents of one draw differ by
    epistemic: np.ndarray  # factor of what draws differ by
    levels: np.ndarray  # of Student's intervals, [steps, len(SHARES), D]
    # width of an interval of 95 per cent over 4 stddevs of the draws' means; 1: they agree
    widening: np.ndarray

    def __call__(self, components, steps):
        """The recalibrated forecast, `WithLevels` of batch shape [1, steps, starts, D].

        Of components [K, steps, starts, D], see `.forecasts.broadest`, so many agent steps
        ahead, [steps].
        """
        return WithLevels(self.student(components, steps), self.levels[self._places(steps)])

    def student(self, components, steps):
        """The forecast before its levels were mended, a TFP distribution."""
        place = self._places(steps)
        shift, stddev, tails, latent, epistemic = (
            getattr(self, name)[place][:, np.newaxis] for name in _SEARCH
        )
        mean, of_draws, of_latents = moments(components, self.draws)
        variance = sum(_variances(stddev, latent, epistemic, of_draws, of_latents))
        each = (tails, mean + shift, np.sqrt(variance))
        return tfd.StudentT(*(part + np.zeros([1, *mean.shape]) for part in each))

    def interval(self, components, steps, level):
        """Lower and upper edge, [steps, starts, D], of the central interval of a level.

        Components and steps are as of a call.
        """
        forecast = self.student(components, steps)
        before = level_before(level, self.levels[self._places(steps)])[:, np.newaxis]
        mean, scale = forecast.loc[0], forecast.scale[0]
        return stats.t.interval(before, forecast.df[0], mean, scale)

    def interval_of_readings(self, values, context):
        """Where numbers are expected that are read from the latents of an open loop.

        What draws say of them is as much too sure as what they say of observations: the
        factor is the median of `widening` over dimensions. Of values [S, T, V] of each draw
        the edges are [T, V], nan in the context, the rows that the model saw.
        """
        ahead = np.arange(1, values.shape[1] - context + 1)
        factor = np.full([values.shape[1], 1], np.nan)
        factor[context:, 0] = np.median(self.widening, axis=-1)[self._places(ahead)]
        middle, reach = values.mean(axis=0), 2 * factor * values.std(axis=0)
        return middle - reach, middle + reach

    def _places(self, steps):
        return np.minimum(steps, len(self.shift)) - 1


def moments(components, draws):
    """Mean of components, variance of the draws' means, and variance within a draw.

    Of components [K, ...] each of S draws has K / S in a row; 0: the central weights. The
    means of few components vary by chance; what is due to it is taken away.

    Example:
        >>> [float(x) for x in moments(np.array([0.0, 0.0, 4.0, 4.0]), draws=2)]
        [2.0, 4.0, 0.0]
    """
    components = np.asarray(components, np.float64)
    by_draw = components.reshape(max(draws, 1), -1, *components.shape[1:])
    means, count = by_draw.mean(axis=1), by_draw.shape[1]
    within = by_draw.var(axis=1, ddof=min(count - 1, 1)).mean(axis=0)
    by_chance = (1 - 1 / len(means)) * within / count
    return means.mean(axis=0), np.maximum(means.var(axis=0) - by_chance, 0.0), within


def fit(model, episodes, seed):
    """Fits to episodes that the model was never trained on.

    Args:
        model: `agents.planet.model.world_model.WorldModel`.
        episodes: see `agents.episodes.layout`.
        seed: [2].

    Returns:
        `Recalibration`; None for pictures, whose forecasts stay as they are.

    Raises:
        UserError: the episodes are too short.
    """
    if is_image(model.observation_spec):
        return None
    times = ForecastTimes(model, episodes)
    truth = np.stack(times.truths(model, episodes, fold(seed, 0)), axis=1)
    found = list(broadest(model, episodes, times, fold(seed, 1)))
    draws = found[0][0]
    forecast = np.stack([components for _, components in found], axis=2)
    return fit_to(forecast, truth, draws)


def fit_to(forecast, truth, draws):
    """`Recalibration` of forecasts by so many draws to what came.

    Forecasts are components [K, steps, ..., D] of 1, 2, ... agent steps ahead; the truth is
    [steps, ..., D].
    """
    size = truth.shape[-1]
    unit = truth.std(axis=tuple(range(truth.ndim - 1)), dtype=np.float64) + 1e-9
    mean, *variances = moments(forecast, draws)
    rows = [(truth - mean) / unit, *(variance / unit**2 for variance in variances)]
    found = []
    for step in range(len(truth)):
        around = _around(step, len(truth), truth[0].size // size)
        of_step = [each[around].reshape(-1, size) for each in rows]
        fitted = _fit_step(*of_step)
        found.append((fitted, *_levels_and_widening(fitted, *of_step)))
    fitted, *tables = zip(*found, strict=True)
    shift, stddev, *others = np.stack(fitted, axis=1)
    return Recalibration(
        draws, shift * unit, stddev * unit, *others, *map(np.stack, tables)
    )


def _around(step, steps, count):
    """A step and as many before as after it, for `_ENOUGH` errors of `count` a step.

    A mean over steps on both sides is off by less than one over those on one side.
    """
    wanted = math.ceil((_ENOUGH / count - 1) / 2)
    reach = max(min(wanted, step, steps - 1 - step), 0)
    return slice(step - reach, step + reach + 1)


def _fit_step(error, of_draws, of_latents):
    """What `_SEARCH` names, [5, D], by maximum likelihood; arguments are [N, D].

    Dimensions know nothing of each other, so each is searched for on its own.
    """
    limits = [
        limit if name == "shift" else tuple(map(math.log, limit))
        for name, limit in _SEARCH.items()
    ]
    start, bounds = [first for first, *_ in limits], [edges for _, *edges in limits]
    points = [
        optimize.minimize(_loss, start, args=own, jac=True, bounds=bounds).x
        for own in zip(error.T, of_draws.T, of_latents.T, strict=True)
    ]
    return np.stack([_as_values(point) for point in points], axis=1)


def _levels_and_widening(fitted, error, of_draws, of_latents):
    """Those of `Recalibration`, [len(SHARES), D] and [D]; arguments as of `_fit_step`."""
    shift, stddev, tails, latent, epistemic = fitted
    variance = sum(_variances(stddev, latent, epistemic, of_draws, of_latents))
    reached = np.abs(2 * stats.t.cdf((error - shift) / np.sqrt(variance), tails) - 1)
    levels = fit_levels(reached)
    reach = stats.t.ppf((1 + level_before(_WIDE, levels)) / 2, tails)
    draws_vary = of_draws.mean(axis=0)
    ratio = reach**2 * variance.mean(axis=0) / np.where(draws_vary > 0, draws_vary, 1.0)
    return levels, np.where(draws_vary > 0, np.sqrt(ratio) / 2, 1.0)


def _variances(stddev, latent, epistemic, of_draws, of_latents):
    """What the squared scale is the sum of."""
    return stddev**2, latent**2 * of_latents, epistemic**2 * of_draws


def _as_values(point):
    return np.concatenate([point[:1], np.exp(point[1:])])


def _loss(point, error, of_draws, of_latents):
    """Negative log likelihood of one dimension, and its gradient by `point`."""
    shift, stddev, tails, latent, epistemic = _as_values(point)
    parts = _variances(stddev, latent, epistemic, of_draws, of_latents)
    variance = sum(parts)
    off = error - shift
    squares = off**2 / (tails * variance)
    pull = (tails + 1) * squares / (1 + squares)  # of outliers, on the scale
    by_tails = special.digamma((tails + 1) / 2) - special.digamma(tails / 2)
    by_tails += (pull - 1) / tails - np.log1p(squares)
    by_shift = (tails + 1) * off / (tails * variance * (1 + squares))
    of_stddev, of_latent, of_epistemic = ((pull - 1) * part / variance for part in parts)
    gradient = (by_shift, of_stddev, tails / 2 * by_tails, of_latent, of_epistemic)
    likelihood = stats.t.logpdf(off, tails, scale=np.sqrt(variance))
    return -likelihood.mean(), -np.array([np.mean(each) for each in gradient])


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
    """The level, [..., D], of which an interval holds a share, from 0 to 1.

    The table is [..., len(SHARES), D], see `fit_levels`.
    """
    piece = _piece(share, SHARES)
    part = (share - SHARES[piece]) / (SHARES[piece + 1] - SHARES[piece])
    return (1 - part) * table[..., piece, :] + part * table[..., piece + 1, :]


class WithLevels:
    """A forecast whose intervals have other levels, so that they hold what they say.

    Of a forecast with the cumulative distribution F, the central interval that just reaches
    what came, y, has the level u = |2 F(y) - 1|. Of right forecasts all levels are equally
    likely. Of others a share R(u) of what came had a lower one; so with density f

        G(y) = (1 + sign(F(y) - 1/2) R(u)) / 2,    g(y) = f(y) R'(u)

    are right, and the interval that holds a share R is that of level u before. R is linear
    between `SHARES`. The median stays where it is.

    Source: Kuleshov, Fenner and Ermon, 2018, Accurate Uncertainties for Deep Learning Using
    Calibrated Regression, section 3, where R is of F itself.

    Args:
        forecast: TFP distribution, batch shape [1, steps, starts, D].
        tables: one for each step, [steps, len(SHARES), D], see `fit_levels`.
    """

    def __init__(self, forecast, tables):
        self._forecast = forecast
        self._tables = np.moveaxis(tables, 1, -1)[:, np.newaxis]  # [steps, 1, D, SHARES]
        self.dtype = forecast.dtype
        self.batch_shape, self.event_shape = forecast.batch_shape, forecast.event_shape

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

"""Calibration: whether open-loop forecasts come true as often as they say.

The forecast of an observation is a mixture of equally likely normals, one for each latent
sequence and weight draw, with the stddev of the model's likelihood:

    p(o) = 1 / K sum over k of N(o; decoded_k, observation_stddev^2)

The central interval of probability P holds o where |2 F(o) - 1| <= P, with F the exact
cumulative distribution of the mixture; no quantile is searched or sampled.

Of right forecasts the share of observations inside, the coverage c, is P. For vectors each
dimension d has its own. Two numbers tell of all D:

    pooled coverage = mean over d of c_d
    deviation       = mean over d of |c_d - P|

Errors of opposite sign cancel in the first, not in the second. Both are shares between 0
and 1. The deviation of right forecasts is not 0 but about 0.8 sqrt(P (1 - P) / n) for n
independent observations of a dimension: 0.05 for P = 0.8 and n = 50. Pictures are pooled:
all their numbers count as one dimension; where their likelihood is wide, so that single
pixels weigh little (`world_model=pixels`), so are their intervals.
"""

from typing import NamedTuple

import numpy as np
from tensorflow_probability import distributions as tfd

from agents.study.insight.forecasts import ForecastTimes, forecasts
from agents.study.statistics import draw_seeds, edges
from agents.system.seeds import fold
from bayes_rl.uncertainty import log_score

LEVELS = tuple(np.arange(5, 100, 5) / 100)
SHOWN = (0.5, 0.8, 0.95)
COVERAGES, DEVIATIONS = (  # columns of calibration.csv
    [f"{kind}_{round(100 * level)}" for level in SHOWN]
    for kind in ("coverage", "deviation")
)
_SCORE = "negative_log_likelihood"
_REPETITIONS = 2000  # of the episodes; each step and dimension has its own interval


class Scores(NamedTuple):
    """Of the forecasts of one episode, averaged over starts and mixtures.

    Those of several episodes are stacked along a first axis. The likelihood is of each
    dimension on its own: a density of all together would need far more components than one
    can imagine.
    """

    coverage: np.ndarray  # share of observations inside of `LEVELS`, [steps, levels, D]
    negative_log_likelihood: np.ndarray  # nats, [steps, D]


class Curves(NamedTuple):
    """How honest forecasts of one kind are on some episodes, over the steps ahead."""

    actions: str  # who acted in the episodes
    name: str  # whose forecasts they are
    draws: int  # of the weights, in a mixture; 0: the central weights
    recalibrated: bool  # whether their spread was fitted to other episodes
    steps: np.ndarray  # agent steps ahead, [steps]
    scores: Scores  # of the episodes, stacked
    summary: dict  # of all dimensions, see `summarize`

    @property
    def label(self):
        """Whose forecasts, from which weights, and whether they were mended."""
        some = f"{self.draws} draw{'s' if self.draws > 1 else ''}"
        label = f"{self.name}, {some if self.draws else 'central weights'}"
        return f"{label}, recalibrated" if self.recalibrated else label

    def rows(self):
        """Dicts of numbers: for `all` and each dimension, one for each step."""
        dimensions = self.scores.coverage.shape[-1]
        summaries = {"all": self.summary}
        if dimensions > 1:
            summaries |= {n: summarize(self.scores, n) for n in range(dimensions)}
        for dimension, summary in summaries.items():
            for place, step in enumerate(self.steps):
                row = {"dimension": dimension, "step": int(step)}
                yield row | {name: float(each[place]) for name, each in summary.items()}

    def line(self, place):
        """What a table shows at one of the steps."""
        numbers = [self.summary[name][place] for name in (*COVERAGES, *DEVIATIONS, _SCORE)]
        return [self.label, f"{self.steps[place]}", *numbers]


def judge(model, episodes, seed, actions, name, fit=None):
    """Forecasts episodes and judges the forecasts of each kind.

    Args:
        model: `agents.planet.model.world_model.WorldModel`.
        episodes: held out, see `agents.episodes.layout`.
        seed: [2].
        actions: who acted in the episodes, to label the curves.
        name: whose model it is, likewise.
        fit: `agents.study.insight.recalibration.Recalibration`, or None.

    Yields:
        `Curves`: of the central weights, and of mixtures of `SIZES` draws where the weights
        are uncertain; with a fit also recalibrated.

    Raises:
        UserError: the episodes are too short.
    """
    times = ForecastTimes(model, episodes)
    truths = times.truths(model, episodes, fold(seed, 0))
    scores, stddev = {}, np.float64(model.observation_stddev)
    predicted = forecasts(model, episodes, times, fold(seed, 1))
    for truth, found in zip(truths, predicted, strict=True):
        for draws, components in found.items():
            mixtures = (tfd.Normal(np.float64(each), stddev) for each in components)
            scores.setdefault((draws, False), []).append(score(mixtures, truth))
        if fit is not None:
            mended = fit(found[fit.draws][0], times.steps)
            scores.setdefault((fit.draws, True), []).append(score([mended], truth))
    for kind, found in scores.items():
        stacked = Scores(*map(np.stack, zip(*found, strict=True)))
        yield Curves(actions, name, *kind, times.steps, stacked, summarize(stacked))


def score(mixtures, truth):
    """Judges the forecasts of one episode.

    Args:
        mixtures: TFP distributions over the K components of each, batch shape
            [K, steps, starts, *observation]; each is judged.
        truth: [steps, starts, *observation].

    Returns:
        `Scores`; D is 1 for pictures, which are pooled.
    """
    dimensions = truth.shape[2] if truth.ndim == 3 else 1
    shape = (*truth.shape[:2], -1, dimensions)
    truth = np.asarray(truth, np.float64)
    coverage, scores = [], []
    for mixture in mixtures:  # one after another: pictures need the memory
        share = mixture.cdf(truth).numpy().mean(axis=0).reshape(shape)
        inside = [np.abs(2 * share - 1) <= p for p in LEVELS]
        coverage.append(np.stack([each.mean(axis=(1, 2)) for each in inside], axis=1))
        scores.append(log_score(mixture, truth).numpy().reshape(shape).mean(axis=(1, 2)))
    return Scores(np.mean(coverage, axis=0), np.mean(scores, axis=0))


def summarize(scores, dimension=None):
    """Columns of calibration.csv, [steps] each, of one dimension or of all pooled.

    Scores are those of the episodes, stacked; coverages and likelihood have an interval.
    """
    chosen = slice(None) if dimension is None else [dimension]
    shown = [LEVELS.index(level) for level in SHOWN]
    coverage = scores.coverage[:, :, shown][..., chosen]
    off = np.abs(coverage.mean(axis=0) - np.array(SHOWN)[:, np.newaxis]).mean(axis=-1)
    pooled = np.array(mean_over_episodes(coverage.mean(axis=-1)))  # [3, steps, shown]
    columns = {}
    for place, (inside, deviation) in enumerate(zip(COVERAGES, DEVIATIONS, strict=True)):
        columns |= _with_edges(inside, pooled[:, :, place]) | {deviation: off[:, place]}
    likelihood = scores.negative_log_likelihood[..., chosen].mean(axis=-1)
    return columns | _with_edges(_SCORE, mean_over_episodes(likelihood))


def _with_edges(name, values):
    return dict(zip((name, f"{name}_low", f"{name}_high"), values, strict=True))


def mean_over_episodes(values):
    """Mean, and the interval of 95 per cent in which it lies if episodes are drawn again.

    Of values [episodes, ...] mean, low and high are [...]; without interval (nan) for one
    episode.

    Example:
        >>> [float(x) for x in mean_over_episodes(np.ones([4]))]
        [1.0, 1.0, 1.0]
    """
    values = np.asarray(values)
    mean = values.mean(axis=0)
    if len(values) < 2:
        return mean, np.full_like(mean, np.nan), np.full_like(mean, np.nan)
    drawn = draw_seeds(np.random.default_rng(0), _REPETITIONS, len(values))
    counts = np.stack([np.bincount(row, minlength=len(values)) for row in drawn])
    # a product: the values of every repetition would take gigabytes
    means = np.tensordot(values, counts, axes=([0], [1])) / len(values)
    return mean, *edges(means, confidence=0.95)

"""What a spread is worth: is it large where the model errs and where it has never been?

Of each agent step of episodes that were not trained on:

    epistemic = sqrt(mean over d of variance over k of mean_kd)
    aleatoric = sqrt(mean over d, k of stddev_kd^2)
    error     = sqrt(mean over n of ((mean over k of o_kn - o_n) / stddev_n)^2)

where draw k of the weights predicts the next latent, mean and stddev, as strategies see
it; o_kn is what its mean decodes to, o_n what came, and stddev_n the likelihood's. A model
with certain weights has the aleatoric spread alone: what every model tells for nothing, so
what the epistemic one has to beat.

The regions of the task are the cells of its grid in `agents.study.insight.coverage`,
coordinates of the simulator that no model sees. A state is of an unvisited region where no
row of an episode that the run was trained on lies in its cell.

Source: Snoek et al., 2019, Can You Trust Your Model's Uncertainty?, for what comes from
elsewhere; Depeweg et al., 2018, for the two parts.
"""

from typing import NamedTuple

import numpy as np
import tensorflow as tf
from scipy import stats
from sklearn.metrics import roc_auc_score

from agents.study.insight.spread import as_batch, predict_each_step
from agents.study.statistics import interval_over_parts
from agents.system.seeds import fold

SPREADS = ("epistemic", "aleatoric")
_AGREE = 1e-5  # latents differ by less from rounding alone
VISITS = (0, 1, 10, 100, 1000)  # the least rows of training in the cells of a class


class Steps(NamedTuple):
    """What is known of the T agent steps of an episode, [T] each."""

    epistemic: np.ndarray  # spread of the draws, of the next latent
    aleatoric: np.ndarray  # spread that each draw expects
    error: np.ndarray  # of the next observation, in stddevs of the likelihood
    visits: np.ndarray  # rows of training in the cell of the state; -1: there is no grid


def look(model, episodes, coverage, seed):
    """Predicts every step of episodes from the step before.

    Args:
        model: `agents.planet.model.world_model.WorldModel`.
        episodes: not trained on, see `agents.episodes.layout`.
        coverage: `agents.study.insight.coverage.Coverage` of what was trained on, or None.
        seed: [2].

    Returns:
        List of `Steps`, one for each episode.
    """
    stddev = model.observation_stddev
    found = []
    for number, episode in enumerate(episodes):
        own = fold(seed, number)
        expected = predict_each_step(model, as_batch(episode), fold(own, 0))
        came = model.observed(episode["observation"][1:], fold(own, 1))
        mean = tf.reduce_mean(model.expected_observation(expected.features[:, 0]), 0)
        spread = tf.math.reduce_variance(expected.mean[:, 0], 0)
        noise = tf.reduce_mean(tf.square(expected.stddev[:, 0]), 0)
        squares = (spread, noise, tf.square((mean - came) / stddev))
        visits = coverage.visits(episode) if coverage else np.full(len(came) + 1, -1)
        found.append(Steps(*(_root_mean(each) for each in squares), visits[:-1]))
    return found


def _root_mean(squares):
    """[T, ...] -> [T]."""
    return np.sqrt(np.mean(squares, axis=tuple(range(1, squares.shape.rank))))


def measure(steps, spread):
    """What one of the spreads is worth.

    Spread and error may both be larger under some actions than under others, or one the
    more and the other the less, so that their correlation over all steps tells of the
    actions alone. Within steps of one kind of actions it tells of the steps.

    Args:
        steps: dict of a kind of actions -> list of `Steps`.
        spread: one of `SPREADS`.

    Returns:
        Dicts of a `measure`, its `value`, the interval of 95 per cent over episodes of each
        kind, `low` and `high`, nan where they are not known, and the number of `steps` that
        it is of: `rank_correlation` with the error (Spearman) over all steps and, where
        there are several kinds, `rank_correlation_<kind>` over those of each; `auroc` of
        telling states of unvisited regions; `spread_<least>`, the median where a cell
        had that many visits or more, up to the next of `VISITS`; and `exponent`, a of the
        fit spread = c visits^-a, 1 / 2 for a posterior to which every visit is news. Empty
        where all draws agree.
    """
    kinds = {
        kind: [np.stack([getattr(s, spread), s.error, s.visits]) for s in some]
        for kind, some in steps.items()
    }
    tables = list(kinds.values())
    pooled = np.concatenate([table for some in tables for table in some], axis=1)
    if pooled[0].max() < _AGREE:
        return []
    found = [_measure("rank_correlation", rank_correlation, tables)]
    if len(kinds) > 1:
        found += [
            _measure(f"rank_correlation_{kind}", rank_correlation, [some])
            for kind, some in kinds.items()
        ]
    if pooled[2].min() < 0:
        return found
    found.append(_measure("auroc", auroc, tables))
    for least, beyond in zip(VISITS, (*VISITS[1:], np.inf), strict=True):
        chosen = _of_visits(tables, least, beyond)
        found.append(_measure(f"spread_{least}", _median, chosen))
    return [*found, _measure("exponent", exponent, _of_visits(tables, 1, np.inf))]


def _of_visits(tables, least, beyond):
    """Tables of the steps whose cells had so many visits, a list for each kind."""
    return [[t[:, (t[2] >= least) & (t[2] < beyond)] for t in some] for some in tables]


def _measure(name, statistic, tables):
    value, low, high = interval_over_parts(statistic, tables)
    steps = sum(table.shape[1] for some in tables for table in some)
    return {"measure": name, "value": value, "low": low, "high": high, "steps": steps}


def rank_correlation(table):
    """Spearman's, of spread and error.

    Example:
        >>> rank_correlation(np.array([[1.0, 2.0, 3.0], [0.1, 0.2, 9.0], [0, 0, 0]]))
        1.0
    """
    spread, error, _ = table
    if len(spread) < 2 or np.ptp(spread) == 0 or np.ptp(error) == 0:
        return np.nan
    return float(np.corrcoef(stats.rankdata(spread), stats.rankdata(error))[0, 1])


def auroc(table):
    """The chance that a state of an unvisited region has more spread than a visited one.

    Example:
        >>> auroc(np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [7, 0, 0]]))
        1.0
    """
    spread, _, visits = table
    unvisited = visits == 0
    if unvisited.all() or not unvisited.any():
        return np.nan
    return float(roc_auc_score(unvisited, spread))


def exponent(table):
    """a, of the least squares fit of log spread = log c - a log visits; visits above 0.

    Example:
        >>> round(exponent(np.array([[1.0, 0.5, 0.25], [0, 0, 0], [1, 4, 16]])), 6)
        0.5
    """
    spread, _, visits = table
    if len(spread) < 2 or np.ptp(visits) == 0:
        return np.nan
    return float(-np.polyfit(np.log(visits), np.log(spread), 1)[0])


def _median(table):
    return float(np.median(table[0])) if table.shape[1] else np.nan

"""Intervals of statistics over seeds, by drawing seeds again."""

import numpy as np


def interval(scores, statistic, confidence=0.95, repetitions=50_000, seed=0):
    """Percentile interval of a statistic; the seeds of each task are drawn anew.

    Stratified: task t has n_t seeds in every repetition, drawn with replacement from its
    own. A seed's score is the mean of its evaluation episodes: these share one agent, and
    the differences between seeds hold their noise already.

    Source: Agarwal et al., 2021, Deep Reinforcement Learning at the Edge of the
    Statistical Precipice, section 4.1.

    Args:
        scores: list with an array for each task, [..., seeds]; leading axes, such as
            points of a curve, are alike for all and keep the seeds of a repetition.
        statistic: function of [..., values] that reduces the last axis, on which the
            scores of all tasks lie.
        confidence: share of repetitions inside.
        repetitions: more make the edges steadier, not the interval narrower.
        seed: of the draws.

    Returns:
        (lower, upper), each [...]. They are values of the statistic, so that infinite ones
        are right; nan where a task has a single seed, which says nothing of the others.

    Example:
        >>> from agents.study.statistics import median
        >>> lower, upper = interval([np.array([1.0, 2.0, 3.0, 4.0, 5.0])], median)
        >>> float(lower), float(upper)
        (1.0, 5.0)
    """
    scores = [np.asarray(values, float) for values in scores]
    if min(values.shape[-1] for values in scores) < 2:
        nothing = np.full(scores[0].shape[:-1], np.nan)
        return nothing, nothing
    random = np.random.default_rng(seed)
    drawn = [
        values[..., draw_seeds(random, repetitions, values.shape[-1])] for values in scores
    ]
    return edges(statistic(np.concatenate(drawn, axis=-1)), confidence)


def interval_over_parts(statistic, kinds, confidence=0.95, repetitions=500, seed=0):
    """A statistic of what parts such as episodes have together, and its interval.

    The parts are drawn anew, whole, because what is in one is alike; as many of each kind
    as there are, because that was not left to chance. Draws of which the statistic is nan
    are left out.

    Source: Davison and Hinkley, 1997, Bootstrap Methods and their Application, sections
    3.2 (strata) and 3.8.

    Args:
        statistic: function from [..., values] to a number.
        kinds: list with a list of parts for each kind, arrays [..., values].
        confidence: share of repetitions inside.
        repetitions: as of `interval`.
        seed: of the draws.

    Returns:
        The statistic, lower and upper edge; nan for edges that are not known, as where
        there is one part of a kind.

    Example:
        >>> [float(x) for x in interval_over_parts(np.mean, [[np.ones(2), np.ones(3)]])]
        [1.0, 1.0, 1.0]
    """
    parts = [part for some in kinds for part in some]
    value = statistic(np.concatenate(parts, axis=-1))
    if min(map(len, kinds)) < 2 or np.isnan(value):
        return value, np.nan, np.nan
    random = np.random.default_rng(seed)
    firsts = np.cumsum([0, *map(len, kinds[:-1])])
    drawn = [
        first + draw_seeds(random, repetitions, len(some))
        for first, some in zip(firsts, kinds, strict=True)
    ]
    found = np.array(
        [
            statistic(np.concatenate([parts[n] for n in row], axis=-1))
            for row in np.concatenate(drawn, axis=1)
        ]
    )
    known = found[~np.isnan(found)]
    return value, *(edges(known, confidence) if known.size else (np.nan, np.nan))


def draw_seeds(random, repetitions, seeds):
    """Indices of seeds drawn with replacement, [repetitions, seeds]."""
    return random.integers(seeds, size=[repetitions, seeds])


def edges(values, confidence):
    """The middle `confidence` of the last axis: two of its values, the outer where between.

    Example:
        >>> [float(edge) for edge in edges(np.arange(101.0), 0.9)]
        [5.0, 95.0]
    """
    ordered = np.sort(values, axis=-1)
    last, tail = values.shape[-1] - 1, (1 - confidence) / 2
    # the rounding keeps 0.05 * 100 from being 5.000000000000004
    lower = int(np.floor(round(tail * last, 9)))
    return ordered[..., lower], ordered[..., last - lower]

"""Statistics whose unit is the seed: summaries, intervals by bootstrap, curves."""

import numpy as np

__all__ = [
    "align",
    "interquartile_mean",
    "interval",
    "mean",
    "median",
    "performance_profile",
    "probability_of_improvement",
    "sample_efficiency",
    "spread",
]


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


def interval_over_parts(statistic, kinds, repetitions=500):
    """A statistic of what parts such as episodes have together, and its interval.

    The parts are drawn anew, whole, because what is in one is alike; as many of each kind
    as there are, because that was not left to chance. Draws of which the statistic is nan
    are left out. Edges are nan where they are not known, as where there is one part of a
    kind. A part is [..., values], which the statistic makes a number of.

    Source: Davison and Hinkley, 1997, Bootstrap Methods and their Application, sections
    3.2 (strata) and 3.8.

    Example:
        >>> [float(x) for x in interval_over_parts(np.mean, [[np.ones(2), np.ones(3)]])]
        [1.0, 1.0, 1.0]
    """
    parts = [part for some in kinds for part in some]
    value = statistic(np.concatenate(parts, axis=-1))
    if min(map(len, kinds)) < 2 or np.isnan(value):
        return value, np.nan, np.nan
    random = np.random.default_rng(0)
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
    return value, *(edges(known, 0.95) if known.size else (np.nan, np.nan))


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


def probability_of_improvement(scores, others, confidence=0.95, repetitions=50_000, seed=0):
    """The chance that a run scores more than another group's run of the same task.

        P(X > Y) = mean over tasks, i, j of 1 if x_i > y_j, 1/2 if x_i = y_j, else 0

    which for each task is the U of Mann and Whitney over n m. It says how sure, not how
    large an improvement is.

    Source: Agarwal et al., 2021, Deep Reinforcement Learning at the Edge of the
    Statistical Precipice, section 4.3; Mann and Whitney, 1947.

    Args:
        scores: list with an array for each task, [seeds].
        others: the same for the other group; its seeds may be fewer or more.
        confidence: share of the bootstrap's repetitions inside of the interval.
        repetitions: of the bootstrap, which draws the seeds of both groups anew.
        seed: of the draws.

    Returns:
        (probability, lower, upper); nan edges where a task has a single seed.

    Example:
        >>> probability_of_improvement([[1.0, 3.0]], [[2.0]])[0]
        0.5
    """
    wins = [_wins(ours, theirs) for ours, theirs in zip(scores, others, strict=True)]
    probability = float(np.mean([table.mean() for table in wins]))
    if min(min(table.shape) for table in wins) < 2:
        return probability, np.nan, np.nan
    random = np.random.default_rng(seed)
    drawn = [_draw(random, table, repetitions) for table in wins]
    return probability, *map(float, edges(np.mean(drawn, axis=0), confidence))


def _wins(ours, theirs):
    """1, 1/2 or 0 for each pair, [our seeds, their seeds]."""
    ours, theirs = np.asarray(ours)[:, np.newaxis], np.asarray(theirs)
    return (ours > theirs) + 0.5 * (ours == theirs)


def _draw(random, table, repetitions):
    """The probability in each repetition, [repetitions]."""
    ours, theirs = (draw_seeds(random, repetitions, count) for count in table.shape)
    return table[ours[:, :, np.newaxis], theirs[:, np.newaxis, :]].mean(axis=(1, 2))


def performance_profile(scores, thresholds, repetitions=2000, **settings):
    """The share of runs that score more than each threshold, with its interval.

        profile(tau) = 1 / runs * number of runs with score > tau

    A group whose profile lies above another's everywhere is better at every quantile.

    Source: Agarwal et al., 2021, Deep Reinforcement Learning at the Edge of the
    Statistical Precipice, section 4.2 (run-score distributions).

    Args:
        scores: list with an array for each task, [seeds].
        thresholds: [points].
        repetitions: of the bootstrap.
        **settings: further ones of `interval`.

    Returns:
        (share, lower, upper), each [points].

    Example:
        >>> share, *_ = performance_profile([[0.2, 0.5], [0.9, 1.0]], [0.0, 0.5, 1.0])
        >>> share.tolist()
        [1.0, 0.5, 0.0]
    """
    thresholds = np.asarray(thresholds, float)[:, np.newaxis]
    above = [np.asarray(values) > thresholds for values in scores]  # [points, seeds]
    edges = interval(above, mean, repetitions=repetitions, **settings)
    return mean(np.concatenate(above, axis=-1)), *edges

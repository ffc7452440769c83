"""Split conformal prediction: intervals and sets that contain the truth as often as stated.

The guarantee makes no assumption about the model. If the n calibration examples and a new
one are exchangeable, such as drawn independently from one source, and the model was not
trained on any of them,

    level <= P(truth in interval or set) <= level + 1 / (n + 1)

on average over calibration and new examples. The right side needs scores without ties.
Under a shift of the data, there is no guarantee.

Source: Vovk et al., 2005, Algorithmic Learning in a Random World; Angelopoulos and Bates,
2021, A Gentle Introduction to Conformal Prediction, section 1 and appendix D.
"""

import math

import numpy as np
import tensorflow as tf

from bayes_rl import checks
from bayes_rl.uncertainty import arguments

_ROUNDING = 1e-9  # of (n + 1) * level
_SCORES = ("threshold", "adaptive")


def conformal_intervals(
    targets, means, new_means, stddevs=None, new_stddevs=None, level=0.9
):
    """Intervals of outcomes, of the width that held-out examples need.

        new mean -+ q * new stddev,  q = score number ceil((n + 1) level) of the sorted
        scores |target - mean| / stddev

    They contain the truth with a probability of at least `level`, see the module. With
    fewer than level / (1 - level) examples, q and the intervals are infinite.

    Source: Angelopoulos and Bates, 2021, A Gentle Introduction to Conformal Prediction,
    section 2.3.2; Lei et al., 2018, Distribution-Free Predictive Inference for Regression,
    section 5.2.

    Args:
        targets: [n, ...], of examples that the model was not trained on. Of several
            outcomes of an example each has a q of its own, and the guarantee is for each.
        means: [n, ...], predicted for them.
        new_means: [N, ...], predicted for new inputs.
        stddevs: [n, ...], predicted spread, above 0; None for intervals of one width.
        new_stddevs: [N, ...], likewise, of new inputs.
        level: probability, between 0 and 1.

    Returns:
        Pair of low and high ends, [N, ...] each, in units of the outcome.

    Raises:
        ValueError: `level` is not between 0 and 1, shapes differ, a stddev is not above 0,
            or those of one side are missing.

    Example:
        >>> low, high = conformal_intervals([1.0, 2.0, 4.0], [0.0, 0.0, 0.0], [10.0],
        ...     level=0.5)
        >>> float(low[0]), float(high[0])
        (8.0, 12.0)
    """
    if (stddevs is None) != (new_stddevs is None):
        raise ValueError("stddevs and new_stddevs must be given both, or neither")
    targets, means, new_means = (
        np.asarray(x, np.float64) for x in (targets, means, new_means)
    )
    spread, new_spread = np.ones_like(means), np.ones_like(new_means)
    if stddevs is not None:
        spread, new_spread = (np.asarray(x, np.float64) for x in (stddevs, new_stddevs))
    _check_shapes(targets=targets, means=means, stddevs=spread)
    _check_shapes(new_means=new_means, new_stddevs=new_spread)
    if not (np.all(spread > 0.0) and np.all(new_spread > 0.0)):
        raise ValueError("stddevs must be above 0")
    width = _quantile(np.abs(targets - means) / spread, level) * new_spread
    return new_means - width, new_means + width


def conformal_sets(
    labels, probabilities, new_probabilities, level=0.9, score="threshold", seed=0
):
    """Sets of classes, of the size that held-out examples need.

        set = classes whose score is at most q, score number ceil((n + 1) level) of the
        sorted scores of the labels

    A score is 1 - probability ("threshold": the smallest sets on average, which may be
    empty), or the probability of all likelier classes plus a random share of its own
    ("adaptive": larger where the model is less sure). They contain the truth with a
    probability of at least `level`, see the module. With fewer than level / (1 - level)
    examples, they have all classes.

    Source: Sadinle et al., 2019, Least Ambiguous Set-Valued Classifiers with Bounded Error
    Levels; Romano et al., 2020, Classification with Valid and Adaptive Coverage, section 2;
    Angelopoulos and Bates, 2021, A Gentle Introduction to Conformal Prediction, section
    2.1.

    Args:
        labels: [n] or [n, 1], int, of examples that the model was not trained on.
        probabilities: [n, classes], predicted for them, such as
            `bayes_rl.uncertainty.mean_probabilities` of draws; of a sigmoid [n, 1].
        new_probabilities: [N, classes], predicted for new inputs; of a sigmoid [N, 1].
        level: probability, between 0 and 1.
        score: "threshold" or "adaptive".
        seed: of the shares of "adaptive", as of `numpy.random.default_rng`.

    Returns:
        Bool [N, classes], whether a class is in the set.

    Raises:
        ValueError: `level` is not between 0 and 1, `score` is unknown, shapes differ, or
            there are labels of no class or numbers that are no probabilities.

    Example:
        >>> known = [[0.8, 0.2], [0.6, 0.4], [0.7, 0.3]]
        >>> conformal_sets([0, 0, 0], known, [[0.9, 0.1], [0.5, 0.5]], level=0.75)
        array([[ True, False],
               [False, False]])
    """
    checks.one_of(_SCORES, score=score)
    probabilities, new_probabilities = (
        arguments.with_classes(tf.constant(np.asarray(x, np.float64)))
        for x in (probabilities, new_probabilities)
    )
    labels, _ = arguments.labels_and_probabilities(labels, probabilities)
    _check_shapes(probabilities=probabilities[0], new_probabilities=new_probabilities[0])
    arguments.check_probabilities(new_probabilities)
    probabilities, new_probabilities = probabilities.numpy(), new_probabilities.numpy()
    if score == "threshold":
        scores, new_scores = 1.0 - probabilities, 1.0 - new_probabilities
    else:
        generator = np.random.default_rng(seed)
        scores, new_scores = (
            _adaptive(x, generator) for x in (probabilities, new_probabilities)
        )
    own = np.take_along_axis(scores, labels.numpy()[:, np.newaxis], axis=1)
    return new_scores <= _quantile(own[:, 0], level)


def _quantile(scores, level):
    """Of scores [n, ...] that number ceil((n + 1) level) of the sorted ones, [...]."""
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level}")
    number = math.ceil((len(scores) + 1) * level - _ROUNDING)
    if number > len(scores):
        return np.full(scores.shape[1:], np.inf)
    return np.sort(scores, axis=0)[number - 1]


def _adaptive(probabilities, generator):
    order = np.argsort(-probabilities, axis=1, kind="stable")
    falling = np.take_along_axis(probabilities, order, axis=1)
    shares = generator.random([len(probabilities), 1])
    scores = np.cumsum(falling, axis=1) - (1.0 - shares) * falling
    found = np.empty_like(scores)
    np.put_along_axis(found, order, scores, axis=1)
    return found


def _check_shapes(**arrays):
    shapes = {name: x.shape for name, x in arrays.items()}
    if len(set(shapes.values())) > 1:
        found = " and ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"shapes must be equal, got {found}")

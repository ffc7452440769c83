import numpy as np
import pytest

from bayes_rl.uncertainty import conformal_intervals, conformal_sets

SETS, COUNT, NEW, LEVEL = 200, 49, 200, 0.9


def check_covers(shares):
    """Mean coverage of data sets lies between the bounds, up to 3 standard errors."""
    error = 3.0 * np.std(shares) / np.sqrt(len(shares))
    assert LEVEL - error < np.mean(shares) < LEVEL + 1.0 / (COUNT + 1) + error


def regression(seed):
    generator = np.random.default_rng(seed)
    spread = generator.uniform(0.1, 3.0, [COUNT + NEW])
    means = generator.normal(size=[COUNT + NEW])
    # A wrong model: too narrow, biased, of another shape.
    targets = means + 0.3 + 2.0 * spread * generator.standard_t(3, [COUNT + NEW])
    return targets, means, spread


@pytest.mark.parametrize("is_scaled", [False, True])
def test_intervals_cover_as_often_as_they_say(is_scaled):
    shares = []
    for seed in range(SETS):
        targets, means, spread = regression(seed)
        spreads = (spread[:COUNT], spread[COUNT:]) if is_scaled else ()
        low, high = conformal_intervals(
            targets[:COUNT], means[:COUNT], means[COUNT:], *spreads, level=LEVEL
        )
        shares.append(np.mean((low <= targets[COUNT:]) & (targets[COUNT:] <= high)))
    check_covers(shares)


@pytest.mark.parametrize("score", ["threshold", "adaptive"])
def test_sets_cover_as_often_as_they_say(score):
    shares = []
    for seed in range(SETS):
        generator = np.random.default_rng(seed)
        probabilities = generator.dirichlet(np.ones(5), COUNT + NEW)
        wrong = probabilities**3 / np.sum(probabilities**3, axis=1, keepdims=True)
        chances = generator.random([COUNT + NEW, 1])
        labels = (chances > np.cumsum(probabilities, axis=1)).sum(axis=1)
        found = conformal_sets(
            labels[:COUNT], wrong[:COUNT], wrong[COUNT:], LEVEL, score, seed
        )
        shares.append(np.mean(found[range(NEW), labels[COUNT:]]))
    check_covers(shares)


def test_adaptive_sets_hold_the_likeliest_classes():
    probabilities = np.random.default_rng(0).dirichlet(np.ones(4), 100)
    found = conformal_sets(
        np.argmax(probabilities, axis=1), probabilities, probabilities, 0.95, "adaptive"
    )
    for inside, own in zip(found, probabilities, strict=True):
        if inside.any() and not inside.all():
            assert own[inside].min() >= own[~inside].max()


def test_too_few_examples_give_everything():
    low, high = conformal_intervals([1.0] * 8, [0.0] * 8, [0.0], level=0.9)
    assert np.all(np.isinf([low, high]))
    assert conformal_sets([0] * 8, [[0.9, 0.1]] * 8, [[0.9, 0.1]], level=0.9).all()
    low, high = conformal_intervals([1.0] * 9, [0.0] * 9, [0.0], level=0.9)
    assert (low, high) == (-1.0, 1.0)


def test_a_sigmoid_has_two_classes():
    known, new = np.array([[0.8], [0.4], [0.3]]), np.array([[0.9], [0.5]])
    found = conformal_sets([[1], [0], [0]], known, new, level=0.7)
    both = [np.concatenate([1.0 - x, x], axis=1) for x in (known, new)]
    np.testing.assert_array_equal(found, conformal_sets([1, 0, 0], *both, level=0.7))
    assert found.shape == (2, 2)


def test_outcomes_have_widths_of_their_own():
    targets = np.stack([np.arange(9.0), 10.0 * np.arange(9.0)], axis=1)
    low, high = conformal_intervals(targets, np.zeros([9, 2]), np.zeros([1, 2]), level=0.5)
    np.testing.assert_array_equal(high, [[4.0, 40.0]])
    np.testing.assert_array_equal(low, -high)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: conformal_intervals([1.0], [1.0], [1.0], level=1),
            "level must be between",
        ),
        (
            lambda: conformal_intervals([1.0], [1.0, 2.0], [1.0]),
            r"targets \(1,\) and means",
        ),
        (lambda: conformal_intervals([1.0], [1.0], [1.0], [1.0]), "both, or neither"),
        (
            lambda: conformal_intervals([1.0], [1.0], [1.0], [0.0], [1.0]),
            "stddevs must be above 0",
        ),
        (
            lambda: conformal_sets([0], [[1.0]], [[1.0]], score="best"),
            "must be one of 'threshold', 'adaptive', got 'best'",
        ),
        (
            lambda: conformal_sets([0, 1], [[1.0, 0.0]], [[1.0, 0.0]]),
            r"labels of probabilities \(1, 2\) must have shape \(1,\), got \(2,\)",
        ),
        (
            lambda: conformal_sets([-1], [[0.4, 0.6]], [[0.5, 0.5]]),
            "labels must be whole numbers from 0 to 1, got -1",
        ),
        (
            lambda: conformal_sets([0.5], [[0.4, 0.6]], [[0.5, 0.5]]),
            "labels must be whole numbers from 0 to 1, got 0.5",
        ),
        (
            lambda: conformal_sets([0], [[0.4, 0.6]], [[5.0, 1.0]]),
            "probabilities must be between 0 and 1",
        ),
    ],
)
def test_what_does_not_fit_is_an_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()

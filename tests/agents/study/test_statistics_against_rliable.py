"""Our statistics against the numbers of rliable 1.2.0.

In an environment of its own, `pip install rliable==1.2.0 'arch<8' 'pandas<2.3'`, and with
SCORES and OTHERS as below:

    import numpy as np
    from rliable import library, metrics

    def run(function, scores):
        random = np.random.RandomState(0)
        print(library.get_interval_estimates(
            {"a": scores}, function, reps=50000, random_state=random))

    run(lambda x: np.array([metrics.aggregate_iqm(x)]), SCORES)
    run(lambda x: np.array([metrics.aggregate_mean(x)]), SCORES)
    run(lambda x, y: np.array([metrics.probability_of_improvement(x, y)]), (SCORES, OTHERS))
    print(library.create_performance_profile(
        {"a": SCORES}, np.array([0.2, 0.4, 0.42, 0.8]), reps=50000))

Points are equal; edges of intervals come from other random numbers. The probability of
improvement has steps of 1 / (2 * 3 tasks * 5 * 4 pairs), and its edges differ by one.
"""

import numpy as np
import pytest

from agents.study import statistics

# [seeds, tasks]
SCORES = np.array(
    [
        [0.31, 0.80, 0.42],
        [0.47, 0.92, 0.38],
        [0.12, 0.85, 0.55],
        [0.66, 0.81, 0.42],
        [0.29, 0.97, 0.61],
    ]
)
OTHERS = np.array(
    [[0.22, 0.80, 0.35], [0.35, 0.71, 0.30], [0.31, 0.90, 0.42], [0.44, 0.66, 0.51]]
)
MONTE_CARLO = 0.004  # of an edge: 1.6 per cent of the interval's width


@pytest.mark.parametrize(
    ("statistic", "point", "edges"),
    [
        (statistics.interquartile_mean, 0.568889, [0.4944, 0.64]),
        (lambda values: np.mean(values, axis=-1), 0.572, [0.512, 0.6353]),
    ],
)
def test_summary_and_its_interval(statistic, point, edges):
    assert statistic(SCORES.ravel()) == pytest.approx(point, abs=1e-6)
    found = statistics.interval(list(SCORES.T), statistic)
    np.testing.assert_allclose(found, edges, atol=MONTE_CARLO)


def test_probability_of_improvement():
    point, *edges = statistics.probability_of_improvement(list(SCORES.T), list(OTHERS.T))
    assert point == pytest.approx(0.7)
    np.testing.assert_allclose(edges, [0.4917, 0.8833], atol=1 / 120 + 1e-4)


def test_performance_profile():
    share, *edges = statistics.performance_profile(
        list(SCORES.T), [0.2, 0.4, 0.42, 0.8], repetitions=50_000
    )
    np.testing.assert_allclose(share, [14 / 15, 11 / 15, 9 / 15, 4 / 15])
    lower, upper = [0.8, 0.5333, 0.4, 0.1333], [1.0, 0.9333, 0.8, 0.3333]
    np.testing.assert_allclose(edges, [lower, upper], atol=1e-4)

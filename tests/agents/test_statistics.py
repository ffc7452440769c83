"""Tests of agents.statistics."""

import numpy as np

from agents import statistics


def test_seeds_and_folders_do_not_make_another_group():
    configs = [
        {"seed": 0, "logdir": "a", "planner": {"horizon": 12}},
        {"seed": 1, "logdir": "b", "planner": {"horizon": 12}},
        {"seed": 0, "logdir": "c", "planner": {"horizon": 8}},
    ]
    assert statistics.group(configs) == [[0, 1], [2]]


def test_labels_name_what_differs_classes_first():
    configs = [
        {"kl_weight": 0.1, "task": "x", "explore": {"_target_": "agents.explore.Greedy"}},
        {
            "kl_weight": 1.0,
            "task": "x",
            "explore": {"_target_": "agents.explore.Gain", "beta": 2},
        },
    ]
    assert statistics.labels(configs) == [
        "explore=Greedy, kl_weight=0.1",
        "explore=Gain, kl_weight=1.0, explore.beta=2",
    ]


def test_one_group_needs_no_label():
    assert statistics.labels([{"seed": 3}]) == [""]


def test_many_differences_are_counted_and_labels_stay_distinct():
    configs = [{**dict.fromkeys("abcd", 0), "e": e, "f": e} for e in (0, 1)]
    configs.append(dict.fromkeys("abcd", 1))
    texts = statistics.labels(configs, most=2)
    assert texts[0] == "a=0, b=0, and 4 more (1)"
    assert len(set(texts)) == 3


def test_align_keeps_the_last_value_where_all_seeds_are():
    steps, values = statistics.align([([1, 3, 5], [1, 3, 5]), ([2, 3, 9], [20, 30, 90])])
    assert steps.tolist() == [2, 3, 5]
    assert values.tolist() == [[1, 20], [3, 30], [5, 30]]


def test_seeds_that_never_meet_give_no_points():
    steps, values = statistics.align([([1, 2], np.ones([2, 3])), ([5], np.ones([1, 3]))])
    assert steps.size == 0
    assert all(edge.shape == (0,) for edge in statistics.spread(values))


def test_spread_is_over_seeds_and_episodes_without_nan():
    values = np.arange(202.0).reshape(1, 2, 101)
    median, low, high = statistics.spread(values)
    assert median == [100.5]
    np.testing.assert_allclose([low[0], high[0]], [0.05 * 201, 0.95 * 201])
    values[0, 1] = np.nan
    assert statistics.spread(values)[0] == [50.0]

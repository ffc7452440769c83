import numpy as np
import pytest

from envs.actions import Categories, make_actions


def test_actions_without_bounds_are_told_with_what_they_stand_for():
    low = np.array([5.0, -np.inf, -2e6, -1e10])
    high = np.array([np.inf, np.inf, 5e6, 1e10])
    said = make_actions(low, high).without_bounds()
    assert said == (
        "without bounds: -1 and 1 stand for 5 and 7 in entry 0, -1 and 1 in entries 1, 3 "
        "(action_bound sets it)"
    )


def test_the_range_of_actions_without_bounds_is_asked_for_and_others_keep_theirs():
    low = np.array([-np.inf, 5.0, -np.inf, -2.0])
    high = np.array([np.inf, np.inf, 5.0, 2.0])
    actions = make_actions(low, high, bound=30.0)
    np.testing.assert_array_equal(actions.low, [-30.0, 5.0, -55.0, -2.0])
    np.testing.assert_array_equal(actions.high, [30.0, 65.0, 5.0, 2.0])


def test_bounded_actions_have_nothing_to_tell():
    assert make_actions(np.zeros(2), np.full(2, 2e6)).without_bounds() == ""


def test_infinite_bounds_of_a_task_of_float32_are_none():
    huge = np.full(1, np.finfo(np.float32).max, np.float32)
    actions = make_actions(-huge, huge)
    assert (actions.low, actions.high) == (-1.0, 1.0)


CHOICES = Categories((2, 3), np.array([0, 5]))


def test_one_hot_vectors_go_to_the_numbers_of_categories_and_nothing_is_lost():
    for first in range(2):
        for second in range(3):
            vector = np.concatenate([np.eye(2)[first], np.eye(3)[second]])
            assert CHOICES.scale(CHOICES.checked(vector)).tolist() == [first, 5 + second]


def test_uniform_numbers_give_uniform_categories():
    uniform = np.random.default_rng(0).uniform(size=[10_000, 5]).astype(np.float32)
    found = CHOICES.nearest(uniform)
    assert found.dtype == np.float32
    expected = np.array([1 / 2] * 2 + [1 / 3] * 3)
    error = np.sqrt(expected * (1 - expected) / 10_000)
    assert np.all(np.abs(found.mean(0) - expected) < 4 * error)


@pytest.mark.parametrize("action", [np.zeros(5), np.full(5, 0.5), np.ones(5)])
def test_vector_that_is_not_one_hot_is_refused(action):
    with pytest.raises(ValueError, match=r"must be one-hot, with a single 1 .*\(2, 3\)"):
        CHOICES.checked(action)

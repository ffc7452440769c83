import numpy as np

from envs.actions import make_actions


def test_actions_without_bounds_are_told_with_what_they_stand_for():
    low = np.array([5.0, -np.inf, -2e6, -1e10])
    high = np.array([np.inf, np.inf, 5e6, 1e10])
    said = make_actions(low, high).without_bounds()
    assert (
        said == "-1 to 1 stands for 5 to 7 in entry 0, -1 to 1 in entries 1, 3: no bounds"
    )


def test_bounded_actions_have_nothing_to_tell():
    assert make_actions(np.zeros(2), np.full(2, 2e6)).without_bounds() == ""


def test_infinite_bounds_of_a_task_of_float32_are_none():
    huge = np.full(1, np.finfo(np.float32).max, np.float32)
    actions = make_actions(-huge, huge)
    assert (actions.low, actions.high) == (-1.0, 1.0)

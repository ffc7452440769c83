"""Tests of agents.training.passing: what adds up over episodes of any length."""

import numpy as np
import pytest

from agents.training.passing import Passed


def run(lengths):
    ends = np.cumsum([0, *lengths]).tolist()
    return [Passed(*pair) for pair in zip(ends[:-1], ends[1:], strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize("per_step", [0.3, 0.29, 0.1, 1.0, 52.0, 1 / 3, 300 / 187.3])
@pytest.mark.parametrize("length", [1, 5, 7, 1000])
def test_no_part_of_an_update_is_lost_between_episodes(per_step, length):
    updates = [each.updates(per_step) for each in run([length] * 4000)]
    assert sum(updates) == pytest.approx(4000 * length * per_step, abs=1)
    assert max(updates) - min(updates) <= 1


def test_episodes_of_a_thousand_steps_have_the_updates_of_before():
    for per_step, updates in ((0.3, 300), (0.1, 100), (0.25, 250), (0.6, 600)):
        assert {each.updates(per_step) for each in run([1000] * 1000)} == {updates}


def test_a_falling_task_learns_as_often_as_one_that_does_not():
    falls, stands = run([5] * 2000), run([1000] * 10)
    totals = [sum(each.updates(0.3) for each in some) for some in (falls, stands)]
    assert totals == [3000, 3000]


def test_each_multiple_is_crossed_once_and_zero_is_never():
    passed = run(np.random.default_rng(0).integers(1, 40, 500))
    assert sum(each.crosses(100) for each in passed) == passed[-1].after // 100
    assert not any(each.crosses(0) for each in passed)

"""Tests of agents.training.logged.arrays and checks: what is logged, and what is wrong."""

import re

import numpy as np
import pytest

from agents.episodes.layout import check_episode
from agents.system.errors import UserError
from agents.training.logged import checks
from agents.training.logged.arrays import episodes_of

STEPS = 6


def steps(**changes):
    """Two episodes of 4 and 2 actions; what is None is left out."""
    count = np.arange(STEPS)
    arrays = {
        "observations": np.stack([count, -count], 1).astype(float),
        "actions": np.linspace(-1, 1, STEPS)[:, None],
        "rewards": 10.0 * count,
        "terminals": count == 3,
        "timeouts": count == 5,
        "next_observations": np.stack([count + 1, -count - 1], 1).astype(float),
    }
    arrays |= changes
    return {name: array for name, array in arrays.items() if array is not None}


def test_steps_are_split_into_episodes_where_each_ends():
    first, second = episodes_of(steps(), "a.npz")
    for episode in (first, second):
        check_episode(episode)
    assert first["observation"][:, 0].tolist() == [0, 1, 2, 3, 4]
    assert first["reward"].tolist() == [0, 0, 10, 20, 30]  # row 0 has no action
    np.testing.assert_allclose(first["action"][:, 0], [0, -1, -0.6, -0.2, 0.2], atol=1e-6)
    assert first["is_terminal"].tolist() == [False] * 4 + [True]
    assert second["observation"][:, 0].tolist() == [4, 5, 6]
    assert not second["is_terminal"].any()  # a time limit is no end


def test_an_action_that_led_nobody_knows_where_is_left_out():
    timed = {"terminals": None, "next_observations": None}
    (episode,) = episodes_of(steps(**timed), "a.npz")
    assert episode["reward"].tolist() == [0, 0, 10, 20, 30, 40]
    longer = np.zeros([STEPS + 1, 2])
    (episode,) = episodes_of(steps(**timed, observations=longer), "a.npz")
    assert len(episode["reward"]) == STEPS + 1


def test_actions_are_scaled_by_the_bounds_of_the_file_or_those_of_the_task():
    actions = np.array([[1.0], [2.0], [3.0], [1.0], [2.0], [3.0]])
    given = steps(actions=actions, action_low=[1.0], action_high=[3.0])
    for bounds in (None, (1.0, 3.0, "as the task says")):
        first, _ = episodes_of(given, "a.npz", bounds)
        assert first["action"][1:, 0].tolist() == [-1, 0, 1, -1]
    message = "a.npz: action_low is .1..; must be -9.0, as the task says"
    with pytest.raises(UserError, match=message):
        episodes_of(given, "a.npz", bounds=(-9.0, 9.0, "as the task says"))
    del given["action_low"], given["action_high"]
    first, _ = episodes_of(given, "a.npz", bounds=(-4.0, 4.0, "as the task says"))
    assert first["action"][1:, 0].tolist() == [0.25, 0.5, 0.75, 0.25]


WRONG = [
    ({"rewards": None}, "rewards is missing among observations, actions, terminals, timeo"),
    ({"actions": np.zeros(STEPS)}, "actions has shape (6,); must be [steps, numbers], and"),
    ({"rewards": np.zeros(5)}, "rewards has 5 rows; must have 6, as actions"),
    (
        {"observations": np.zeros([4, 2])},
        "observations has 4 rows; must have 6 or 7, as",
    ),
    ({"rewards": np.array(["a"] * STEPS)}, "rewards is of <U1; must be numbers"),
    (
        {"rewards": np.where(np.arange(STEPS) == 2, np.nan, 0)},
        "rewards has nan in row 2; must be finite, and at most 1e+15 in size",
    ),
    (
        {"observations": np.full([STEPS, 2], 1e20)},
        "observations has 1e+20 in row 0; must be finite, and",
    ),
    (
        {"actions": np.full([STEPS, 1], 2.0)},
        "actions has 2 in row 0; must be from -1 to 1, since the file has no act",
    ),
    (
        {"action_low": [0.0, 0.0], "action_high": [1.0, 1.0]},
        "actions has 1 numbers in a row; must have 2, as action_low and action_hi",
    ),
    ({"action_low": [0.0]}, "action_high is missing among"),
    (
        {"action_low": ["a"], "action_high": [1.0]},
        "action_low is of <U1; must be numbers",
    ),
    (
        {"next_observations": None},
        "terminals is true in row 3, but what was seen after it is missing; must come with",
    ),
    (
        {"next_observations": np.zeros([STEPS, 3])},
        "next_observations has shape (6, 3); must be like observations, (6, 2)",
    ),
    (
        {"observations": np.zeros([STEPS, 8, 8, 3])},
        "observations is float32 of shape (6, 8, 8, 3); must be [steps, numbers], or uint8",
    ),
    ({"is_first": np.arange(STEPS) == 0}, "observation is missing among"),
]


@pytest.mark.parametrize(("changes", "message"), WRONG)
def test_what_is_wrong_is_told_in_one_line_with_file_and_entry(changes, message):
    with pytest.raises(UserError, match=re.escape(f"a.npz: {message}")) as caught:
        episodes_of(steps(**changes), "a.npz")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["is_first", "is_terminal"])
def test_words_in_an_episode_of_a_run_are_told_as_well(name):
    episode = {"observation": np.zeros([3, 2]), "action": np.zeros([3, 1])}
    episode |= {"reward": np.zeros(3), "is_first": np.arange(3) == 0}
    episode |= {"is_terminal": np.zeros(3, bool), name: np.array(["a"] * 3)}
    with pytest.raises(UserError, match=f"a.npz: {name} is of <U1; must be numbers"):
        episodes_of(episode, "a.npz")


def test_categories_are_one_hot():
    action = np.array([[0, 0, 0, 0, 0], [1, 0, 0, 0, 1], [0, 1, 0, 1, 0]], np.float32)
    checks.one_hot(action, "a.npz", (3, 2))
    action[2, 3] = 0.5
    with pytest.raises(UserError, match=r"a.npz: actions has .* in row 1; must be one-hot"):
        checks.one_hot(action, "a.npz", (3, 2))

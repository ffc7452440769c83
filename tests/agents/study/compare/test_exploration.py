"""Tests of the table of exploration: what each group found, and when."""

import logging

import pytest

from agents.runs import records
from agents.study.compare import compare


def test_exploration_says_who_found_reward_and_when(output, read):
    greedy, thompson = read(output[0], "exploration")
    assert (greedy["found"], greedy["first_reward_episode"]) == ("1", "inf")
    assert greedy["first_reward_steps_low"] == "4000"
    assert (thompson["found"], thompson["first_reward_steps"]) == ("3", "2000")
    assert greedy["coverage"] == "0.4"
    assert thompson["epistemic_ratio"] == "0.5"
    table = output[1].partition("Exploration")[2].splitlines()
    assert "1 of 3" in table[2]
    assert "never" in table[2]


def test_exploration_of_runs_of_unequal_length_is_told_up_to_the_shortest(
    make_run, tmp_path, caplog, read
):
    # the longer one finds reward and visits more cells only where the other has ended
    make_run(tmp_path / "a", 0, reached=(0, 0, 0, 1, 1))
    make_run(tmp_path / "b", 1, reached=(0, 1))
    with caplog.at_level(logging.WARNING):
        compare([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    (row,) = read(tmp_path / "out", "exploration")
    assert (row["environment_steps"], row["coverage"]) == ("2000", "0.2")
    assert (row["found"], row["first_reward_steps"]) == ("1", "inf")
    assert (
        "explorations of pendulum_swingup are compared at 2,000 environment" in caplog.text
    )
    rows = read(tmp_path / "out", "runs")
    assert [each["first_reward_steps"] for each in rows] == ["inf", "2000"]


def test_a_run_whose_first_episode_ends_later_is_left_out_by_name(
    make_run, tmp_path, read, caplog
):
    make_run(tmp_path / "a", 0, reached=(1,))
    records.append_metrics(
        make_run(tmp_path / "b", 1, reached=()),
        {"episodes": 1, "environment_steps": 1500, "explore/reached_reward": True},
    )
    compare([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    (row,) = read(tmp_path / "out", "exploration")
    assert (row["seeds"], row["found"], row["environment_steps"]) == ("1", "1", "1000")
    assert f"in the first 1,000 environment steps, such as {tmp_path / 'b'}" in caplog.text


def test_rewards_of_random_episodes_are_not_the_strategy_s(make_run, tmp_path, read):
    # the first two episodes are random, one of the others is rewarded
    make_run(tmp_path / "a", 0, reached=(0, 1, 0, 1, 0), seed_steps=2000)
    compare([tmp_path / "a"], tmp_path / "out")
    (row,) = read(tmp_path / "out", "exploration")
    assert (row["first_reward_episode"], row["first_reward_steps"]) == ("4", "4000")
    assert (row["found_before"], row["found"]) == ("1", "1")
    assert float(row["rewarded_share"]) == pytest.approx(1 / 3)
    assert row["coverage"] == "0.5"


def test_ten_rewarded_episodes_are_planned_ones(make_run, tmp_path, read):
    # the first is random; nine planned ones are too few
    make_run(tmp_path / "a", 0, reached=(1, 0, *[1] * 9, 0, 1, 1), seed_steps=1000)
    make_run(tmp_path / "b", 1, reached=(1, 0, *[1] * 9, 0, 0, 0), seed_steps=1000)
    compare([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    rows = read(tmp_path / "out", "runs")
    assert [row["ten_rewarded_steps"] for row in rows] == ["13000", "inf"]
    (row,) = read(tmp_path / "out", "exploration")
    assert row["ten_rewarded_steps"] == "inf"
    assert row["ten_rewarded_steps_low"] == "13000"


def test_as_many_episodes_are_random_as_were_asked_for_with_several_environments_too(
    make_run, tmp_path, read
):
    reached = (0, 0, 0, 1, 0, 0)
    make_run(tmp_path / "a", 0, reached=reached, seed_steps=2000, environments=4)
    compare([tmp_path / "a"], tmp_path / "out")
    (row,) = read(tmp_path / "out", "exploration")
    assert (row["found_before"], row["found"]) == ("0", "1")


def test_which_episodes_were_random_is_logged_for_their_order_may_differ(
    make_run, tmp_path, read
):
    """Of two actors the fifth planned episode may be learned before the last random one."""
    folder = make_run(tmp_path / "a", 0, reached=(), seed_steps=2000)
    for place, is_random in enumerate((True, False, True, False), 1):
        row = {"episodes": place, "environment_steps": 1000 * place}
        row |= {"agent_steps": 100 * place, "explore/is_random": is_random}
        row |= {"explore/reached_reward": place == 3, "explore/rewarded_steps": place == 3}
        records.append_metrics(folder, row)
    compare([folder], tmp_path / "out")
    (row,) = read(tmp_path / "out", "exploration")
    assert (row["found_before"], row["found"], row["rewarded_share"]) == ("1", "0", "0")


@pytest.mark.parametrize(
    ("steps", "found"), [((100, 0), "1"), ((40, 0), "1"), ((100, 100), "")]
)
def test_a_random_episode_that_starts_where_reward_is_has_found_nothing(
    make_run, tmp_path, read, steps, found
):
    """Where all are rewarded all the time there is nothing to find."""
    folder = make_run(tmp_path / "a", 0, reached=(), seed_steps=2000)
    for episode, rewarded in enumerate((*steps, 50), 1):
        row = {"episodes": episode, "environment_steps": 1000 * episode}
        row |= {"agent_steps": 100 * episode, "explore/rewarded_steps": rewarded}
        row |= {"explore/reached_reward": episode == 3}
        records.append_metrics(folder, row)
    compare([folder], tmp_path / "out")
    (row,) = read(tmp_path / "out", "exploration")
    assert (row["found"], row["ten_rewarded_steps"]) == (found, "inf")


def test_where_random_actions_are_rewarded_no_reward_is_first(make_run, tmp_path, read):
    folder = make_run(tmp_path / "a", 0, reached=(), seed_steps=1000)
    for episode in (1, 2):
        row = {"episodes": episode, "environment_steps": 1000 * episode}
        row |= {"agent_steps": 100 * episode, "explore/rewarded_steps": 11}
        row |= {"explore/reached_reward": True, "explore/coverage": 0.5}
        records.append_metrics(folder, row)
    compare([folder], tmp_path / "out")
    (row,) = read(tmp_path / "out", "exploration")
    assert (row["found"], row["first_reward_episode"], row["coverage"]) == ("", "", "0.5")
    assert not (tmp_path / "out" / "first_reward.png").exists()


def test_returns_are_of_the_last_ten_episodes_and_costs_of_all(make_run, tmp_path, read):
    folder = make_run(tmp_path / "a", 0, reached=(0,))
    for episode in range(2, 16):
        row = {"episodes": episode, "environment_steps": 1000 * episode}
        row |= {"collect/return": float(episode), "explore/reached_reward": True}
        records.append_metrics(folder, row | {"explore/cost": 2.0 * episode})
    compare([folder], tmp_path / "out")
    (row,) = read(tmp_path / "out", "exploration")
    assert (row["collected_return"], row["collected_cost"]) == ("10.5", "17")


def test_a_tenth_of_the_highest_return_is_of_planned_episodes(make_run, tmp_path, read):
    folder = make_run(tmp_path / "a", 0, reached=(), seed_steps=1000)
    for episode, collected in enumerate([500.0, 99.9, 100.0, 700.0], 1):
        row = {"episodes": episode, "environment_steps": 1000 * episode}
        row |= {"collect/return": collected, "explore/reached_reward": False}
        records.append_metrics(folder, row)
    compare([folder], tmp_path / "out")
    (row,) = read(tmp_path / "out", "exploration")
    assert (row["tenth_episode"], row["first_reward_episode"]) == ("3", "inf")
    assert row["tenth_found"] == "1"
    text = (tmp_path / "out" / "comparison.md").read_text()
    assert "| 0 of 1 | never | 0 | 1 of 1 | 3 | 300.0 | " in text


def test_return_that_was_not_finite_is_no_tenth(make_run, tmp_path, read):
    folder = make_run(tmp_path / "a", 0, reached=())
    for episode, collected in enumerate([float("inf"), 200.0], 1):
        row = {"episodes": episode, "environment_steps": 1000 * episode}
        row |= {"collect/return": collected, "explore/reached_reward": False}
        records.append_metrics(folder, row)
    compare([folder], tmp_path / "out")
    (row,) = read(tmp_path / "out", "exploration")
    assert row["tenth_episode"] == "2"

"""Tests of agents.compare as a whole."""

import csv
import io
import logging
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image
from rich.console import Console

from agents.compare import compare, figures
from agents.errors import UserError
from agents.runs import divergence, records


def read(folder, name):
    with open(folder / f"{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def output(make_groups, tmp_path, caplog):
    """(folder of the files, what was printed, what was warned of)."""
    file = io.StringIO()
    with caplog.at_level(logging.WARNING):
        files = compare([make_groups()], tmp_path / "out", Console(file=file, width=80))
    assert sorted(files) == sorted((tmp_path / "out").iterdir())
    return tmp_path / "out", file.getvalue(), caplog.text


def test_all_figures_are_drawn(drawn, output):
    names = {file.stem for file in output[0].glob("*.png")}
    assert names == {
        "coverage",
        "first_reward",
        "performance_profile",
        "probability_of_improvement",
        "sample_efficiency",
        "scores",
    }
    for file in output[0].glob("*.png"):
        assert np.asarray(Image.open(file).convert("L")).std() > 0


def test_scores_are_those_of_seeds(output):
    greedy, thompson = read(output[0], "scores")
    assert greedy["group"] == "explore=Greedy"
    # seeds score 5, 105 and 205; of three, none is left out
    assert (greedy["iqm"], greedy["iqm_low"], greedy["iqm_high"]) == (
        "105",
        "5",
        "205",
    )
    assert (greedy["seeds"], greedy["evaluation_episodes"]) == ("3", "6")
    assert (greedy["environment_steps"], greedy["median"]) == ("2000", "105")
    assert float(thompson["mean"]) == 500.5


def test_exploration_says_who_found_reward_and_when(output):
    greedy, thompson = read(output[0], "exploration")
    assert (greedy["found"], greedy["first_reward_episode"]) == ("1", "inf")
    assert greedy["first_reward_steps_low"] == "4000"
    assert (thompson["found"], thompson["first_reward_steps"]) == ("3", "2000")
    assert greedy["coverage"] == "0.4"
    assert thompson["epistemic_ratio"] == "0.5"
    table = output[1].partition("Exploration")[2].splitlines()
    assert "1 of 3" in table[2]
    assert "never" in table[2]


def test_improvement_is_stated_the_way_round_that_improves(output):
    (row,) = read(output[0], "improvement")
    assert (row["group"], row["than"]) == ("explore=Thompson", "explore=Greedy")
    assert (row["probability"], row["runs"]) == ("1", "3 and 3")


def test_single_runs_are_not_said_to_improve_on_others(make_run, tmp_path):
    for kind, seeds in (("One", 1), ("Two", 2), ("Three", 3)):
        for seed in range(seeds):
            explore = {"explore": {"kind": kind}}
            make_run(tmp_path / kind / str(seed), seed, [[10.0 * seeds]], **explore)
    compare([tmp_path], tmp_path / "out")
    (row,) = read(tmp_path / "out", "improvement")
    assert (row["group"], row["than"]) == ("explore=Three", "explore=Two")


def test_every_run_is_in_a_row(output):
    rows = read(output[0], "runs")
    assert [row["seed"] for row in rows] == ["0", "1", "2"] * 2
    assert [row["score"] for row in rows[:3]] == ["5", "105", "205"]
    assert [row["first_reward_episode"] for row in rows[:3]] == ["inf", "inf", "4"]


def test_published_scores_stand_beside_with_their_steps_and_source(make_groups, tmp_path):
    compare([make_groups(every=10_000)], tmp_path / "out")
    row, other = read(tmp_path / "out", "published")  # others have none near 20,000 steps
    assert (row["method"], row["environment_steps"]) == ("DreamerV3", "20000")
    assert (other["method"], other["seeds"]) == ("MR.Q", "10")
    assert row["mean"] == "0"
    assert "danijar/dreamerv3" in row["source"]
    assert "| DreamerV3, published |" in (tmp_path / "out" / "comparison.md").read_text()


def test_published_scores_are_not_beside_groups_of_which_one_pays_for_actions(
    make_run, tmp_path
):
    make_run(tmp_path / "a", 0, [[1.0]], every=20_000, action_cost=0.0)
    compare([tmp_path / "a"], tmp_path / "free")
    assert read(tmp_path / "free", "published")
    make_run(tmp_path / "b", 0, [[1.0]], every=20_000, action_cost=0.1)
    compare([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    assert not (tmp_path / "out" / "published.csv").exists()


def test_few_seeds_are_warned_of(output):
    assert (
        "pendulum_swingup, explore=Greedy: n = 3, below 5: its intervals are not"
        in output[2]
    )


def test_runs_that_diverged_are_named(make_run, tmp_path, caplog):
    make_run(tmp_path / "runs" / "a", 0, [[1.0], [2.0]])
    folder = make_run(tmp_path / "runs" / "b", 1, [[5.0]])
    divergence.write(folder, divergence.Divergence(3, 307, ("reward_loss",)))
    with caplog.at_level(logging.WARNING):
        compare([tmp_path / "runs"], tmp_path / "out")
    said = (
        f"{folder} ended early: the model diverged after episode 3: not finite at "
        "gradient step 307: reward_loss"
    )
    assert said in caplog.text
    assert f"- {said}" in (tmp_path / "out" / "comparison.md").read_text()
    assert "/a ended early" not in caplog.text


def test_runs_of_unequal_length_meet_at_the_shortest(make_run, tmp_path, caplog):
    make_run(tmp_path / "a", 0, [[1.0], [2.0], [3.0]])
    make_run(tmp_path / "b", 1, [[5.0], [7.0]])
    with caplog.at_level(logging.WARNING):
        compare([tmp_path / "a", tmp_path / "b", tmp_path / "a"], tmp_path / "out")
    (row,) = read(tmp_path / "out", "scores")
    assert (row["environment_steps"], row["mean"]) == ("2000", "4.5")
    assert "are compared at 2,000 environment steps" in caplog.text
    assert (
        "- scores of pendulum_swingup are compared at 2,000 environment steps"
        in (tmp_path / "out" / "comparison.md").read_text()
    )
    assert not (tmp_path / "out" / "improvement.csv").exists()


def test_exploration_of_runs_of_unequal_length_is_told_up_to_the_shortest(
    make_run, tmp_path, caplog
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


def test_run_whose_first_episode_ends_later_has_nothing_to_tell(make_run, tmp_path):
    make_run(tmp_path / "a", 0, reached=(1,))
    records.append_metrics(
        make_run(tmp_path / "b", 1, reached=()),
        {"episodes": 1, "environment_steps": 1500, "explore/reached_reward": True},
    )
    compare([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    (row,) = read(tmp_path / "out", "exploration")
    assert (row["found"], row["environment_steps"]) == ("", "1000")


def test_seed_that_is_there_twice_is_named(make_run, tmp_path, caplog):
    for name in "abcde":
        make_run(tmp_path / name, 7, [[1.0]])
    with caplog.at_level(logging.WARNING):
        compare([tmp_path], tmp_path / "out")
    assert "seed 7 is there more than once" in caplog.text


def test_runs_without_evaluations_are_compared_in_what_they_have(drawn, make_run, tmp_path):
    make_run(tmp_path / "a")
    files = compare([tmp_path], tmp_path / "out")
    names = {file.name for file in files}
    assert names == {
        "comparison.md",
        "coverage.png",
        "first_reward.png",
        "exploration.csv",
        "runs.csv",
    }


def test_rewards_of_random_episodes_are_not_the_strategy_s(make_run, tmp_path):
    # the first two episodes are random, one of the others is rewarded
    make_run(tmp_path / "a", 0, reached=(0, 1, 0, 1, 0), seed_episodes=2)
    compare([tmp_path / "a"], tmp_path / "out")
    (row,) = read(tmp_path / "out", "exploration")
    assert (row["first_reward_episode"], row["first_reward_steps"]) == ("4", "4000")
    assert (row["found_before"], row["found"]) == ("1", "1")
    assert float(row["rewarded_share"]) == pytest.approx(1 / 3)
    assert row["coverage"] == "0.5"


def test_random_episodes_come_as_many_at_a_time_as_there_are_environments(
    make_run, tmp_path
):
    # four environments: the two random episodes that were asked for are four
    reached = (0, 0, 0, 1, 0, 0)
    make_run(tmp_path / "a", 0, reached=reached, seed_episodes=2, environments=4)
    compare([tmp_path / "a"], tmp_path / "out")
    (row,) = read(tmp_path / "out", "exploration")
    assert (row["found_before"], row["found"]) == ("1", "0")


def test_runs_that_are_only_looked_at_otherwise_are_one_group(make_run, tmp_path):
    make_run(tmp_path / "a", 0, [[1.0]], video_every=0, evaluation={"every": 10})
    make_run(tmp_path / "b", 1, [[2.0]], video_every=20, evaluation={"every": 5})
    compare([tmp_path], tmp_path / "out")
    (row,) = read(tmp_path / "out", "scores")
    assert row["seeds"] == "2"


def test_damaged_config_is_named(make_run, tmp_path, caplog):
    make_run(tmp_path / "a", 0, [[1.0]])
    (make_run(tmp_path / "b", 1, [[1.0]]) / "config.yaml").write_text("[1, 2]")
    with caplog.at_level(logging.WARNING):
        compare([tmp_path], tmp_path / "out")
    assert f"left out: {tmp_path / 'b' / 'config.yaml'} is damaged" in caplog.text


def test_where_random_actions_are_rewarded_there_is_no_first_reward(make_run, tmp_path):
    folder = make_run(tmp_path / "a", 0, reached=(), seed_episodes=1)
    for episode in (1, 2):
        row = {"episodes": episode, "environment_steps": 1000 * episode}
        row |= {"agent_steps": 100 * episode, "explore/rewarded_steps": 11}
        row |= {"explore/reached_reward": True, "explore/coverage": 0.5}
        records.append_metrics(folder, row)
    compare([folder], tmp_path / "out")
    (row,) = read(tmp_path / "out", "exploration")
    assert (row["found"], row["first_reward_episode"], row["coverage"]) == ("", "", "0.5")
    assert not (tmp_path / "out" / "first_reward.png").exists()


def test_returns_are_of_the_last_ten_episodes_and_costs_of_all(make_run, tmp_path):
    folder = make_run(tmp_path / "a", 0, reached=(0,))
    for episode in range(2, 16):
        row = {"episodes": episode, "environment_steps": 1000 * episode}
        row |= {"collect/return": float(episode), "explore/reached_reward": True}
        records.append_metrics(folder, row | {"explore/cost": 2.0 * episode})
    compare([folder], tmp_path / "out")
    (row,) = read(tmp_path / "out", "exploration")
    assert (row["collected_return"], row["collected_cost"]) == ("10.5", "17")


def test_markdown_holds_what_was_printed(output):
    text = (output[0] / "comparison.md").read_text()
    assert (
        "| pendulum_swingup | explore=Thompson | 3† | 2,000 | 2 | 500.5 [500, 501] |"
        in text
    )
    assert "| explore=Thompson | explore=Greedy | 3 and 3† | 1 [1, 1] |" in text
    assert "| 4,000 | 0 of 3 | 1 of 3 | never [4, never] |" in text
    assert text.endswith(
        "- † Fewer than 5 seeds: an interval is little more than their range.\n"
    )


def test_run_that_has_just_begun_is_left_out(make_run, tmp_path, caplog):
    make_run(tmp_path / "a", 0, [[1.0]])
    make_run(tmp_path / "b", 1, reached=())
    with caplog.at_level(logging.WARNING):
        compare([tmp_path], tmp_path / "out")
    assert f"left out: {tmp_path / 'b'} has nothing to plot" in caplog.text
    assert len(read(tmp_path / "out", "runs")) == 1


def test_two_tasks_are_put_on_one_scale(drawn, make_groups, make_run, tmp_path):
    runs = make_groups()
    for kind in ("Greedy", "Thompson"):
        for seed in range(2):
            explore = {"explore": {"kind": kind}, "task": "fake"}
            make_run(runs / f"fake{kind}{seed}", seed, [[seed], [10.0 + seed]], **explore)
    compare([runs], tmp_path / "out")
    assert len(read(tmp_path / "out", "scores")) == 4
    (row,) = read(tmp_path / "out", "improvement")
    # certain on pendulum_swingup, even on fake
    assert (row["probability"], row["runs"]) == ("0.75", "5 and 5")


def test_runs_of_an_earlier_version_are_seeds_of_the_same_group(make_run, tmp_path):
    make_run(tmp_path / "a", 0, [[1.0]], world_model={"latent_size": 16})
    later = {"image_pool": 1, "image_decoder": "convolutions"}
    make_run(
        tmp_path / "b",
        1,
        [[3.0]],
        world_model={"latent_size": 16} | later,
        probe_every=0,
    )
    compare([tmp_path], tmp_path / "out")
    (row,) = read(tmp_path / "out", "scores")
    assert (row["seeds"], row["mean"]) == ("2", "2")


def test_nothing_to_compare_is_an_error(make_run, tmp_path):
    with pytest.raises(UserError, match="is no run, and there are no runs below it"):
        compare([tmp_path], tmp_path / "out")
    make_run(tmp_path / "a", reached=())
    with pytest.raises(UserError, match="nothing to compare in 1 runs.*nothing to plot"):
        compare([tmp_path], tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("out", ["file", "file/below"])
def test_a_file_is_no_place_for_figures(make_run, tmp_path, out):
    make_run(tmp_path / "a", 0, [[1.0]])
    (tmp_path / "file").write_text("kept")
    with pytest.raises(UserError, match=f"a folder is needed .* {tmp_path}/file is a file"):
        compare([tmp_path], tmp_path / out)
    assert (tmp_path / "file").read_text() == "kept"


def test_warnings_are_printed_beneath_the_tables(make_run, tmp_path):
    make_run(tmp_path / "a", 0, [[1.0], [2.0]])
    make_run(tmp_path / "b", 1, [[5.0]])
    make_run(tmp_path / "c", 2, reached=())
    command = [sys.executable, "-m", "agents", "compare", tmp_path]
    command += ["--out", tmp_path / "out"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    _, _, below = printed.partition("Scores")
    assert "- scores of pendulum_swingup are compared at 1,000 environment steps" in below
    assert f"- left out: {tmp_path / 'c'} has nothing to plot" in below
    assert "- † Fewer than 5 seeds" in below


def test_longer_runs_are_seeds_of_the_same_group(make_run, tmp_path):
    make_run(tmp_path / "a", 0, [[1.0]], environment_steps=1000)
    make_run(tmp_path / "b", 1, [[3.0], [9.0]], environment_steps=2000)
    compare([tmp_path], tmp_path / "out")
    (row,) = read(tmp_path / "out", "scores")
    assert (row["seeds"], row["mean"], row["environment_steps"]) == ("2", "2", "1000")


def test_run_without_planned_episodes_hides_no_other(make_run, tmp_path, caplog):
    make_run(tmp_path / "a", 0, reached=(0, 1), seed_episodes=1)
    make_run(tmp_path / "b", 1, reached=(0,), seed_episodes=1)
    with caplog.at_level(logging.WARNING):
        compare([tmp_path], tmp_path / "out")
    (row,) = read(tmp_path / "out", "exploration")
    assert (row["seeds"], row["found"], row["environment_steps"]) == ("1", "1", "2000")
    assert "left out of exploration: 1 runs that logged no planned episode" in caplog.text


def test_a_tenth_of_the_highest_return_is_told_of_planned_episodes(make_run, tmp_path):
    folder = make_run(tmp_path / "a", 0, reached=(), seed_episodes=1)
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


def test_figures_over_tasks_weigh_tasks_alike(make_run, tmp_path, caplog):
    for task, seeds in (("cartpole_swingup", 3), ("reacher_easy", 2)):
        for seed in range(seeds):
            make_run(tmp_path / f"{task}{seed}", seed, [[seed]], task=task)
    with caplog.at_level(logging.WARNING):
        compare([tmp_path], tmp_path / "out")
    assert "has 2 seeds of one task, so only as many of each other one count" in caplog.text


@pytest.mark.parametrize("name", ["sample_efficiency", "profiles"])
def test_figures_over_tasks_are_given_as_many_seeds_of_each(
    make_run, tmp_path, monkeypatch, name
):
    for task, seeds in (("cartpole_swingup", 3), ("reacher_easy", 2)):
        for seed in range(seeds):
            make_run(tmp_path / f"{task}{seed}", seed, [[100.0 * seed]], task=task)
    seen = {}
    draw = getattr(figures, name)

    def spy(*arguments):
        seen["figure"] = draw(*arguments)
        return seen["figure"]

    monkeypatch.setattr(figures, name, spy)
    compare([tmp_path], tmp_path / "out")
    (axes,) = seen["figure"].axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "n = 4 runs of 2 tasks"
    ]
    if name == "sample_efficiency":  # of 0, 100, 0 and 100, and not of the third seed
        assert axes.lines[0].get_ydata().tolist() == [0.05]


def test_config_of_another_program_hides_no_run_below_it(make_run, tmp_path):
    make_run(tmp_path / "a", 0, [[1.0]])
    (tmp_path / "config.yaml").write_text("theme: dark")
    compare([tmp_path], tmp_path / "out")
    assert len(read(tmp_path / "out", "runs")) == 1


def test_return_that_was_not_finite_is_no_tenth(make_run, tmp_path):
    folder = make_run(tmp_path / "a", 0, reached=())
    for episode, collected in enumerate([float("inf"), 200.0], 1):
        row = {"episodes": episode, "environment_steps": 1000 * episode}
        row |= {"collect/return": collected, "explore/reached_reward": False}
        records.append_metrics(folder, row)
    compare([folder], tmp_path / "out")
    (row,) = read(tmp_path / "out", "exploration")
    assert row["tenth_episode"] == "2"


def test_a_published_protocol_stands_beside_one_s_own(make_groups, tmp_path):
    compare([make_groups(every=10_000, action_repeat=8)], tmp_path / "out")
    assert {row["action_repeat"] for row in read(tmp_path / "out", "scores")} == {"8"}
    rows = read(tmp_path / "out", "published")
    assert {row["action_repeat"] for row in rows} == {"2"}
    text = (tmp_path / "out" / "comparison.md").read_text()
    assert "- Published scores are of other protocols." in text


def test_comparing_needs_no_tensorflow():
    heavy = {"tensorflow", "matplotlib.pyplot", "hydra"}
    code = f"import agents.compare, sys; print({heavy} & {{*sys.modules}})"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert output.stdout == "set()\n", output.stderr

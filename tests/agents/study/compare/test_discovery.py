"""Tests of agents.study.compare.discovery: which runs are compared, and as what."""

import logging

import pytest

from agents.runs import history
from agents.study.compare import compare
from agents.system.errors import UserError


def test_runs_that_diverged_are_named(make_run, tmp_path, caplog):
    make_run(tmp_path / "runs" / "a", 0, [[1.0], [2.0]])
    folder = make_run(tmp_path / "runs" / "b", 1, [[5.0]])
    history.write_divergence(folder, history.Divergence(3, 307, ("reward_loss",)))
    with caplog.at_level(logging.WARNING):
        compare([tmp_path / "runs"], tmp_path / "out")
    said = (
        f"{folder} ended early: the model diverged after episode 3: not finite at "
        "gradient step 307: reward_loss"
    )
    assert said in caplog.text
    assert f"- {said}" in (tmp_path / "out" / "comparison.md").read_text()
    assert "/a ended early" not in caplog.text


def test_runs_of_unequal_length_meet_at_the_shortest(make_run, tmp_path, caplog, read):
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


def test_seed_that_is_there_twice_is_named(make_run, tmp_path, caplog):
    for name in "abcde":
        make_run(tmp_path / name, 7, [[1.0]])
    with caplog.at_level(logging.WARNING):
        compare([tmp_path], tmp_path / "out")
    assert "has seed 7 more than once" in caplog.text


def test_runs_that_are_only_looked_at_otherwise_are_one_group(make_run, tmp_path, read):
    make_run(
        tmp_path / "a", 0, [[1.0]], video_every_steps=0, evaluation={"every_steps": 10_000}
    )
    make_run(
        tmp_path / "b",
        1,
        [[2.0]],
        video_every_steps=20_000,
        evaluation={"every_steps": 5000},
    )
    compare([tmp_path], tmp_path / "out")
    (row,) = read(tmp_path / "out", "scores")
    assert row["seeds"] == "2"


def test_damaged_config_is_named(make_run, tmp_path, caplog):
    make_run(tmp_path / "a", 0, [[1.0]])
    (make_run(tmp_path / "b", 1, [[1.0]]) / "config.yaml").write_text("[1, 2]")
    with caplog.at_level(logging.WARNING):
        compare([tmp_path], tmp_path / "out")
    assert f"left out: {tmp_path / 'b' / 'config.yaml'} is damaged" in caplog.text


def test_run_that_has_just_begun_is_left_out(make_run, tmp_path, caplog, read):
    make_run(tmp_path / "a", 0, [[1.0]])
    make_run(tmp_path / "b", 1, reached=())
    with caplog.at_level(logging.WARNING):
        compare([tmp_path], tmp_path / "out")
    assert f"left out: {tmp_path / 'b'} has nothing to plot" in caplog.text
    assert len(read(tmp_path / "out", "runs")) == 1


def test_a_run_of_an_earlier_version_is_left_out_with_the_command_to_migrate_it(
    make_run, tmp_path, read, caplog
):
    make_run(tmp_path / "a", 0, [[1.0]])
    make_run(tmp_path / "b", 1, [[3.0]], strategy="default")
    compare([tmp_path], tmp_path / "out")
    (row,) = read(tmp_path / "out", "scores")
    assert (row["seeds"], row["mean"]) == ("1", "1")
    assert f"today's form: bayes-rl migrate {tmp_path / 'b'}" in caplog.text


def test_nothing_to_compare_is_an_error(make_run, tmp_path):
    with pytest.raises(
        UserError, match="is not the folder of a run, and no runs are below it"
    ):
        compare([tmp_path], tmp_path / "out")
    make_run(tmp_path / "a", reached=())
    with pytest.raises(UserError, match="nothing to compare in 1 runs.*nothing to plot"):
        compare([tmp_path], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_longer_runs_are_seeds_of_the_same_group(make_run, tmp_path, read):
    make_run(tmp_path / "a", 0, [[1.0]], environment_steps=1000)
    make_run(tmp_path / "b", 1, [[3.0], [9.0]], environment_steps=2000)
    compare([tmp_path], tmp_path / "out")
    (row,) = read(tmp_path / "out", "scores")
    assert (row["seeds"], row["mean"], row["environment_steps"]) == ("2", "2", "1000")


def test_run_without_planned_episodes_hides_no_other(make_run, tmp_path, caplog, read):
    make_run(tmp_path / "a", 0, reached=(0, 1), seed_steps=1000)
    make_run(tmp_path / "b", 1, reached=(0,), seed_steps=1000)
    with caplog.at_level(logging.WARNING):
        compare([tmp_path], tmp_path / "out")
    (row,) = read(tmp_path / "out", "exploration")
    assert (row["seeds"], row["found"], row["environment_steps"]) == ("1", "1", "2000")
    assert "left out of exploration: 1 runs without a planned episode" in caplog.text


def test_runs_that_learn_from_logged_episodes_explore_nothing(make_run, tmp_path, read):
    make_run(tmp_path / "a", 0, [[1.0]], reached=(0, 1), data="logs/good")
    compare([tmp_path], tmp_path / "out")
    assert not (tmp_path / "out/exploration.csv").exists()
    make_run(tmp_path / "b", 0, [[1.0]], reached=(0, 1, 1), task="cheetah_run")
    compare([tmp_path], tmp_path / "out")
    (row,) = read(tmp_path / "out", "exploration")
    assert row["task"] == "cheetah_run"


def test_config_of_another_program_hides_no_run_below_it(make_run, tmp_path, read):
    make_run(tmp_path / "a", 0, [[1.0]])
    (tmp_path / "config.yaml").write_text("theme: dark")
    compare([tmp_path], tmp_path / "out")
    assert len(read(tmp_path / "out", "runs")) == 1

"""Tests of agents.runs.history."""

import types

import pytest

from agents.runs import records
from agents.runs.folder import open_run
from agents.runs.history import Follower, is_finished, load
from tests.agents.presets import used


@pytest.fixture
def run(tmp_path):
    """Folder of a run of 6 episodes, evaluated after every second by 3."""
    open_run(used(f"logdir={tmp_path}")).close()
    for episode in range(1, 7):
        steps = {"environment_steps": 100 * episode, "train_steps": 10 * episode}
        steps |= {"episodes": episode, "seed": 0}
        values = {"train/loss": 0.5 * episode, "train/latent_kl": None}
        records.append_metrics(tmp_path, steps | values)
        if episode % 2 == 0:
            scores = [{"evaluation_episode": k, "return": 10 * k} for k in range(3)]
            records.append_scores(tmp_path, [steps | score for score in scores])
    return load(tmp_path)


def test_score_curve_has_a_row_for_each_evaluation(run):
    steps, returns = run.score_curve()
    assert steps.tolist() == [200, 400, 600]
    assert returns.tolist() == [[0, 10, 20]] * 3


def test_null_values_are_left_out(run):
    assert run.curve("train_steps", "train/latent_kl") is None
    steps, losses = run.curve("train_steps", "train/loss")
    assert steps.tolist() == [10, 20, 30, 40, 50, 60]
    assert losses.tolist() == [0.5, 1, 1.5, 2, 2.5, 3]


def write(folder, *episodes, **more):
    folder.mkdir(exist_ok=True)
    for episode in episodes:
        row = {"episodes": episode, "environment_steps": 10 * episode}
        records.append_metrics(folder, row | more)


def test_newest_values_are_kept_though_not_each_line_has_them(tmp_path):
    follower = Follower(tmp_path / "run")
    assert not follower.update()
    write(tmp_path / "run", 1, **{"evaluate/return": 3.0})
    write(tmp_path / "run", 2, **{"evaluate/return": None})
    assert follower.update()
    expected = {"episodes": 2, "environment_steps": 20, "evaluate/return": 3.0}
    assert follower.newest == expected
    assert not follower.update()


def test_torn_lines_wait_or_are_left_out(tmp_path):
    write(tmp_path, 1)
    file = tmp_path / records.METRICS
    follower = Follower(tmp_path)
    follower.update()
    with open(file, "a") as handle:
        handle.write('{"episodes": 2, ')
    assert not follower.update()
    with open(file, "a") as handle:
        handle.write('"environment_steps": 20}\n{"episo\n')
    assert follower.update()
    assert follower.newest["episodes"] == 2


def test_file_that_was_cut_is_read_anew(tmp_path):
    write(tmp_path, 1, 2, 3)
    follower = Follower(tmp_path)
    follower.update()
    records.cut(tmp_path, 1)
    follower.update()
    assert follower.newest["episodes"] == 1


def test_run_is_finished_when_its_last_episode_is_saved(tmp_path):
    config = types.SimpleNamespace(logdir=str(tmp_path), environment_steps=30)
    assert not is_finished(config)
    write(tmp_path, 1, 2)
    (tmp_path / "checkpoints" / "2").mkdir(parents=True)
    assert not is_finished(config)
    write(tmp_path, 3)
    assert not is_finished(config), "killed before the checkpoint"
    (tmp_path / "checkpoints" / "000003-1").mkdir()
    assert is_finished(config)


def test_a_whole_run_is_finished(whole_run, make_config, run_words):
    assert is_finished(make_config(*run_words, f"logdir={whole_run}"))
    longer = make_config(*run_words, f"logdir={whole_run}", "environment_steps=180")
    assert not is_finished(longer)

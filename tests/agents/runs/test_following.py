"""Tests of agents.runs.following."""

import types

from agents.runs import records
from agents.runs.following import Follower, is_finished


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

"""Tests of agents.training.checking."""

import pytest

from agents.runs.folder import open_run
from agents.system.errors import UserError
from agents.training import checking


def test_a_batch_that_devices_cannot_share_is_one_clear_line(make_config, monkeypatch):
    class Two:
        num_replicas_in_sync = 2

    monkeypatch.setattr(checking, "choose_devices", lambda name: Two())
    with pytest.raises(UserError, match="multiple of the 2 devices .*, got 3"):
        checking.check(make_config("batch_size=3"))


def test_episodes_of_some_actors_alone_are_not_held_out(make_config):
    with pytest.raises(UserError, match=r"no common factor with .* \(4\)"):
        checking.check(make_config("actors=4", "hold_out_every=10"))
    checking.check(make_config("actors=4", "hold_out_every=9"))
    checking.check(make_config("environments=2", "hold_out_every=10"))


def test_an_ensemble_whose_members_devices_cannot_share_is_one_clear_line(make_config):
    class Two:
        num_replicas_in_sync = 2

    words = ["transition=ensemble", "ensemble_members=4"]
    checking.check_devices(make_config(*words, "batch_size=16"), Two())
    with pytest.raises(UserError, match=r"ensemble_members \(4\) on each of the 2 .* 12"):
        checking.check_devices(make_config(*words, "batch_size=12"), Two())


OPEN = ("compile=null", "action_repeat=null", "world_model.belief_size=null")


def test_what_a_config_leaves_open_is_set_by_task_and_machine(make_config):
    found = checking.check(make_config(*OPEN))
    assert (found.compile, found.action_repeat) == (True, 1)
    assert found.world_model.belief_size == 64


def test_what_is_left_open_is_as_the_run_has_it(make_config, tmp_path):
    words = [f"logdir={tmp_path}/run"]
    config = make_config(*words, "action_repeat=3", "world_model.belief_size=7")
    open_run(config).close()
    assert checking.check(make_config(*words, *OPEN)) == config

"""Tests of agents.training.logged.reading: where episodes are, and how they look."""

import sys
import types

import numpy as np
import pytest

from agents.runs.folder import open_run
from agents.system.errors import UserError
from agents.training.logged.reading import find, survey


def write(file, count, size=2):
    np.savez(
        file,
        observations=np.zeros([count + 1, size]),
        actions=np.zeros([count, 1]),
        rewards=np.ones(count),
    )
    return file


def test_a_survey_counts_what_is_there(tmp_path):
    write(tmp_path / "a.npz", 5)
    write(tmp_path / "b.npz", 3)
    found = survey(str(tmp_path), action_repeat=4)
    assert (found.agent_steps, found.environment_steps, found.longest) == (8, 32, 5)
    assert found.returns == (5.0, 3.0)
    assert str(found).startswith("2 episodes, 32 environment steps (8 decisions), 0 ended")


def test_episodes_of_a_folder_must_be_alike(tmp_path):
    write(tmp_path / "a.npz", 5)
    write(tmp_path / "b.npz", 5, size=3)
    message = r"b.npz: observation has rows of shape \(3,\) and float32; must be like that"
    with pytest.raises(UserError, match=message):
        survey(str(tmp_path), action_repeat=1)


def test_what_a_run_collected_is_learned_in_the_same_task(tmp_path, make_config):
    words = ["task=cartpole_balance", "physics.mass=2", "action_cost=0.5"]
    with open_run(make_config(f"logdir={tmp_path}/run", *words)) as run:
        run.episodes.mkdir(exist_ok=True)
        write(run.episodes / "000000.npz", 5)
    found = find(str(tmp_path / "run")).settings
    expected = {"task": "cartpole_balance", "physics.mass": 2.0, "action_cost": 0.5}
    assert expected.items() <= found.items()


def test_what_holds_no_episodes_is_told(tmp_path):
    with pytest.raises(UserError, match="there is no folder .*nothing; data must be the"):
        find(str(tmp_path / "nothing"))
    with pytest.raises(UserError, match="has no npz files, and is not the folder of a run"):
        find(str(tmp_path))
    (tmp_path / "log.csv").touch()
    with pytest.raises(
        UserError, match="log.csv must be an npz file, or a folder of npz files"
    ):
        find(str(tmp_path / "log.csv"))
    (tmp_path / "cut.npz").write_bytes(b"PK")
    with pytest.raises(UserError, match="cut.npz is damaged: not a whole archive"):
        list(find(str(tmp_path)).episodes())


def test_minari_is_asked_for_by_name_and_scales_by_its_space(monkeypatch):
    monkeypatch.setitem(sys.modules, "minari", None)
    with pytest.raises(UserError, match=r"minari:a/b-v0 needs .* 'bayes_rl\[minari\]'"):
        list(find("minari:a/b-v0").episodes())
    episode = types.SimpleNamespace(
        id=7,
        observations={"angle": np.zeros([4, 2]), "speed": np.ones([4, 1])},
        actions=np.full([3, 1], 2.0),
        rewards=np.ones(3),
        terminations=np.array([False, False, True]),
        truncations=np.zeros(3, bool),
    )
    dataset = types.SimpleNamespace(
        action_space=types.SimpleNamespace(low=np.array([-2.0]), high=np.array([2.0])),
        iterate_episodes=lambda: [episode],
    )
    minari = types.SimpleNamespace(load_dataset={"a/b-v0": dataset}.__getitem__)
    monkeypatch.setitem(sys.modules, "minari", minari)
    ((file, found),) = find("minari:a/b-v0").episodes()
    assert file == "minari:a/b-v0, episode 7"
    assert found["action"][1:].tolist() == [[1.0]] * 3
    assert found["observation"][0].tolist() == [0, 0, 1]
    assert found["is_terminal"].tolist() == [False] * 3 + [True]
    with pytest.raises(UserError, match="there is no minari:other here"):
        list(find("minari:other").episodes())

"""Tests of tasks of gymnasium by their names."""

import sys

import numpy as np
import pytest

import envs

gymnasium = pytest.importorskip("gymnasium")
NAME = "gymnasium:Pendulum-v1"


def test_pendulum_is_that_of_gymnasium():
    environment = envs.load(NAME, seed=4, action_repeat=2)
    step = environment.reset()
    raw = gymnasium.make("Pendulum-v1")
    np.testing.assert_array_equal(step.observation["observation"], raw.reset(seed=4)[0])
    rewards = [raw.step(np.array([1.0], np.float32))[1] for _ in range(2)]
    assert environment.step([0.5]).reward == pytest.approx(sum(rewards), rel=1e-5)
    assert environment.episode_length == 100
    assert environment.seconds == pytest.approx(2 * 0.05)


def test_position_withholds_velocities():
    observation = envs.load(NAME, "position", seed=1).reset().observation
    state = envs.load(NAME, seed=1).reset().observation
    np.testing.assert_array_equal(observation["observation"], state["observation"][:2])
    np.testing.assert_array_equal(state["velocity"], state["observation"][2:])


def test_its_picture_is_drawn():
    environment = envs.load(NAME, "pixels", image_size=32)
    picture = environment.reset().observation["observation"]
    assert picture.shape == (32, 32, 3)
    assert picture.std() > 1


@pytest.mark.slow
def test_several_in_processes_run_the_episodes_of_one():
    alone = envs.load(NAME, seed=envs.spread_seeds(7, 1)[0], time_limit=3)
    several = envs.load_many(2, NAME, seed=7, first_episodes=[0, 1], time_limit=3)
    seen = several.reset().observation["observation"]
    several.close()
    for row in seen:
        np.testing.assert_array_equal(alone.reset().observation["observation"], row)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Pendulum", "not registered with gymnasium; did you mean 'gymnasium:Pendulum-v1'"),
        ("Zzz", "task 'gymnasium:Zzz' is not registered with gymnasium$"),
        ("", "task 'gymnasium:' is not registered with gymnasium"),
        ("nowhere:Arm-v0", "nowhere cannot be imported .* looked for in"),
        ("math:Arm-v0", "'gymnasium:math:Arm-v0' is not registered with gymnasium"),
    ],
)
def test_name_that_cannot_be_used_is_told_in_one_line(name, message):
    with pytest.raises(ValueError, match=message) as caught:
        envs.load(f"gymnasium:{name}")
    assert "\n" not in str(caught.value)


def test_task_of_a_module_is_registered_by_it(tmp_path, monkeypatch):
    place = "gymnasium.envs.classic_control.pendulum:PendulumEnv"
    words = f"'Own-v0', '{place}', max_episode_steps=5"
    (tmp_path / "arms.py").write_text(f"import gymnasium\ngymnasium.register({words})")
    monkeypatch.syspath_prepend(tmp_path)
    assert envs.load("gymnasium:arms:Own-v0").episode_length == 5
    gymnasium.registry.pop("Own-v0")


def test_what_a_task_needs_and_is_not_there_is_told_in_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "Box2D", None)
    monkeypatch.delitem(sys.modules, "gymnasium.envs.box2d", raising=False)
    with pytest.raises(RuntimeError, match="gymnasium.make raised Depend.*box2d") as caught:
        envs.load("gymnasium:BipedalWalker-v3")
    assert "\n" not in str(caught.value)


def test_missing_gymnasium_is_told_in_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(ValueError, match="pip install 'bayes_rl.agents.'"):
        envs.check_task(NAME)

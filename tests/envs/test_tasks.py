"""Tests of the table of tasks and of the checks of what a user typed."""

import sys

import pytest

from envs import can_end, check_task, tasks

BAD = [
    (dict(task="cheeta_run"), "did you mean 'cheetah_run'"),
    (dict(task="Cheetah_Run"), "did you mean 'cheetah_run'"),
    (dict(task="humanoid_cmu_run"), "did you mean 'humanoid_CMU_run'"),
    (dict(task="zzzz"), "tasks are named like"),
    (dict(task=None), "task must be a name"),
    (dict(task="gym:Pendulum"), "did you mean 'gym:Pendulum-v1'"),
    (dict(task="gym:CartPole"), "did you mean 'gym:CartPole-v1'"),
    (dict(task="gym:HalfCheetah-v2"), "mujoco_py"),
    (dict(task="logged", observation="position"), "must be state, pixels, pixels.st"),
    (dict(task="cheetah_run", observation="pixels+touch"), "must be state, position, "),
    (dict(task="gym:Pendulum-v1", observation="speed"), "must be state, position, "),
    (dict(task="gym:BipedalWalker-v3", observation="pixels+pixels"), "'pixels.state'"),
    (dict(task="gym:BipedalWalker-v3", observation=None), "must be state, .* got None"),
    (dict(task="gym:Pendulum-v1", camera=1), "camera 0 only"),
    (dict(task="fake", observation="pixel"), "did you mean 'pixels'"),
    (dict(task="fake", action_repeat=0), "action_repeat must be an integer of at least 1"),
    (dict(task="fake", action_repeat=2.5), "action_repeat must be .* got 2.5"),
    (dict(task="fake", action_repeat=True), "action_repeat must be .* got True"),
    (dict(task="fake", seed=-1), "seed must be an integer from 0"),
    (dict(task="fake", seed=2**32), "seed must be an integer from 0"),
    (dict(task="fake", action_cost=-0.1), "action_cost must be"),
    (dict(task="fake", action_cost=float("nan")), "action_cost must be"),
    (dict(task="fake", action_bound=0), "action_bound must be a number above 0, got 0"),
    (dict(task="cheetah_run", mass=0.0), "mass must be a number above 0, got 0.0"),
    (dict(task="cheetah_run", friction=-1), "friction must be a number of at least 0, got"),
    (dict(task="cheetah_run", gain="2"), "gain must be a number above 0, got '2'"),
    (
        dict(task="gym:Pendulum-v1", mass=2.0, gain=0.5),
        "mass, gain can be changed for tasks of DeepMind Control alone, got task 'gym:Pen",
    ),
    (dict(task="fake", image_size=0), "image_size must be"),
    (dict(task="fake", camera=-2), "camera must be"),
    (dict(task="fake", shadows="no"), "shadows must be true or false"),
    (dict(task="fake", first_episode=-1), "first_episode must be"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_wrong_argument_is_named_in_one_line(arguments, message):
    with pytest.raises(ValueError, match=message) as caught:
        check_task(**arguments)
    assert "\n" not in str(caught.value)


def test_table_is_the_whole_suite():
    from envs.simulations.dm_control import import_suite

    listed = {
        (domain, task) for domain, names in tasks.DM_CONTROL.items() for task in names
    }
    ours = {("cartpole", "swingup_fenced")}
    assert listed - ours == set(import_suite().ALL_TASKS)


def test_tasks_that_can_end_are_those_with_a_termination():
    from envs.simulations.dm_control import import_suite

    suite = import_suite()
    for name in tasks.dm_control_names():
        kinds = vars(getattr(suite, check_task(name).domain)).values()
        has_termination = any(
            "get_termination" in getattr(k, "__dict__", ()) for k in kinds
        )
        assert can_end(name) == has_termination, name


def test_of_gym_only_what_is_known_to_go_on_cannot_end():
    assert not can_end("gym:Pendulum-v1")
    assert can_end("gym:package.module:Name-v0")


def test_every_name_is_found():
    for name in tasks.dm_control_names():
        found = check_task(name)
        assert f"{found.domain}_{found.variant}" == found.name == name


def test_repeats_are_those_of_planet_and_td_mpc():
    expected = {
        "cartpole_balance": 8,
        "cartpole_swingup": 8,
        "finger_spin": 2,
        "cheetah_run": 4,
        "cup_catch": 4,
        "walker_walk": 2,
        "reacher_easy": 4,
        "cartpole_swingup_sparse": 8,
        "walker_run": 2,
        "hopper_hop": 4,
        "fake": 1,
    }
    assert {name: check_task(name).action_repeat for name in expected} == expected


def test_repeats_of_a_domain_are_not_those_of_a_module_of_its_name(tmp_path, monkeypatch):
    (tmp_path / "cartpole.py").write_text("def make():\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "cartpole", raising=False)
    assert check_task("python:cartpole:make").action_repeat == 1


def test_alias_is_the_same_task():
    assert check_task("cup_catch") == check_task("ball_in_cup_catch")


def test_checking_imports_neither_tensorflow_nor_simulators(run_python):
    code = """
import sys, envs, envs.tasks
envs.check_task("cheetah_run")
try:
    envs.check_task("cheeta_run")
except ValueError:
    pass
heavy = {"tensorflow", "tf_agents", "dm_control", "mujoco", "gym", "OpenGL"}
print(sorted(heavy & set(sys.modules)))
"""
    assert run_python(code).stdout.strip() == "[]"

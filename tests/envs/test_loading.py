"""Tests of environments side by side."""

import os
import pickle
from unittest.mock import Mock

import cloudpickle
import numpy as np
import pytest
from tf_agents.environments import tf_py_environment

import envs
from envs.many import worker
from envs.many.parallel import ParallelEnvironment
from envs.simulations.gym import one_number
from tests.envs.simulations.test_own import Counter


@pytest.fixture(scope="module")
def parallel():
    environments = envs.load_many(2, "fake", seed=3, action_repeat=2)
    yield environments
    environments.close()


@pytest.mark.slow
def test_processes_give_what_one_process_gives(parallel):
    serial = envs.load_many(2, "fake", seed=3, action_repeat=2, processes=False)
    actions = np.array([[0.5], [-1.0]], np.float32)
    parallel.seed([environment._seed for environment in serial.envs])
    steps = [
        [batch.reset(), *(batch.step(actions) for _ in range(12))]
        for batch in (parallel, serial)
    ]
    for left, right in zip(*steps, strict=True):
        for name in ("step_type", "reward", "discount"):
            np.testing.assert_array_equal(getattr(left, name), getattr(right, name))
        for name, value in left.observation.items():
            np.testing.assert_array_equal(value, right.observation[name])


def test_attributes_and_specs(parallel):
    single = envs.load("fake", action_repeat=2)
    serial = envs.load_many(2, "fake", action_repeat=2, processes=False)
    for batch in (parallel, serial):
        assert (batch.action_repeat, batch.episode_length) == (2, 10)
        assert batch.entries == single.entries
        assert [*batch.actions.low, *batch.actions.high] == [-1.0, 1.0]
        assert batch.batched
        assert batch.batch_size == 2
        assert batch.observation_spec() == single.observation_spec()
        assert batch.action_spec() == single.action_spec()


def test_seeds_are_distinct(parallel):
    positions = parallel.reset().observation["position"]
    assert positions[0] != positions[1]
    first = envs.load_many(3, "fake", seed=1, processes=False).reset()
    fewer = envs.load_many(2, "fake", seed=1, processes=False).reset()
    other = envs.load_many(2, "fake", seed=2, processes=False).reset()
    np.testing.assert_array_equal(
        first.observation["position"][:2], fewer.observation["position"]
    )
    assert not set(first.observation["position"].flat) & set(
        other.observation["position"].flat
    )


def test_serve_tensorflow(parallel):
    environment = tf_py_environment.TFPyEnvironment(parallel)
    assert environment.reset().observation["observation"].shape == (2, 2)
    assert environment.step(np.zeros([2, 1], np.float32)).reward.shape == (2,)


def test_pictures_of_all(parallel):
    parallel.reset()
    assert parallel.render().shape == (2, 64, 64, 3)


def test_error_in_a_process_is_raised_and_leaves_it_usable(parallel):
    with pytest.raises(ValueError, match="must be finite"):
        parallel.step(np.array([[np.nan], [0.0]], np.float32))
    assert parallel.reset().is_first().all()
    with pytest.raises(ValueError, match="2 actions are needed, got 3"):
        parallel.step(np.zeros([3, 1], np.float32))


@pytest.mark.slow
def test_dead_process_is_an_error_and_closing_ends_the_others(parallel):
    environments = parallel  # whose last test this is: to start others takes seconds
    environments.reset()
    environments._processes[1].kill()
    environments._processes[1].join()
    with pytest.raises(
        envs.EnvironmentFailedError, match=r"environment 1 of 2 has ended .*-9"
    ):
        environments.step(np.zeros([2, 1], np.float32))
    environments.close()
    assert not any(process.is_alive() for process in environments._processes)
    environments.close()
    with pytest.raises(envs.EnvironmentFailedError, match="are closed; load them again"):
        environments.reset()


def test_an_episode_whose_process_dies_is_left_out_for_the_next(caplog):
    deadly = {one_number([7, number]) for number in (1, 3, 4)}

    class Dies(Counter):
        def step(self, action):
            if self.seed in deadly:
                os._exit(139)
            return super().step(action)

    task = envs.give(Dies)
    given = {"task": task, "seed": 7, "give_up_after": 2}
    environments = ParallelEnvironment([given], cloudpickle.dumps(Dies))
    found, action = [environments.reset()], np.zeros([1, 1], np.float32)
    infos = [environments.get_info()]
    for _ in range(10):
        found.append(environments.step(action))
        infos.append(environments.get_info())
    kinds = "".join("FML"[int(step.step_type[0])] for step in found)
    assert kinds == "FMMLFFMMLFF"  # episode 1 and episode 3 die in their first step
    numbers = [int(info["number"][0]) for info in infos]
    assert numbers == [0, 0, 0, 0, 1, 2, 2, 2, 2, 3, 4]
    failed = [int(info["failed_episodes"][0]) for info in infos]
    assert failed == [0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 1]
    with pytest.raises(
        envs.EnvironmentFailedError,
        match="^2 episodes in a row have failed, the last with: the process of environment "
        r"0 of 1 has ended \(exit code 139\)$",
    ):
        environments.step(action)
    environments.close()
    assert [record.message.partition(":")[0] for record in caplog.records] == [
        "an episode is left out",
        "an episode is left out",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [KeyboardInterrupt, TimeoutError, ValueError])
def test_an_interruption_closes_all_so_that_no_answer_comes_late(monkeypatch, kind):
    environments = ParallelEnvironment([{"task": "fake", "seed": 0}])
    environments.reset()
    with monkeypatch.context() as patch:
        patch.setattr(environments._connections[0], "recv", Mock(side_effect=kind))
        with pytest.raises(kind):
            environments.step(np.ones([1, 1], np.float32))
    assert not environments._processes[0].is_alive()
    closed = rf"interrupted \({kind.__name__}\) and are closed; load them again"
    for call in (environments.reset, environments.render, environments.get_info):
        with pytest.raises(envs.EnvironmentFailedError, match=closed):
            call()
    environments.close()


@pytest.mark.slow
def test_error_at_the_start_is_that_of_the_environment(monkeypatch):
    with pytest.raises(RuntimeError, match="needs a package"):
        envs.load_many(1, "gym:BipedalWalker-v3")


@pytest.mark.parametrize("count", [0, 1.5, True])
def test_wrong_count_is_an_error(count):
    with pytest.raises(ValueError, match="count of environments must be at least 1"):
        envs.load_many(count, "fake")


def test_wrong_setting_is_an_error_before_any_process():
    with pytest.raises(ValueError, match="did you mean 'cheetah_run'"):
        envs.load_many(2, "cheeta_run")


@pytest.mark.parametrize(
    "kind", [ValueError, RuntimeError, envs.EnvironmentFailedError, KeyError]
)
def test_an_error_of_a_process_keeps_its_kind_where_all_know_it(kind):
    class Broken:
        def step(self):
            raise kind("for this reason")

    is_result, error = worker._answer(Broken(), "step", ())
    assert not is_result
    assert type(error) is (RuntimeError if kind is KeyError else kind)
    assert "for this reason" in str(pickle.loads(pickle.dumps(error)))


@pytest.mark.parametrize(
    ("task", "columns"),
    [
        ("cartpole_swingup", (1,)),
        ("pendulum_swingup", (0,)),
        ("acrobot_swingup", (0, 1)),
        ("reacher_easy", (0,)),  # the wrist has limits
        ("ball_in_cup_catch", ()),
        ("gym:Pendulum-v1", ()),
    ],
)
def test_hinges_without_limits_are_angles(task, columns):
    assert envs.wrapping_angles(task) == columns

"""Tests of tasks of gymnasium in its vector environment."""

import numpy as np
import pytest

import envs
from envs.many.gathered import GatheredEnvironment

pytest.importorskip("gymnasium")

from tests.envs.many.obedient import DIE, END, MISFIT, RAISE  # noqa: E402

OBEDIENT = "gymnasium:tests.envs.many.obedient:Obedient-v0"


@pytest.fixture
def several():
    """Loads so many environments of the task that does as its action says."""
    loaded = []

    def load(count=2, **settings):
        settings = {"give_up_after": 2, "time_limit": 4} | settings
        loaded.append(envs.load_many(count, OBEDIENT, seed=7, **settings))
        return loaded[-1]

    yield load
    for batch in loaded:
        batch.close()


def _step(batch, *wishes):
    return batch.step(np.array(wishes, np.float32)[:, None])


def _numbers(batch):
    info = batch.get_info()
    return info["number"].tolist(), info["failed_episodes"].tolist()


@pytest.mark.parametrize(
    ("task", "repeat"), [("CartPole-v1", 3), ("Pendulum-v1", 1), ("Pendulum-v1", 7)]
)
def test_it_gives_what_one_process_gives(task, repeat):
    given = {"task": f"gymnasium:{task}", "seed": 3, "action_repeat": repeat}
    gathered, serial = (
        envs.load_many(3, processes=processes, time_limit=12, **given)
        for processes in (True, False)
    )
    assert isinstance(gathered, GatheredEnvironment)
    assert gathered.observation_spec() == serial.observation_spec()
    assert gathered.action_spec() == serial.action_spec()
    random, size = np.random.default_rng(0), gathered.action_spec().shape[0]
    left, right = gathered.reset(), serial.reset()
    ends = 0
    for _ in range(30):
        for name in ("step_type", "reward", "discount"):
            np.testing.assert_array_equal(getattr(left, name), getattr(right, name))
        for name, value in left.observation.items():
            np.testing.assert_array_equal(value, right.observation[name])
        ends += left.is_last().sum()
        actions = np.eye(size, dtype=np.float32)[random.integers(size, size=3)]
        left, right = gathered.step(actions), serial.step(actions)
    assert ends >= 6
    assert gathered.get_info()["number"].tolist() == serial.get_info()["number"].tolist()
    gathered.close()


def test_an_episode_that_ends_begins_anew_while_the_others_go_on(several):
    batch = several(3)
    first = batch.reset().observation["observation"]
    assert len(set(first[:, 0])) == 3
    step = _step(batch, 0.0, END, 0.0)
    assert step.is_last().tolist() == [False, True, False]
    assert step.discount.tolist() == [1.0, 0.0, 1.0]
    step = _step(batch, 0.0, 0.0, -0.5)
    assert step.step_type.tolist() == [1, 0, 1]
    assert step.reward.tolist() == [0.0, 0.0, -0.5]
    assert step.observation["observation"][:, 1].tolist() == [2.0, 0.0, 2.0]
    assert _numbers(batch) == ([0, 1, 0], [0, 0, 0])


def test_pictures_are_those_of_each(several):
    batch = several(observation="pixels", image_size=8)
    batch.reset()
    _step(batch, 0.0, END)
    pictures = _step(batch, 0.0, 0.0).observation["observation"]
    assert pictures[:, 0, 0, 0].tolist() == [2, 0]
    np.testing.assert_array_equal(batch.render(), pictures)


@pytest.mark.parametrize("repeat", [1, 2])
@pytest.mark.parametrize("wish", [RAISE, MISFIT])
def test_an_episode_that_fails_is_left_out_and_the_others_go_on(several, wish, repeat):
    batch = several(action_repeat=repeat, time_limit=8)
    batch.reset()
    _step(batch, 0.0, 0.0)
    step = _step(batch, 0.0, wish)
    assert step.step_type.tolist() == [1, 0]
    assert step.observation["observation"][:, 1].tolist() == [2.0 * repeat, 0.0]
    assert _numbers(batch) == ([0, 1], [0, 1])
    step = _step(batch, 0.0, 0.0)
    assert step.observation["observation"][:, 1].tolist() == [3.0 * repeat, 1.0 * repeat]


def test_what_fails_again_and_again_is_told(several):
    batch = several(give_up_after=1)
    batch.reset()
    with pytest.raises(
        envs.EnvironmentFailedError,
        match=rf"^task '{OBEDIENT}': step failed: OverflowError: as you wish at .*obedient",
    ):
        _step(batch, 0.0, RAISE)
    assert batch.reset().is_first().all()
    with pytest.raises(envs.EnvironmentFailedError, match="does not fit its spec or space"):
        _step(batch, MISFIT, 0.0)


def test_a_process_that_dies_ends_the_episodes_of_all_and_they_go_on(several):
    batch = several(3)
    batch.reset()
    _step(batch, 0.0, 0.0, END)
    step = _step(batch, 0.0, DIE, 0.0)
    assert step.is_first().all()
    assert _numbers(batch) == ([1, 1, 1], [1, 1, 0])
    step = _step(batch, 0.0, 0.0, 0.0)
    assert step.observation["observation"][:, 1].tolist() == [1.0, 1.0, 1.0]


def test_processes_that_die_again_and_again_are_told(several):
    batch = several()
    batch.reset()
    assert _step(batch, DIE, 0.0).is_first().all()
    with pytest.raises(
        envs.EnvironmentFailedError,
        match=r"^2 episodes in a row have failed, the last with: the process of "
        r"environment 0 of 2 has ended \(exit code 7\)$",
    ):
        _step(batch, DIE, 0.0)


def test_an_interruption_ends_the_processes(several, monkeypatch):
    batch = several()
    batch.reset()
    vector = batch._vector._vector

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(vector, "step_wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _step(batch, 0.0, 0.0)
    assert not any(process.is_alive() for process in vector.processes)
    assert batch.reset().is_first().all()


def test_wrong_actions_are_refused_before_any_is_taken(several):
    batch = several()
    batch.reset()
    with pytest.raises(ValueError, match="2 actions are needed, got 3"):
        _step(batch, 0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="action must be finite"):
        _step(batch, 0.0, np.nan)
    steps = _step(batch, 0.0, 0.0).observation["observation"][:, 1]
    assert steps.tolist() == [1.0, 1.0]


def test_closing_ends_the_processes(several):
    batch = several()
    processes = batch._vector._vector.processes
    batch.close()
    assert not any(process.is_alive() for process in processes)
    batch.close()

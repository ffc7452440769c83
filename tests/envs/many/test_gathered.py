"""Tests of tasks of gymnasium in its vector environment."""

import subprocess
import sys

import numpy as np
import pytest

import envs
from envs.many.gathered import GatheredEnvironment

pytest.importorskip("gymnasium")

from envs.many.vector import Vector  # noqa: E402
from tests.envs.many.obedient import DIE, END, MISFIT, RAISE  # noqa: E402

OBEDIENT, PICKY, PARTS = (
    f"gymnasium:tests.envs.many.obedient:{name}-v0"
    for name in ("Obedient", "Picky", "Parts")
)


@pytest.fixture
def several():
    """Loads so many environments of the task that does as its action says."""
    loaded = []

    def load(count=2, task=OBEDIENT, **settings):
        settings = {"give_up_after": 2, "time_limit": 4} | settings
        loaded.append(envs.load_many(count, task, seed=7, **settings))
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
    "given",
    [
        {"task": "gymnasium:CartPole-v1", "action_repeat": 3},
        {"task": "gymnasium:Pendulum-v1", "time_limit": 7, "first_episodes": [0, 1, 2]},
        {"task": OBEDIENT, "action_repeat": 3, "time_limit": 5, "observation": "pixels"},
        {"task": OBEDIENT, "action_repeat": 4, "cut_after": 6},
        {"task": PARTS, "observation": "auto", "time_limit": 5, "image_size": 8},
        {"task": PICKY, "time_limit": 3, "give_up_after": 9},
    ],
    ids=lambda given: given["task"].rpartition(":")[2],
)
def test_it_gives_what_one_process_gives(several, given):
    gathered, serial = (
        several(3, **{"time_limit": None} | given, processes=processes)
        for processes in (True, False)
    )
    assert isinstance(gathered, GatheredEnvironment)
    assert gathered.observation_spec() == serial.observation_spec()
    assert gathered.action_spec() == serial.action_spec()
    random, size = np.random.default_rng(0), gathered.action_spec().shape[0]
    left, right = gathered.reset(), serial.reset()
    for _ in range(30):
        for name in ("step_type", "reward", "discount"):
            np.testing.assert_array_equal(getattr(left, name), getattr(right, name))
        for name, value in left.observation.items():
            np.testing.assert_array_equal(value, right.observation[name])
        for name, value in gathered.get_info().items():
            np.testing.assert_array_equal(value, serial.get_info()[name])
        chosen = random.integers(size, size=3)
        actions = np.eye(size, dtype=np.float32)[chosen] * (size > 1)
        left, right = gathered.step(actions), serial.step(actions)
    assert min(_numbers(serial)[0]) > 1  # several episodes have ended
    assert (max(_numbers(serial)[1]) > 0) == (given["task"] == PICKY)


def test_no_step_is_taken_after_the_end_of_an_episode(several):
    batch = several(action_repeat=3)
    batch.reset()
    step = _step(batch, END, 0.0)
    assert step.is_last().tolist() == [True, False]
    assert step.reward.tolist() == [END, 0.0]


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
    assert _numbers(batch) == ([1, 1, 2], [1, 1, 1])  # the last one was about to begin
    step = _step(batch, 0.0, 0.0, 0.0)
    assert step.observation["observation"][:, 1].tolist() == [1.0, 1.0, 1.0]


def test_a_process_that_dies_again_and_again_is_told_but_not_what_it_takes_along(several):
    batch = several(time_limit=9)
    batch.reset()
    for _ in range(3):
        assert _step(batch, DIE, 0.0).is_first().all()
        _step(batch, END, 0.0)
        assert _step(batch, 0.0, 0.0).is_first().tolist() == [True, False]
    assert _numbers(batch) == ([6, 3], [0, 3])
    assert _step(batch, DIE, 0.0).is_first().all()
    with pytest.raises(
        envs.EnvironmentFailedError,
        match=r"^2 episodes in a row have failed, the last with: the process of "
        r"environment 0 of 2 has ended \(exit code 0\)$",
    ):
        _step(batch, DIE, 0.0)


@pytest.mark.parametrize("call", ["step", "render"])
def test_an_interruption_ends_the_processes(several, monkeypatch, call):
    batch = several()
    batch.reset()
    vector = batch._vector._vector

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(vector, "call_wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _step(batch, 0.0, 0.0) if call == "step" else batch.render()
    assert not any(process.is_alive() for process in vector.processes)
    assert batch.reset().is_first().all()


def test_a_picture_whose_process_has_died_is_an_error(several):
    batch = several()
    batch.reset()
    batch._vector._vector.processes[1].kill()
    with pytest.raises(envs.EnvironmentFailedError, match="environment 1 of 2 has ended"):
        batch.render()
    with pytest.raises(envs.EnvironmentFailedError, match="vector environment has ended"):
        batch.render()
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
    with pytest.raises(envs.EnvironmentFailedError, match="are closed; load them again"):
        batch.reset()


def test_a_load_that_fails_leaves_no_process(several, monkeypatch):
    made, run = [], Vector._running
    monkeypatch.setattr(Vector, "_running", lambda self: made.append(run(self)) or made[-1])
    with pytest.raises(envs.EnvironmentFailedError, match="OverflowError: odd seed"):
        several(8, PICKY, give_up_after=1)
    assert made
    assert not any(process.is_alive() for process in made[0].processes)


def test_a_task_that_a_script_has_registered_runs_without_tensorflow(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("""
import sys
import gymnasium
import numpy as np
import envs

class Tells(gymnasium.Env):
    action_space = gymnasium.spaces.Box(-1.0, 1.0, [1])
    observation_space = gymnasium.spaces.Box(0.0, 1.0, [1])

    def reset(self, *, seed=None, options=None):
        return np.array([float("tensorflow" in sys.modules)]), {}

    def step(self, action):
        return np.zeros(1), 0.0, False, False, {}

if __name__ == "__main__":
    gymnasium.register("Tells-v0", entry_point=Tells)
    batch = envs.load_many(2, "gymnasium:Tells-v0", time_limit=3)
    print(batch.reset().observation["observation"].ravel().tolist())
    batch.close()
""")
    command = [sys.executable, script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.splitlines()[-1] == "[0.0, 0.0]"

"""The trained runs of `make runs`, used as a reader of the guide uses them."""

import pathlib
import subprocess

import gymnasium
import numpy as np
import pytest

import agents
from agents.__main__ import main
from envs.simulations import dm_control

pytestmark = pytest.mark.long
ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="module")
def start():
    """Their folder; they are trained where they are not there."""
    folder = ROOT / "logdir" / "start"
    if len([*folder.glob("*/checkpoints")]) < 3:
        subprocess.run(["make", "runs"], cwd=ROOT, check=True)
    return folder


@pytest.mark.parametrize(
    ("name", "least"),  # random actions of these runs: 123, 57 and 22
    [("cartpole_swingup", 300), ("reacher_easy", 200), ("cart_pole", 200)],
)
def test_they_have_learned(start, tmp_path, name, least):
    returns = agents.evaluate(start / name, episodes=5, out=tmp_path)["return"]
    assert returns.mean() > least


def test_one_acts_by_hand_in_dm_control(start):
    agent = agents.load(start / "cartpole_swingup")
    suite = dm_control.import_suite()  # which chooses what draws before it is imported
    task = suite.load("cartpole", "swingup", task_kwargs={"random": 0})
    step, total = task.reset(), 0.0
    while not step.last():
        action = agent.act(step.observation)
        for _ in range(8):  # the run's action_repeat
            step = task.step(action)
            total += step.reward
            if step.last():
                break
    assert total > 300


def test_one_acts_by_hand_in_gymnasium(start):
    agent, task = agents.load(start / "cart_pole"), gymnasium.make("CartPole-v1")
    seen, _ = task.reset(seed=0)
    total, has_ended = 0.0, False
    while not has_ended:
        seen, reward, *ends, _ = task.step(agent.act(seen))
        total, has_ended = total + reward, any(ends)
    assert total > 150


def test_one_goes_on_learning_elsewhere_and_leaves_the_first_as_it_is(start, tmp_path):
    def files():
        return {file: file.read_bytes() for file in start.rglob("*") if file.is_file()}

    before = files()
    words = ["learn", str(start / "cartpole_swingup"), f"logdir={tmp_path / 'learned'}"]
    words += ["updates_per_step=0.01", "evaluation.episodes=1", "video_every_steps=0"]
    assert main(words) == 0
    assert np.isfinite(agents.Trained(tmp_path / "learned").scores["return"]).all()
    assert files() == before

"""Tests of benchmarks.learning.minatar, on a game of four frames in place of MinAtar's."""

import sys

import gymnasium
import numpy as np
import pandas as pd
import pytest

from benchmarks.learning import minatar

LENGTH = 4


class Game(gymnasium.Env):
    """Action 1 is rewarded; it ends after so many frames."""

    observation_space = gymnasium.spaces.Box(0.0, 1.0, [10, 10, 4], bool)
    action_space = gymnasium.spaces.Discrete(3)
    seeds = []

    def reset(self, seed=None, options=None):
        self.seeds.append(seed)
        self.frames = 0
        return np.zeros([10, 10, 4], bool), {}

    def step(self, action):
        self.frames += 1
        seen = np.full([10, 10, 4], self.frames % 2 == 1)
        return seen, float(action == 1), self.frames == LENGTH, False, {}


def test_a_game_goes_on_with_the_next_episode_by_another_seed():
    Game.seeds.clear()
    frames = minatar.Frames(Game, seed=0)
    frames.reset()
    steps = [frames.step(1) for _ in range(LENGTH + 1)]
    assert [float(step.reward) for step in steps] == [1.0] * LENGTH + [0.0]
    assert [float(step.discount) for step in steps] == [1.0] * (LENGTH - 1) + [0.0, 1.0]
    assert steps[LENGTH].is_first()
    assert len(set(Game.seeds)) == 2


def test_epsilon_falls_within_a_fifth_of_the_frames():
    falls = [minatar.epsilon(step, 1000) for step in (0, 100, 200, 900)]
    np.testing.assert_allclose(falls, [1.0, 0.55, 0.1, 0.1], rtol=1e-6)


def test_a_picture_shows_what_is_in_front():
    state = np.zeros([1, 3, 4], bool)
    state[0, 1, 0] = state[0, 2, [0, 3]] = True  # a paddle; a paddle behind a brick
    empty, paddle, brick = minatar.picture(state)[0].tolist()
    assert empty == [0, 0, 0]
    assert paddle[2] > paddle[0]  # blue
    assert brick[0] > brick[2]  # red


def test_without_the_game_it_is_said_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "minatar.gym", None)
    with pytest.raises(SystemExit, match="pip install --no-deps minatar==1.0.15"):
        minatar.breakout()


@pytest.mark.slow
def test_the_same_seed_learns_the_same():
    """Nothing that is drawn depends on which thread is first."""
    one, two = (minatar.learn(Game, seed=3, frames=1200) for _ in range(2))
    for a, b in zip(one.policy.variables(), two.policy.variables(), strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


@pytest.mark.slow
def test_the_rewarded_action_is_learned_and_told(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(minatar, "breakout", Game)
    file = tmp_path / "tables" / "dqn.csv"
    words = ["--seeds", "0", "1", "--frames", "2000", "--episodes", "3", "--out", str(file)]
    minatar.main(words)
    table = pd.read_csv(file)
    assert list(table["seed"]) == ["0", "1", "all", "random actions"]
    assert list(table["score"][:3]) == [LENGTH] * 3
    # each of four actions is the rewarded one with probability 1 / 3
    assert table["score"][3] == pytest.approx(
        LENGTH / 3, abs=4 * (LENGTH * 2 / 9 / 500) ** 0.5
    )
    assert "seed 1: 4.00 after 2,000 frames" in capsys.readouterr().out

"""Tests of agents.runs.history."""

import pytest

from agents.runs import records
from agents.runs.folder import write_config
from agents.runs.history import load


@pytest.fixture
def run(tmp_path, make_config):
    """Folder of a run of 6 episodes, evaluated after every second by 3."""
    write_config(make_config(f"logdir={tmp_path}"))
    for episode in range(1, 7):
        steps = {"environment_steps": 100 * episode, "train_steps": 10 * episode}
        steps |= {"episodes": episode, "seed": 0}
        values = {"train/loss": 0.5 * episode, "train/latent_kl": None}
        records.append_metrics(tmp_path, steps | values)
        if episode % 2 == 0:
            scores = [{"evaluation_episode": k, "return": 10 * k} for k in range(3)]
            records.append_scores(tmp_path, [steps | score for score in scores])
    return load(tmp_path)


def test_score_curve_has_a_row_for_each_evaluation(run):
    steps, returns = run.score_curve()
    assert steps.tolist() == [200, 400, 600]
    assert returns.tolist() == [[0, 10, 20]] * 3


def test_null_values_are_left_out(run):
    assert run.curve("train_steps", "train/latent_kl") is None
    steps, losses = run.curve("train_steps", "train/loss")
    assert steps.tolist() == [10, 20, 30, 40, 50, 60]
    assert losses.tolist() == [0.5, 1, 1.5, 2, 2.5, 3]

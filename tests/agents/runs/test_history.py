"""Tests of agents.runs.history."""

import gzip

import pytest
import yaml

from agents.runs import records
from agents.runs.history import load


@pytest.fixture
def run(tmp_path):
    """Folder of a run of 6 episodes, evaluated after every second by 3."""
    (tmp_path / "config.yaml").write_text(yaml.safe_dump({"task": "fake"}))
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


def test_a_compressed_copy_of_metrics_stands_in_for_them(tmp_path):
    row = {"episodes": 1, "environment_steps": 5}
    records.append_metrics(tmp_path, row)
    file = tmp_path / records.METRICS
    (tmp_path / f"{records.METRICS}.gz").write_bytes(gzip.compress(file.read_bytes()))
    file.unlink()
    assert records.read_metrics(tmp_path) == [row]


def test_of_a_cut_compressed_copy_what_is_there_is_read(run, tmp_path, caplog):
    file = tmp_path / records.METRICS
    packed = tmp_path / f"{records.METRICS}.gz"
    whole = gzip.compress(file.read_bytes())
    file.unlink()
    packed.write_bytes(whole[: 3 * len(whole) // 4])
    steps, _ = load(tmp_path).curve("train_steps", "train/loss")
    assert 0 < len(steps) < 6
    assert "incomplete or damaged" in caplog.text
    packed.write_bytes(b"no gzip at all")
    assert load(tmp_path).curve("train_steps", "train/loss") is None
    assert f"{packed} is damaged, and left out" in caplog.text


def test_all_members_of_a_compressed_copy_are_read(run, tmp_path):
    file = tmp_path / records.METRICS
    lines = file.read_bytes().splitlines(keepends=True)
    members = [gzip.compress(b"".join(part)) for part in (lines[:2], lines[2:])]
    file.unlink()
    (tmp_path / f"{records.METRICS}.gz").write_bytes(b"".join(members))
    assert len(records.read_metrics(tmp_path)) == 6

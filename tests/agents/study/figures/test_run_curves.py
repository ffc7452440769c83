"""Tests of agents.study.figures.run_curves."""

import logging
import subprocess
import sys

import numpy as np
import pytest
import yaml
from PIL import Image

from agents.runs import records
from agents.runs.grouping import arrange
from agents.study.figures import run_curves
from agents.study.figures.run_curves import plot

ALL = ["losses.png", "returns.png", "scores.png", "weight_kl.png", "weight_stddev.png"]


def make_run(folder, seed=0, explore="Greedy", task="fake", episodes=6, scores=True):
    folder.mkdir(parents=True)
    config = {"task": task, "seed": seed, "logdir": str(folder)}
    config["explore"] = {"kind": explore}
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    random = np.random.default_rng(seed)
    for episode in range(1, episodes + 1):
        steps = {"environment_steps": 100 * episode, "episodes": episode}
        row = steps | {"train_steps": 10 * episode, "collect/return": random.normal()}
        for key in ("loss", "observation_loss", "weight_kl", "weight_kl/prior"):
            row[f"train/{key}"] = random.normal()
        row |= {"train/latent_kl": np.nan, "train/weight_stddev/prior": 0.1}
        records.append_metrics(folder, row | {"train/weight_ratio/prior": 0.2})
        score = steps | {"train_steps": 10 * episode, "seed": seed}
        if scores and episode % 2 == 0:
            rows = [{"evaluation_episode": k, "return": random.normal()} for k in range(3)]
            records.append_scores(folder, [score | row for row in rows])
    return folder


def names(files):
    return sorted(file.name for file in files)


@pytest.mark.slow
def test_figures_of_one_run_go_into_the_run(tmp_path):
    run = make_run(tmp_path / "run")
    files = plot(run)
    assert names(files) == ALL
    for file in files:
        assert file.parent == run / "figures"
        assert np.asarray(Image.open(file).convert("L")).std() > 0
    assert names((run / "figures").iterdir()) == ALL, "a temporary file was left"


@pytest.mark.usefixtures("undrawn")
def test_figures_of_several_runs_go_into_their_common_folder(tmp_path):
    runs = [make_run(tmp_path / "all" / str(seed), seed) for seed in range(3)]
    assert {file.parent for file in plot(runs)} == {tmp_path / "all" / "figures"}
    assert {file.parent for file in plot(runs, tmp_path / "out")} == {tmp_path / "out"}


@pytest.mark.usefixtures("undrawn")
def test_tasks_get_their_own_figures_of_training(tmp_path):
    runs = [make_run(tmp_path / task, task=task) for task in ("a", "b")]
    files = names(plot(runs))
    assert {"losses_a.png", "losses_b.png", "scores.png", "returns.png"} <= set(files)


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_run_without_scores_is_named_and_the_rest_is_drawn(tmp_path, caplog):
    run = make_run(tmp_path / "run", scores=False)
    with caplog.at_level(logging.WARNING):
        files = plot(run)
    assert "no evaluation has finished yet" in caplog.text
    assert names(files) == [name for name in ALL if name != "scores.png"]


@pytest.mark.usefixtures("undrawn")
def test_run_whose_scores_are_all_damaged_is_told_from_one_without(tmp_path, caplog):
    run = make_run(tmp_path / "run")
    (run / "scores.csv").write_bytes(b"10,1,2,0,0,abc\n-5,1,2,0,0,1.0\n\xff")
    with caplog.at_level(logging.WARNING):
        plot(run)
    assert caplog.text.count("is incomplete or damaged, and left out") == 3
    assert "has no scores: no line of scores.csv can be read" in caplog.text


@pytest.mark.slow
@pytest.mark.parametrize("key", ["value/error", "train/value_loss"])
def test_the_value_is_drawn_where_there_is_one(tmp_path, key):
    run = make_run(tmp_path / "run", scores=False)
    steps = {"environment_steps": 700, "episodes": 7, "train_steps": 70}
    records.append_metrics(run, steps | {key: 1.0, "collect/return": 0.0})
    (file,) = (file for file in plot(run) if file.name == "value.png")
    assert np.asarray(Image.open(file).convert("L")).std() > 0


@pytest.mark.usefixtures("undrawn")
def test_seeds_of_unequal_length_and_evaluations_are_drawn(tmp_path):
    runs = [make_run(tmp_path / "0", 0), make_run(tmp_path / "1", 1, episodes=2)]
    steps = {"environment_steps": 200, "episodes": 2, "train_steps": 20}
    extra = steps | {"evaluation_episode": 3, "seed": 1, "return": 1.0}
    records.append_scores(runs[1], [extra])
    assert names(plot(runs)) == ALL


@pytest.mark.usefixtures("undrawn")
def test_a_run_that_is_named_twice_counts_once(tmp_path, monkeypatch):
    run, counts = make_run(tmp_path / "run"), []
    monkeypatch.setattr(
        run_curves, "arrange", lambda runs: counts.append(len(runs)) or arrange(runs)
    )
    plot([f"{run}", f"{run}/", run / ".." / "run"])
    assert counts == [1]


@pytest.mark.filterwarnings("error")
@pytest.mark.usefixtures("undrawn")
def test_no_panel_of_returns_is_drawn_of_runs_that_collected_nothing(tmp_path, monkeypatch):
    run = tmp_path / "learned"
    run.mkdir()
    (run / "config.yaml").write_text(yaml.safe_dump({"task": "fake", "seed": 0}))
    steps = {"environment_steps": 700, "episodes": 7, "train_steps": 70}
    records.append_metrics(run, steps | {"train/loss": 1.0})
    assert names(plot(run)) == ["losses.png"]
    drawn = []
    monkeypatch.setattr(run_curves, "finish", lambda axes, x, unit: drawn.append(unit))
    files = plot([run, make_run(tmp_path / "run", task="b", scores=False)])
    assert "returns.png" in names(files)
    assert drawn.count("return of collected episodes") == 1


def test_folder_that_is_no_run_is_an_error(tmp_path):
    with pytest.raises(
        ValueError, match="is not the folder of a run: it has no config.yaml"
    ):
        plot(tmp_path)


def test_run_without_rows_is_an_error(tmp_path):
    run = make_run(tmp_path / "run", episodes=0)
    with pytest.raises(
        ValueError, match=r"has nothing to plot: its metrics.jsonl has no complete line"
    ):
        plot(run)
    assert not (run / "figures").exists()


def test_no_runs_is_an_error():
    with pytest.raises(ValueError, match="no runs to plot"):
        plot([])


@pytest.mark.slow
def test_drawing_needs_no_tensorflow():
    heavy = {"tensorflow", "matplotlib.pyplot"}
    code = f"import agents.study.figures.run_curves, sys; print({heavy} & {{*sys.modules}})"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert output.stdout == "set()\n", output.stderr

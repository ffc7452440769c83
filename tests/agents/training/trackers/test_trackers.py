"""Tests of agents.training.trackers: where curves, films and configs are shown."""

import contextlib
import pathlib
import sys
import types

import numpy as np
import pytest
from PIL import Image

import agents
from agents.runs.config import overrides
from agents.runs.records import read_metrics
from agents.system.errors import UserError
from agents.training import trackers
from agents.training.trackers.log import MetricsLog

CONFIG = {"task": "fake", "planner": {"horizon": 6}}
ROWS = [
    {"episodes": n, "environment_steps": 1000 * n, "collect/return": 0.5 * n}
    for n in (1, 2, 3)
]


def film(folder):
    """A picture and a film in files, as they are logged."""
    frames = np.random.default_rng(0).integers(0, 255, [3, 8, 8, 3], dtype=np.uint8)
    first, *others = map(Image.fromarray, frames)
    first.save(folder / "a.png")
    first.save(folder / "a.gif", save_all=True, append_images=others)
    return {"open_loop/figure": folder / "a.png", "open_loop/video": folder / "a.gif"}


def log_twice(name, folder):
    """Two sessions, the second of which goes on after the first two episodes."""
    run = folder / "run"
    run.mkdir()
    for rows, kept in ((ROWS[:2], None), (ROWS[2:], 2)):
        with contextlib.closing(MetricsLog(run, trackers.find(name), CONFIG)) as log:
            if kept:
                log.cut(kept, 1000 * kept)
            for row in rows:
                log.write(row | {"nothing": None})
            for picture, file in film(folder).items():
                log.picture(picture, file, 2000)
    assert read_metrics(run) == [row | {"nothing": None} for row in ROWS]
    return run


def test_wandb_gets_curves_films_and_config_without_a_network(tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    seen, log = [], wandb.Run.log
    monkeypatch.setattr(
        wandb.Run, "log", lambda r, row: (seen.append((r, row)), log(r, row))
    )
    log_twice("wandb", tmp_path)
    assert len({run.id for run, _ in seen}) == 1
    assert seen[0][0].config.as_dict()["planner"] == {"horizon": 6}
    curve = [row for _, row in seen if "collect/return" in row]
    assert [row["environment_steps"] for row in curve] == [1000, 2000, 3000]
    assert [row["collect/return"] for row in curve] == [0.5, 1.0, 1.5]
    kinds = {type(v).__name__ for _, row in seen for v in row.values()}
    assert {"Image", "Video"} <= kinds
    assert len(list((tmp_path / "run" / "wandb").glob("offline-run-*"))) == 2


def test_mlflow_gets_curves_films_and_config_in_files(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "store").as_uri())
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "mine")
    log_twice("mlflow", tmp_path)
    client = mlflow.MlflowClient()
    experiment = client.get_experiment_by_name("mine")
    (found,) = client.search_runs([experiment.experiment_id])
    assert found.data.params == {"task": "fake", "planner.horizon": "6"}
    assert found.info.status == "FINISHED"
    history = client.get_metric_history(found.info.run_id, "collect/return")
    assert [(each.step, each.value) for each in history] == [
        (1000, 0.5),
        (2000, 1.0),
        (3000, 1.5),
    ]
    place = pathlib.Path(found.info.artifact_uri.removeprefix("file://"))
    files = {each.relative_to(place).as_posix() for each in place.rglob("*.*")}
    assert files >= {"config.yaml", "open_loop/figure/a.png", "open_loop/video/a.gif"}


class Own:
    """A logger of a user."""

    calls = []

    def start(self, folder, config, kept_steps):
        self.calls.append(("start", folder.name, config["task"], kept_steps))

    def write(self, step, row):
        self.calls.append(("write", step, row["collect/return"]))

    def picture(self, name, file, step):
        self.calls.append(("picture", name, file.name, step))

    def close(self):
        self.calls.append(("close",))


class Failing(Own):
    def write(self, step, row):
        raise ConnectionError("no\nnetwork")


@pytest.fixture
def own_module(monkeypatch):
    monkeypatch.setattr(Own, "calls", [])
    module = types.SimpleNamespace(Own=Own, Failing=Failing, Empty=object, one=Own())
    monkeypatch.setitem(sys.modules, "own_logger", module)


@pytest.mark.usefixtures("own_module")
def test_a_class_of_ones_own_gets_all(tmp_path):
    log_twice("python:own_logger:Own", tmp_path)
    films = [
        ("picture", "open_loop/figure", "a.png", 2000),
        ("picture", "open_loop/video", "a.gif", 2000),
    ]
    first = [("start", "run", "fake", 0), ("write", 1000, 0.5), ("write", 2000, 1.0)]
    later = [("start", "run", "fake", 2000), ("write", 3000, 1.5)]
    assert Own.calls == [*first, *films, ("close",), *later, *films, ("close",)]


@pytest.mark.usefixtures("own_module")
def test_a_logger_that_fails_ends_no_run(tmp_path, caplog):
    with contextlib.closing(MetricsLog(tmp_path, Failing, CONFIG)) as log:
        for row in ROWS:
            log.write(row)
    assert read_metrics(tmp_path) == ROWS
    (warning,) = caplog.messages
    assert warning.endswith("left out from now on: ConnectionError: no network")


@pytest.mark.parametrize("name", trackers.LIBRARIES)
def test_a_library_that_is_missing_is_told_with_its_extra(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)  # cannot be imported
    monkeypatch.delitem(sys.modules, f"agents.training.trackers.{name}", raising=False)
    with pytest.raises(UserError) as caught:
        trackers.find(name)
    what = f"logger={name} needs {name}, which is not installed"
    assert str(caught.value) == f"{what}: pip install 'bayes_rl[{name}]'"


@pytest.mark.usefixtures("own_module")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("wandbb", "logger must be .* or python:module:Class, got 'wandbb'; .* 'wandb'"),
        ("python:nowhere:Own", "logger=python:nowhere:Own: ModuleNotFoundError: No module"),
        ("python:own_logger:Other", "AttributeError: .*no attribute 'Other'"),
        ("python:own_logger:Empty", "it lacks start, write, picture, close"),
        ("python:own_logger:one", "start, write, picture, close, not an object"),
    ],
)
def test_a_logger_that_is_wrong_is_told_in_one_line(name, message):
    with pytest.raises(UserError, match=message) as caught:
        trackers.find(overrides.load(["task=fake", f"logger={name}"]).logger)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.usefixtures("own_module")
def test_a_run_is_shown_by_the_logger_of_its_config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = "experiment=debug environment_steps=20 seed_steps=40 logdir=run task=fake"
    words += " evaluation.every_steps=0 video_every_steps=0 logger=python:own_logger:Own"
    agents.train(words)
    assert [call[0] for call in Own.calls] == ["start", "write", "close"]
    assert Own.calls[0] == ("start", "run", "fake", 0)
    assert not (tmp_path / "run" / "tensorboard").exists()

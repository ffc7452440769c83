"""Tests of agents.training.trackers.log and agents.runs.records."""

import contextlib
import json
import logging

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.plugin_event_accumulator import (
    EventAccumulator as Shown,  # what TensorBoard itself reads with
)
from tensorboard.summary.writer import event_file_writer

from agents.runs import records
from agents.training.trackers.log import MetricsLog


def row(episodes, **values):
    return {"episodes": episodes, "environment_steps": 1000 * episodes, **values}


def score(episodes, evaluation_episode=0, value=1.5):
    return {
        "environment_steps": 1000 * episodes,
        "episodes": episodes,
        "train_steps": 100 * episodes,
        "evaluation_episode": evaluation_episode,
        "seed": 3,
        "return": value,
    }


def write(run, episodes=3):
    with contextlib.closing(MetricsLog(run)) as log:
        for number in range(1, episodes + 1):
            log.write(row(number, **{"train/loss": 0.5 * number}))
            log.write_scores([score(number, 0), score(number, 1)])


def test_each_episode_is_a_line(tmp_path):
    write(tmp_path)
    lines = (tmp_path / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["train/loss"] for line in lines] == [0.5, 1.0, 1.5]


def test_scores_have_one_header_and_a_line_each(tmp_path):
    write(tmp_path, episodes=2)
    assert (tmp_path / "scores.csv").read_text().splitlines() == [
        "environment_steps,episodes,train_steps,evaluation_episode,seed,return",
        "1000,1,100,0,3,1.5",
        "1000,1,100,1,3,1.5",
        "2000,2,200,0,3,1.5",
        "2000,2,200,1,3,1.5",
    ]
    assert records.read_scores(tmp_path)[0] == score(1)


def test_what_was_measured_later_is_added_once(tmp_path):
    write(tmp_path, episodes=1)
    with contextlib.closing(MetricsLog(tmp_path)) as log:
        log.write(row(2))
        for _ in range(2):  # a run that was killed in between asks again
            log.amend(row(2), {"evaluate/return": 1.5}, [score(2)])
    read = records.read_scores(tmp_path)
    assert [each["episodes"] for each in read] == [1, 1, 2]
    *_, last = (tmp_path / "metrics.jsonl").read_text().splitlines()
    assert json.loads(last) == row(2) | {"evaluate/return": 1.5}


def test_what_is_not_finite_is_null_and_tensors_are_numbers(tmp_path):
    values = {"a": float("nan"), "b": np.inf, "c": np.float32(2), "d": tf.constant(3.0)}
    with contextlib.closing(MetricsLog(tmp_path)) as log:
        log.write(row(np.int64(1), **values))

    def fail(word):
        raise AssertionError(f"{word} is not JSON")

    line = (tmp_path / "metrics.jsonl").read_text()
    read = json.loads(line, parse_constant=fail)
    assert [read[key] for key in "abcd"] == [None, None, 2.0, 3.0]
    assert read["episodes"] == 1


def test_tensorboard_steps_are_environment_steps(tmp_path):
    write(tmp_path)
    events = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    found = [
        (event.step, float(tf.make_ndarray(event.tensor_proto)))
        for event in events.Tensors("train/loss")
    ]
    assert found == [(1000, 0.5), (2000, 1.0), (3000, 1.5)]


def test_pictures_reach_tensorboard_as_they_are(tmp_path):
    frames = np.random.default_rng(0).integers(0, 255, [4, 16, 12, 3], dtype=np.uint8)
    first, *others = map(Image.fromarray, frames)
    first.save(tmp_path / "a.png")
    first.save(tmp_path / "a.gif", save_all=True, append_images=others)
    with contextlib.closing(MetricsLog(tmp_path)) as log:
        log.picture("figure", tmp_path / "a.png", step=5)
        log.picture("evaluate/video", tmp_path / "a.gif", step=6)
    events = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    for name, step, file in (("figure", 5, "a.png"), ("evaluate/video", 6, "a.gif")):
        (event,) = events.Tensors(name)
        width, height, encoded = event.tensor_proto.string_val
        assert (event.step, width, height) == (step, b"12", b"16")
        assert encoded == (tmp_path / file).read_bytes()
        assert events.SummaryMetadata(name).plugin_data.plugin_name == "images"


@pytest.fixture
def first_names(monkeypatch):
    """Event files of one second are read in the order of their numbers, "10" before "9"."""
    counter = event_file_writer.AtomicCounter(0)
    monkeypatch.setattr(event_file_writer, "_global_uid", counter)


@pytest.mark.usefixtures("first_names")
def test_tensorboard_shows_each_step_of_a_resumed_run_once(tmp_path):
    write(tmp_path, episodes=3)
    for value in (7.0, 8.0):
        with contextlib.closing(MetricsLog(tmp_path)) as log:
            log.cut(episodes=2, environment_steps=2000)
            log.write(row(3, **{"train/loss": value}))
    events = Shown(str(tmp_path / "tensorboard")).Reload()
    for name, values in (("train/loss", [0.5, 1.0, 8.0]), ("episodes", [1, 2, 3])):
        found = [
            (event.step, float(tf.make_ndarray(event.tensor_proto)))
            for event in events.Tensors(name)
        ]
        assert found == list(zip([1000, 2000, 3000], values, strict=True))


@pytest.mark.usefixtures("first_names")
def test_a_run_that_starts_anew_shows_only_its_new_points(tmp_path):
    write(tmp_path, episodes=1)
    with contextlib.closing(MetricsLog(tmp_path)) as log:
        log.cut(episodes=0, environment_steps=0)
        log.write(row(1, **{"train/loss": 7.0}))
    events = Shown(str(tmp_path / "tensorboard")).Reload()
    assert [event.step for event in events.Tensors("train/loss")] == [1000]


def test_cut_takes_back_later_episodes(tmp_path):
    write(tmp_path)
    MetricsLog(tmp_path).cut(episodes=2, environment_steps=2000)
    assert [line["episodes"] for line in records.read_metrics(tmp_path)] == [1, 2]
    assert [line["episodes"] for line in records.read_scores(tmp_path)] == [1, 1, 2, 2]
    with contextlib.closing(MetricsLog(tmp_path)) as log:
        log.write(row(3))
        log.write_scores([score(3)])
    assert records.read_metrics(tmp_path)[-1]["episodes"] == 3
    assert records.read_scores(tmp_path)[-1] == score(3)


def test_cut_to_nothing_keeps_the_header(tmp_path):
    write(tmp_path)
    MetricsLog(tmp_path).cut(episodes=0, environment_steps=0)
    assert (tmp_path / "metrics.jsonl").read_text() == ""
    MetricsLog(tmp_path).write_scores([score(1)])
    assert records.read_scores(tmp_path) == [score(1)]


def test_numbers_of_a_run_that_begins_anew_are_kept_aside(tmp_path, caplog):
    for count in (1, 2):
        write(tmp_path)
        before = (tmp_path / "metrics.jsonl").read_text()
        with caplog.at_level(logging.WARNING):
            MetricsLog(tmp_path).cut(episodes=0, environment_steps=0)
        assert records.read_metrics(tmp_path) == records.read_scores(tmp_path) == []
        assert (tmp_path / f"metrics.before_{count}.jsonl").read_text() == before
        assert (tmp_path / f"scores.before_{count}.csv").exists()
        assert f"earlier numbers are in metrics.before_{count}.jsonl" in caplog.text


def test_of_one_episode_that_was_not_saved_nothing_is_kept_aside(tmp_path):
    write(tmp_path, episodes=1)
    MetricsLog(tmp_path).cut(episodes=0, environment_steps=0)
    assert not list(tmp_path.glob("*before*"))


def test_cut_before_the_first_row_is_nothing(tmp_path):
    MetricsLog(tmp_path).cut(episodes=0, environment_steps=0)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["metrics.jsonl", "scores.csv"])
@pytest.mark.parametrize("lost", [1, 2, 9])
def test_torn_last_line_is_named_and_left_out(tmp_path, caplog, name, lost):
    write(tmp_path)
    file = tmp_path / name
    file.write_bytes(file.read_bytes()[:-lost])
    with caplog.at_level(logging.WARNING):
        MetricsLog(tmp_path).cut(episodes=99, environment_steps=99_000)
    (record,) = caplog.records
    assert name in record.getMessage()
    assert "is incomplete or damaged, and left out" in record.getMessage()
    with contextlib.closing(MetricsLog(tmp_path)) as log:
        log.write(row(4))
        log.write_scores([score(4)])
    caplog.clear()
    assert records.read_metrics(tmp_path)[-1]["episodes"] == 4
    assert records.read_scores(tmp_path)[-1]["episodes"] == 4
    assert not caplog.records


@pytest.mark.parametrize("steps", ["", ', "environment_steps": null'])
def test_line_without_its_steps_is_named_and_left_out(tmp_path, caplog, steps):
    write(tmp_path)
    with open(tmp_path / "metrics.jsonl", "a") as file:
        file.write(f'{{"episodes": 4{steps}}}\n')
    with caplog.at_level(logging.WARNING):
        assert len(records.read_metrics(tmp_path)) == 3
    assert "metrics.jsonl: line 4 is incomplete or damaged, and left out" in caplog.text


def test_score_that_is_no_number_is_named_and_left_out(tmp_path, caplog):
    write(tmp_path, episodes=1)
    with open(tmp_path / "scores.csv", "a") as file:
        file.write("2000,2,200,0,0,nan\n")
    with caplog.at_level(logging.WARNING):
        assert {each["episodes"] for each in records.read_scores(tmp_path)} == {1}
    assert "scores.csv: line 4 is incomplete or damaged, and left out" in caplog.text


def test_bytes_that_are_no_text_are_survived(tmp_path):
    write(tmp_path)
    with open(tmp_path / "metrics.jsonl", "ab") as file:
        file.write(b"\xff\x00\x00")
    MetricsLog(tmp_path).cut(episodes=99, environment_steps=99_000)
    assert len(records.read_metrics(tmp_path)) == 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda log: log.write({"environment_steps": 1}), "needs the key episodes"),
        (
            lambda log: log.write_scores([{"return": 1.0}]),
            "a score needs environment_steps, ",
        ),
    ],
)
def test_row_without_its_step_is_an_error(tmp_path, call, message):
    with pytest.raises(ValueError, match=message):
        call(MetricsLog(tmp_path))
    assert not list(tmp_path.iterdir())

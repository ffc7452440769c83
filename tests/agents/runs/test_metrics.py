"""Tests of agents.runs.metrics: the table has what is written, and nothing else."""

import pathlib
import re

import pytest

import agents
from agents.runs.metrics import METRICS, metric, of_chart
from agents.runs.records import read_metrics

ROOT = pathlib.Path(agents.__file__).parent


def test_a_run_writes_no_metric_that_the_table_lacks(whole_run):
    written = {name for row in read_metrics(whole_run) for name in row}
    assert {"collect/return", "explore/epistemic_ratio", "train/loss"} <= written
    for name in written:
        assert metric(name).meaning


@pytest.fixture(scope="module")
def code():
    return "\n".join(
        file.read_text() for file in ROOT.rglob("*.py") if file.name != "metrics.py"
    )


@pytest.mark.parametrize("name", METRICS)
def test_the_table_has_no_metric_that_no_code_names(name, code):
    group, _, last = name.rpartition("/")
    word = group.rpartition("/")[2] + "/" if last == "*" else last
    if name == "probe/*":  # names of the physics of a task
        word = "live_probe"
    assert re.search(rf"\b{word}", code)


def test_a_name_that_nobody_explained_is_told():
    with pytest.raises(KeyError, match="metrics.csv does not say what 'train/new' means"):
        metric("train/new")


def test_charts_have_their_metrics_with_labels():
    assert {*of_chart("losses").values()} >= {"loss", "reward loss"}
    assert "value/error" in of_chart("value")
    assert all((of_chart("value") | of_chart("losses")).values())

"""Tests of agents.cli.starting."""

import concurrent.futures
import dataclasses

import pytest

from agents.cli.starting import check_elsewhere
from agents.runs.folder import open_run
from tests.agents.presets import used


def test_a_run_that_was_begun_is_checked_by_no_process(tmp_path, monkeypatch):
    config = used("task=fake", f"logdir={tmp_path}/run", "compile=false")
    open_run(config).close()
    monkeypatch.setattr(concurrent.futures, "ProcessPoolExecutor", None)
    assert check_elsewhere(dataclasses.replace(config, compile=None)) == config


@pytest.mark.slow
def test_a_new_run_is_resolved_by_another_process(tmp_path):
    config = used("task=fake", f"logdir={tmp_path}/run")
    assert check_elsewhere(dataclasses.replace(config, action_repeat=None)) == config
    assert not (tmp_path / "run").exists()

"""Tests of agents.cli.sweep.table."""

import io

import pytest
from rich.console import Console

from agents.cli.sweep import table as sweep_table
from agents.cli.sweep.launching import DONE, FAILED, RUNNING, Job
from agents.cli.sweep.table import SweepTable
from agents.runs import records

ROW = {"episodes": 3, "environment_steps": 3000, "collect/return": 12.34}


@pytest.fixture
def jobs(tmp_path):
    return [Job((), tmp_path / str(seed), 10_000, f"seed={seed}") for seed in range(4)]


def show(use, jobs, terminal, height=50, **settings):
    file = io.StringIO()
    console = Console(
        file=file, force_terminal=terminal, width=120, height=height, color_system=None
    )
    with SweepTable(jobs, 2, console=console, **settings) as table:
        use(table)
        if terminal:
            table._live.refresh()
            file.truncate(0)  # what stands there last
    return file.getvalue()


def use(jobs):
    def events(table):
        table.change(jobs[1], RUNNING)
        jobs[1].folder.mkdir()
        records.append_metrics(jobs[1].folder, ROW)
        table.refresh()
        table.change(jobs[2], RUNNING)
        table.change(jobs[2], FAILED, "no space left")

    return events


def test_terminal_has_one_row_for_each_run(jobs):
    shown = show(use(jobs), jobs, True, finished=[jobs[0]])
    rows = {line.split()[0]: line for line in shown.splitlines() if "seed=" in line}
    assert "done: before" in rows["seed=0"]
    assert all(text in rows["seed=1"] for text in ("3,000 / 10,000", "12.3", "running"))
    assert "failed: no space left" in rows["seed=2"]
    assert "waiting" in rows["seed=3"]
    summary = "1 of 4 runs done, 1 running, 1 waiting, 1 failed, about"
    assert summary in shown


def test_lines_off_a_terminal_tell_what_changes(jobs):
    lines = show(use(jobs), jobs, False).splitlines()
    assert lines == [
        "0 of 4 runs done, 4 waiting; 2 at once",
        f"seed=1: running, output in {jobs[1].folder / 'output.log'}",
        f"seed=2: running, output in {jobs[2].folder / 'output.log'}",
        "seed=2: failed: no space left",
        lines[-1],
    ]
    assert lines[-1].startswith("0 of 4 runs done, 1 running, 2 waiting, 1 failed")


def test_lines_off_a_terminal_report_now_and_then(jobs, monkeypatch):
    monkeypatch.setattr(sweep_table, "_REPORT_SECONDS", 0.0)
    text = show(use(jobs), jobs, False)
    assert "seed=1: episodes 3, environment steps 3,000 / 10,000, return 12.3, left" in text


def test_where_rows_do_not_fit_those_that_run_are_shown(jobs):
    shown = show(use(jobs), jobs, True, height=6)
    assert "seed=1" in shown
    assert "seed=2" in shown
    assert "seed=3" not in shown


def test_time_left_of_all_counts_runs_at_once(jobs, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(sweep_table.time, "monotonic", lambda: now[0])
    table = SweepTable(jobs, 2, finished=[jobs[0]], console=Console(file=io.StringIO()))
    table.change(jobs[1], RUNNING)
    assert table._left() is None
    now[0] = 30.0
    jobs[1].folder.mkdir()
    records.append_metrics(jobs[1].folder, ROW)
    table.refresh()
    # 27,000 steps at 100 a second, two at once
    assert table._left() == "2 min 15 s"
    table.change(jobs[1], DONE)

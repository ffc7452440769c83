"""Tests of benchmarks.scale.processes."""

import os
import pathlib
import shutil

from benchmarks.scale import processes

RESULTS = pathlib.Path(processes.__file__).parents[2] / "results"


def test_the_page_of_this_repository_stands_as_it_is_made(tmp_path):
    for name in ("processes.csv", "processes.md"):
        shutil.copy(RESULTS / name, tmp_path)
    processes.make_report().remake(tmp_path)
    kept = (RESULTS / "processes.md").read_text()
    assert (tmp_path / "processes.md").read_text() == kept


def test_actors_are_held_against_one_process_of_the_same_code():
    own = {"code": "a", "spent": 7.04, "learner": 5.0, "memory": 900.0}
    rows = [own | {"actors": 0}, own | {"actors": 2, "spent": 8.0, "memory": 1500.0}]
    rows.append(own | {"code": "b", "actors": 2, "spent": 1.0})
    assert processes.answer(rows, {}) == (
        "With 2 actors, 1000 environment steps take 8.0 core seconds, 5.0 of them the "
        "learner's, against 7.0 in one process; all processes hold 1500 MiB, against 900."
    )


def test_the_command_is_the_learner_where_no_other_process_is():
    found = processes._by_kind(os.getpid(), lambda process: process.pid)
    assert found[os.getpid()] == ("learner", os.getpid())

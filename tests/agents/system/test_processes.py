"""Tests of agents.system.processes."""

import os
import pathlib
import subprocess
import sys
import time

import pytest

from agents.system.processes import cores

ROOT = pathlib.Path(__file__).parents[3]
CHILD = """
import os, sys, time
from agents.system.processes import die_with_parent
sys.platform = sys.argv[1]
die_with_parent()
print(os.getpid(), flush=True)
time.sleep(60)
"""
PARENT = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", *sys.argv[1:]])
time.sleep(60)
"""
ORPHAN = "from agents.system.processes import die_with_parent as die; die(parent=1 << 30)"


def python(code, *words):
    return subprocess.Popen(
        [sys.executable, "-c", code, *words],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_a_process_dies_with_the_one_that_started_it(platform):
    with python(PARENT, CHILD, platform) as parent:
        assert parent.stdout.readline().strip().isdigit()
        began = time.monotonic()
        parent.kill()
        assert parent.stdout.read() == "", "the child holds the pipe until it ends"
    assert time.monotonic() - began < 10


def test_a_process_whose_parent_has_died_before_dies_at_once():
    with python(ORPHAN) as orphan:
        assert orphan.wait(30) == -9


def test_where_a_process_cannot_be_kept_from_cores_it_has_all(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity")  # as on macOS
    assert cores() == os.cpu_count()

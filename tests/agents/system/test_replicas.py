"""Tests of agents.system.replicas; what is summed, tests of the agent cover."""

import os
import pathlib
import subprocess
import sys

import pytest

from agents.system.processes import free_addresses

ROOT = pathlib.Path(__file__).parents[3]
PROCESS = """
import sys
from agents.training.distributed.together import devices_of
from agents.system.replicas import told_by_all
number = int(sys.argv[1])
print(told_by_all(devices_of(sys.argv[2:], number), [7, number]).tolist())
"""


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_each_process_learns_what_all_say():
    pytest.importorskip("ray")
    addresses = free_addresses(2)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, str(number), *addresses],
            env=os.environ | {"PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(2)
    ]
    for process in processes:
        out, errors = process.communicate(timeout=100)
        assert process.returncode == 0, errors
        assert out.splitlines()[-1] == "[[7, 0], [7, 1]]"

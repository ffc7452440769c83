"""Tests of agents.system.locking; of runs, tests of agents.runs.folder."""

import os
import subprocess
import sys

import pytest

from agents.system.errors import InUseError
from agents.system.locking import lock_folder


def test_one_at_a_time_has_a_folder(tmp_path):
    with lock_folder(tmp_path):
        with pytest.raises(InUseError) as error:
            lock_folder(tmp_path)
        assert str(error.value) == (
            f"{tmp_path} is in use by another process ({os.getpid()}); "
            "wait until it ends, or start a new run with another logdir"
        )
    lock_folder(tmp_path).close()


def test_what_a_process_held_is_free_after_its_death(tmp_path):
    code = (
        "import os, pathlib, sys; from agents.system.locking import lock_folder;"
        "lock = lock_folder(pathlib.Path(sys.argv[1])); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert done.returncode == -9
    lock_folder(tmp_path).close()

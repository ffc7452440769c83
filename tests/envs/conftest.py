"""What tests of environments share."""

import ctypes.util
import os
import pathlib
import subprocess
import sys

import pytest

from envs.simulations import rendering

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def needs_pictures():
    """Skips a test where no rendering library loads."""
    if rendering.choose() == "disabled":
        pytest.skip("neither EGL nor OSMesa loads: install libegl1 or libosmesa6")


@pytest.fixture
def run_python():
    """Runs code in a fresh Python and returns what it said and how it ended."""

    def run(code, **environment):
        ours = ("MUJOCO_GL", "PYOPENGL_PLATFORM", "GALLIUM_DRIVER")
        inherited = {k: v for k, v in os.environ.items() if k not in ours}
        inherited.update(PYTHONPATH=str(ROOT), TF_CPP_MIN_LOG_LEVEL="3", **environment)
        return subprocess.run(
            [sys.executable, "-c", code],
            env=inherited,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run


@pytest.fixture
def without_libraries(monkeypatch):
    """A machine on which neither EGL nor OSMesa is installed."""
    monkeypatch.setattr(ctypes.util, "find_library", lambda name: None)

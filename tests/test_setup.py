"""Tests of setup.py."""

import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[1]


def test_version_is_that_of_the_package_and_needs_no_tensorflow(tmp_path):
    shutil.copy(ROOT / "setup.py", tmp_path)
    (tmp_path / "bayes_rl").mkdir()
    (tmp_path / "bayes_rl" / "version.py").write_text('VERSION = "7.8.9"')
    (tmp_path / "bayes_rl" / "__init__.py").write_text("import tensorflow_is_not_there")
    result = subprocess.run(
        [sys.executable, "setup.py", "--version"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "7.8.9"

"""Tests of benchmarks.scale.raylets."""

import subprocess
import sys

import pytest

from benchmarks.scale import raylets


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give the command that is to run, such as bayes-rl train"),
        (["bayes-rll", "train"], "there is no command 'bayes-rll'"),
    ],
)
def test_what_cannot_run_is_told_before_a_cluster_starts(words, message, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["raylets", *words])
    with pytest.raises(SystemExit, match=message):
        raylets.main()


@pytest.mark.slow
def test_a_command_finds_two_raylets():
    code = "import ray; ray.init('auto'); print(len(ray.nodes())); raise SystemExit(3)"
    words = [sys.executable, "-m", "benchmarks.scale.raylets", sys.executable, "-c", code]
    result = subprocess.run(words, capture_output=True, text=True)
    assert (result.stdout.splitlines()[-1], result.returncode) == ("2", 3), result.stderr

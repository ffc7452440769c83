"""Tests of benchmarks.learning.missing."""

import shutil

import pytest

from benchmarks.learning.missing import missing
from benchmarks.learning.packing import pack


@pytest.fixture
def study(tmp_path):
    command = (
        "bayes-rl train -m explore=noise,greedy seed=0,1 task=fake environment_steps=4000 "
        f"'logdir={tmp_path}/logdir/${{choices.explore}}/${{seed}}'"
    )
    return {"runs": f"{tmp_path}/logdir", "commands": [command]}


def test_missing_runs_are_those_that_are_not_finished_first_seeds_first(
    study, make_run, tmp_path
):
    for name, seed, evaluations in (("noise", 0, 4), ("noise", 1, 4), ("greedy", 1, 3)):
        returns = [[1.0]] * evaluations
        run = tmp_path / "logdir" / name / str(seed)
        make_run(run, seed, returns, environment_steps=4000)
    lines = missing(tmp_path / "study", study)
    assert [line.split()[2:4] for line in lines] == [
        ["explore=greedy", "seed=0"],
        ["explore=greedy", "seed=1"],
    ]


def test_those_of_a_first_seed_come_first(study, tmp_path):
    lines = missing(tmp_path / "study", study)
    assert [line.split()[3] for line in lines] == ["seed=0", "seed=0", "seed=1", "seed=1"]


def test_runs_of_a_command_that_became_longer_are_missing(study, make_run, tmp_path):
    make_run(tmp_path / "logdir/noise/0", 0, [[1.0]] * 2, environment_steps=2000)
    (tmp_path / "logdir/greedy/0").mkdir(parents=True)  # about to begin
    assert len(missing(tmp_path / "study", study)) == 4


def test_a_run_that_is_packed_is_not_missing_elsewhere(study, make_run, tmp_path):
    make_run(tmp_path / "logdir/noise/0", 0, [[1.0]] * 4, environment_steps=4000)
    pack(study["runs"], tmp_path / "study")
    shutil.rmtree(study["runs"])
    lines = missing(tmp_path / "study", study)
    assert len(lines) == 3
    assert not [line for line in lines if "seed=0" in line and "noise" in line]

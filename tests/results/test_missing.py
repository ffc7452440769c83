"""Tests of results.missing."""

import shutil

import pytest

from results.collected import KEPT, collect
from results.missing import missing


@pytest.fixture
def study(tmp_path):
    command = (
        "bayes-rl train -m seed=0,1 task=fake explore=noise,greedy environment_steps=4000 "
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
    assert [line.split()[2:5:2] for line in lines] == [
        ["seed=0", "explore=greedy"],
        ["seed=1", "explore=greedy"],
    ]
    assert lines[0].startswith("bayes-rl train seed=0 task=fake explore=greedy ")


def test_a_run_of_which_a_copy_is_kept_is_not_missing_elsewhere(study, make_run, tmp_path):
    make_run(tmp_path / "logdir/noise/0", 0, [[1.0]] * 4, environment_steps=4000)
    collect(study["runs"], tmp_path / "study" / KEPT)
    shutil.rmtree(study["runs"])
    lines = missing(tmp_path / "study", study)
    assert len(lines) == 3
    assert not [line for line in lines if "seed=0" in line and "noise" in line]

"""Tests of agents.study.frames: runs and evaluations as tables."""

import logging
import subprocess
import sys

import pytest
import yaml

from agents import study
from agents.runs import history, records
from agents.system.errors import UserError


@pytest.fixture
def make_run(tmp_path):
    def make(name, returns=(), metrics=({},), **config):
        folder = tmp_path / name
        folder.mkdir()
        config = {"task": "fake", "seed": 0, "environment_steps": 2000} | config
        (folder / "config.yaml").write_text(yaml.safe_dump(config))
        for number, row in enumerate(metrics, 1):
            about = {"episodes": number, "environment_steps": 1000 * number}
            records.append_metrics(folder, about | row)
        for number, own in enumerate(returns, 1):
            row = dict.fromkeys(records.SCORE_COLUMNS, 0) | {"episodes": number}
            row |= {"environment_steps": 1000 * number, "train_steps": 10 * number}
            rows = [{"evaluation_episode": k, "return": x} for k, x in enumerate(own)]
            records.append_scores(folder, [row | each for each in rows])
        return folder

    return make


def test_a_row_says_how_a_run_ended_and_what_was_set(make_run, tmp_path):
    seconds = [{"speed/seconds": 60.0}, {"speed/seconds": 30.0}]
    make_run("a", [[1.0], [2.0, 4.0]], seconds, planner={"horizon": 12})
    make_run("b", [[5.0]], seed=1, planner={"horizon": 12})
    diverged = make_run("c", planner={"horizon": 6})
    history.write_divergence(diverged, history.Divergence(1, 7, ("loss",)))
    table = study.runs([tmp_path]).set_index("folder")
    names = [str(tmp_path / name) for name in "abc"]
    assert list(table.index) == names
    assert table["ended"].to_list() == ["finished", "under way", "diverged"]
    assert table["group"].to_list() == ["planner.horizon=12"] * 2 + ["planner.horizon=6"]
    assert table["planner.horizon"].to_list() == [12, 12, 6]
    assert table["seed"].to_list() == [0, 1, 0]
    assert table["reached"].to_list() == [2000, 1000, 1000]
    assert table["evaluated"].to_list() == [2000, 1000, 0]
    assert table["score"].to_list()[:2] == [3.0, 5.0]
    assert table["score"].isna().to_list() == [False, False, True]
    assert table["minutes"].to_list() == [1.5, 0.0, 0.0]
    assert set(table["environment_steps"]) == {2000}


def test_an_evaluation_episode_is_a_row(make_run, tmp_path):
    make_run("a", [[1.0], [2.0, 4.0]], seed=7)
    table = study.evaluations(tmp_path)
    assert table.drop(columns="folder").to_numpy().tolist() == [
        ["fake", "", 7, 1000, 1, 10, 0, 1.0],
        ["fake", "", 7, 2000, 2, 20, 0, 2.0],
        ["fake", "", 7, 2000, 2, 20, 1, 4.0],
    ]
    assert list(table)[3:] == [
        *("folder", "environment_steps", "episodes", "train_steps"),
        *("evaluation_episode", "return"),
    ]


@pytest.mark.parametrize(
    ("every", "due"),
    [(900, [900, 1800, 2700, 3500]), (0, [1000, 2000, 3000, 3500]), (2500, None)],
)
def test_an_evaluation_counts_when_it_was_due(make_run, tmp_path, every, due):
    """Seeds whose episodes have other lengths are evaluated at other steps."""
    returns = [[1.0], [2.0], [3.0], [4.0]]
    evaluation = {"every_steps": every, "episodes": 1}
    make_run("a", returns, environment_steps=3500, evaluation=evaluation)
    found = study.evaluations(tmp_path)["environment_steps"].to_list()
    assert found == (due or [1000, 2000, 2500, 3500])


def test_an_evaluation_between_two_that_were_due_keeps_its_steps(make_run, tmp_path):
    """As where a run was asked for more, or for fewer evaluations, once it had ended."""
    returns = [[1.0], [2.0], [3.0], [4.0], [5.0]]
    evaluation = {"every_steps": 2000, "episodes": 1}
    make_run("a", returns, environment_steps=9000, evaluation=evaluation)
    found = study.evaluations(tmp_path)["environment_steps"].to_list()
    assert found == [1000, 2000, 3000, 4000, 5000]


def test_runs_that_were_not_evaluated_have_no_row_of_evaluations(make_run, tmp_path):
    make_run("a")
    assert len(study.runs(tmp_path)) == 1
    assert study.evaluations(tmp_path).empty


def test_runs_without_numbers_are_left_out_by_name(make_run, tmp_path, caplog):
    make_run("a", [[1.0]])
    begun = make_run("b", metrics=())
    with caplog.at_level(logging.WARNING):
        assert len(study.runs([tmp_path, tmp_path / "a"])) == 1
    assert f"left out: {begun} has nothing to plot" in caplog.text


def test_where_there_is_no_run_it_is_said(make_run, tmp_path):
    with pytest.raises(UserError, match="no runs are below it"):
        study.runs(tmp_path)
    with pytest.raises(UserError, match="nothing to compare: no folders"):
        study.evaluations([])
    make_run("a", metrics=())
    with pytest.raises(UserError, match="nothing to compare in 1 runs.*nothing to plot"):
        study.runs(tmp_path)


def test_no_other_name_is_there():
    with pytest.raises(AttributeError, match="no attribute 'episodes'"):
        study.episodes  # noqa: B018


@pytest.mark.slow
@pytest.mark.parametrize(
    "module", ["agents.study", "agents.training.trainer", "agents.cli"]
)
def test_training_needs_no_pandas(module):
    """Keras takes it where it is there, and does without."""
    code = f"import sys; sys.modules['pandas'] = None; import {module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_importing_the_agents_imports_no_pandas():
    code = "import sys, agents.study, agents.cli; print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr

"""Tests of agents.training.distributed.apart."""

import contextlib
import functools

import numpy as np
import pytest

from agents.runs.folder import open_run
from agents.runs.records import read_metrics, read_scores
from agents.training.distributed import apart
from agents.training.distributed.apart import EvaluatedApart, Judge
from agents.training.trainer import Trainer

WORDS = (
    "environment_steps=80",
    "evaluation.every_steps=40",
    "video_every_steps=40",
    "planner.horizon=2",
    "planner.iterations=1",
    "value=none",
)
OWN = ("speed/", "memory/")  # of the moment


class InThisProcess:
    """Stands for a process of Ray; does at once what it is told, when it is asked."""

    def __init__(self, name, kind, *given, **_):
        self._judge, self._work = kind(*given), None

    @property
    def is_idle(self):
        return self._work is None

    def begin(self, method, *given):
        self._work = functools.partial(getattr(self._judge, method), *given)

    def result(self):
        work, self._work = self._work, None
        return work() if work else None

    def watch(self):
        pass


@pytest.fixture
def told():
    return []


@pytest.fixture
def make_trainer(make_config, tmp_path, told, monkeypatch):
    """Opens runs whose evaluation is a process of its own, or not."""
    monkeypatch.setattr(apart, "Remote", InThisProcess)

    class Silent:
        note = told.append

        def __getattr__(self, name):
            return lambda *_: None

    with contextlib.ExitStack() as stack:

        def make(name, **parts):
            config = make_config(
                *WORDS, "probe_every_steps=40", f"logdir={tmp_path / name}"
            )
            run = stack.enter_context(open_run(config))
            trainer = Trainer(config, run, Silent(), **parts)
            stack.callback(trainer.close)
            return trainer

        yield make


def measured(folder):
    rows = [
        {name: value for name, value in row.items() if not name.startswith(OWN)}
        for row in read_metrics(folder)
    ]
    return rows, read_scores(folder)


@pytest.mark.slow
def test_it_measures_what_one_process_would_of_the_same_weights(
    make_trainer, tmp_path, told
):
    for name, parts in (("here", {}), ("apart", {"make_apart": EvaluatedApart})):
        trainer = make_trainer(name, **parts)
        while not trainer.done:
            trainer.advance()
    here, found = measured(tmp_path / "here"), measured(tmp_path / "apart")
    assert found == here
    assert len(found[1]) == 2
    films = [
        sorted(p.name for p in (tmp_path / n / "videos").iterdir())
        for n in ("here", "apart")
    ]
    assert films[0] == films[1] != []
    assert [line.partition(":")[0] for line in told] == ["episode 2", "episode 4"]
    assert list((tmp_path / "apart" / "evaluating").iterdir()) == []
    again = {
        name: found[1][0][name] for name in ("environment_steps", "episodes", "train_steps")
    }
    trainer._metrics.amend(again, {}, found[1][:1])  # as where it was killed in between
    assert measured(tmp_path / "apart") == here


@pytest.mark.slow
def test_what_a_killed_run_had_asked_is_measured_of_the_weights_of_then(
    make_trainer, tmp_path, monkeypatch
):
    trainer = make_trainer("killed", make_apart=EvaluatedApart)
    with monkeypatch.context() as patch:
        patch.setattr(EvaluatedApart, "look", lambda self: None)
        for _ in range(3):
            trainer.advance()
        trainer.close()
    (asked,) = (tmp_path / "killed" / "evaluating").iterdir()
    assert asked.name == "000002.npz"
    whole = make_trainer("whole")
    for _ in range(3):
        whole.advance()
    again = make_trainer_again(make_trainer, trainer)
    while asked.exists():
        again._look()
    assert measured(tmp_path / "killed") == measured(tmp_path / "whole")


def make_trainer_again(make_trainer, trainer):
    """Another session of the same run."""
    run = trainer._apart._folder.parent
    (run / ".lock").unlink()
    return make_trainer(run.name, make_apart=EvaluatedApart)


def test_a_judge_acts_by_the_weights_that_it_is_given(make_config, build_agent):
    agent = build_agent()
    judge = Judge(
        make_config(
            "probe_every_steps=0", "video_every_steps=0", "evaluation.every_steps=20"
        )
    )
    judge._begin()
    for variable in judge._agent.model.trainable_variables:
        variable.assign(variable * 0.0)
    judge._weights.write(apart.Weights(apart._variables(agent)).read())
    for one, other in zip(agent.model.variables, judge._agent.model.variables, strict=True):
        np.testing.assert_array_equal(one, other)

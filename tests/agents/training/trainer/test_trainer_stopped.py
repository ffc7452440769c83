"""Tests of agents.training.trainer: runs that were stopped, damaged, done or diverged."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from agents.episodes.store import EpisodeStore
from agents.runs import history
from agents.runs.checkpoints import Checkpoints
from agents.runs.folder import load_config
from agents.runs.history import is_finished
from agents.system.errors import UserError
from agents.training import trainer as training
from agents.training.loading import load_agent
from tests.agents.training.trainer.records import LENGTH, leftovers, metrics, scores


def measured(row):
    """What does not depend on the machine."""
    return {k: v for k, v in row.items() if not k.startswith(("speed/", "memory/"))}


def assert_same_numbers(folder, other):
    """Up to rounding: sums of a matrix product may be taken in another order."""
    for row, expected in zip(metrics(folder), metrics(other), strict=True):
        assert measured(row) == pytest.approx(measured(expected), rel=1e-4, abs=1e-6)
    for row, expected in zip(scores(folder), scores(other), strict=True):
        assert {k: float(v) for k, v in row.items()} == pytest.approx(
            {k: float(v) for k, v in expected.items()}, rel=1e-4
        )


def variables(module):
    return np.concatenate([np.ravel(variable) for variable in module.variables])


@contextlib.contextmanager
def interrupted(owner, name, when):
    """Ctrl-C where a method is called for the `when`-th time."""
    calls = []
    original = getattr(owner, name)

    def method(*args, **kwargs):
        calls.append(name)
        if len(calls) == when:
            raise KeyboardInterrupt
        return original(*args, **kwargs)

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(owner, name, method)
        yield


RANDOM_ACTIONS = (EpisodeStore, "append", 2)
LINES_AND_NO_CHECKPOINT = (Checkpoints, "save", 2)
AFTER_A_CHECKPOINT = (training, "release", 2)
GRADIENT_STEPS = (training.Learning, "run", 3)
RANDOM = ["seed_steps=180", "evaluation.every_steps=0", "video_every_steps=0", "value=td"]
CLOSED_FORM = ["transition=laplace", "explore=information_gain", "explore.draws=2"]
CLOSED_FORM += ["environment_steps=80", "seed_steps=20", "video_every_steps=0", "value=td"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "moments"),  # and episodes that were saved by then
    [
        ([*RANDOM, "environment_steps=80"], {RANDOM_ACTIONS: 1, AFTER_A_CHECKPOINT: 3}),
        (CLOSED_FORM, {GRADIENT_STEPS: 2}),
        (
            None,  # those of `whole_run`
            {RANDOM_ACTIONS: 1, LINES_AND_NO_CHECKPOINT: 2, GRADIENT_STEPS: 4},
        ),
    ],
    ids=["random", "closed-form", "learning"],
)
def test_an_interrupted_run_ends_like_one_that_was_not(
    train_run, run_words, quick_planner, tmp_path, capsys, request, words, moments
):
    folder, whole = tmp_path / "run", tmp_path / "whole"
    if words:
        words = [*words, *quick_planner]
        assert train_run(whole, *words) == 0
    else:
        words, whole = run_words, request.getfixturevalue("whole_run")
    for moment, saved in moments.items():
        with interrupted(*moment):
            assert train_run(folder, *words) == 130
        said = capsys.readouterr().out
        assert f"stopped; saved: {saved} episodes, {LENGTH * saved} environment" in said
        assert "The same command resumes the run." in said
    assert train_run(folder, *words) == 0
    assert "resumed at" in capsys.readouterr().out
    assert_same_numbers(folder, whole)
    for index, episode in EpisodeStore(whole / "episodes"):
        again = EpisodeStore(folder / "episodes").read(index)
        np.testing.assert_allclose(again["action"], episode["action"], atol=1e-3)
    (_, agent), (_, expected) = map(load_agent, (folder, whole))
    saved = (agent.model, agent.value, agent._value_optimizer)
    others = (expected.model, expected.value, expected._value_optimizer)
    for mine, theirs in zip(map(variables, saved), map(variables, others), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=1e-5)
    assert leftovers(folder) == []
    assert (folder / "sessions.jsonl").read_text().count("\n") == len(moments) + 1


@pytest.mark.slow
@pytest.mark.usefixtures("eagerly")
def test_what_came_after_the_last_checkpoint_is_learned_again(
    train_run, quick_planner, tmp_path, capsys
):
    words = [*quick_planner]
    words += ["seed_steps=5", "time_limit=5", "environment_steps=25", "sequence_length=4"]
    words += ["updates_per_step=0.3", "evaluation.every_steps=0", "video_every_steps=0"]
    words += ["probe_every_steps=0", "checkpoint_every_steps=10"]
    assert train_run(tmp_path / "whole", *words) == 0
    with interrupted(training.Learning, "run", 4):
        assert train_run(tmp_path / "run", *words) == 130
    assert "stopped; saved: 2 episodes, 10 environment" in capsys.readouterr().out
    assert len(metrics(tmp_path / "run")) == 3
    assert train_run(tmp_path / "run", *words) == 0
    assert_same_numbers(tmp_path / "run", tmp_path / "whole")
    saved = sorted(path.name for path in (tmp_path / "run" / "checkpoints").iterdir())
    assert saved == ["000002", "000004", "000005"]


def test_a_finished_run_does_nothing_more(train_run, whole_run, run_words, capsys):
    before = metrics(whole_run)
    history.write_divergence(whole_run, history.Divergence(8, 14, ("reward_loss",)))
    assert train_run(whole_run, *run_words) == 0
    assert "done" in capsys.readouterr().out
    assert history.read_divergence(whole_run) is None, (
        "a trace of an earlier session stayed"
    )
    assert metrics(whole_run) == before


@pytest.mark.slow
def test_a_run_survives_damaged_files_and_names_them(train_run, tmp_path, capfd, caplog):
    folder = tmp_path / "run"
    short = ["seed_steps=180", "evaluation.every_steps=0", "video_every_steps=0"]
    assert train_run(folder, *short, "environment_steps=80") == 0
    for file in ("episodes/000001.npz", "checkpoints/000004/variables.index"):
        (folder / file).write_bytes((folder / file).read_bytes()[:-30])
    (folder / ".metrics.jsonl.4194305.tmp").write_text("half")
    capfd.readouterr()
    assert train_run(folder, *short, "environment_steps=120") == 0
    said = "".join([*capfd.readouterr(), caplog.text])
    assert "000001.npz is damaged" in said
    assert "000004 is damaged" in said
    assert (folder / "episodes" / "damaged" / "000001.npz").exists()
    assert (folder / "checkpoints" / "damaged" / "000004").exists()
    assert [row["episodes"] for row in metrics(folder)] == [1, 2, 3, 4, 5, 6]
    assert metrics(folder)[-1]["environment_steps"] == 120
    assert leftovers(folder) == []


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["00000[123].npz", "0*.npz"])
def test_a_run_whose_newest_episodes_are_gone_says_so_and_makes_none(
    train_run, tmp_path, lost
):
    folder = tmp_path / "run"
    short = ["seed_steps=180", "evaluation.every_steps=0", "video_every_steps=0"]
    assert train_run(folder, *short, "environment_steps=80") == 0
    for file in (folder / "episodes").glob(lost):
        file.unlink()
    left = sorted((folder / "episodes").glob("*.npz"))
    message = (
        f"has learned from 4 episodes, but .* lacks those from 00000{len(left)}.npz on"
    )
    for _ in range(2):
        with pytest.raises(UserError, match=message):
            train_run(folder, *short, "environment_steps=120")
    assert sorted((folder / "episodes").glob("*.npz")) == left


@pytest.mark.slow
@pytest.mark.usefixtures("eagerly")
def test_a_model_that_diverges_ends_the_run_and_keeps_the_last_good_checkpoint(
    train_run, tmp_path, capsys
):
    folder = tmp_path / "run"
    words = ["environment_steps=60", "seed_steps=40", "optimizer.learning_rate=1e30"]
    words += ["compile=false"]
    assert train_run(folder, *words) == 1
    out, err = capsys.readouterr()
    assert "done" not in out
    (line,) = err.splitlines()
    assert line.startswith("bayes-rl: the model diverged after episode 2: not finite at ")
    assert "_loss" in line
    assert "another logdir and a lower optimizer.learning_rate (it is 1e+30) or " in line
    assert [path.name for path in (folder / "checkpoints").iterdir()] == ["000001"]
    assert [row["episodes"] for row in metrics(folder)] == [1]
    found = history.read_divergence(folder)
    assert (found.episode, found.train_step) == (2, 2)
    assert str(found) in line
    assert not is_finished(load_config(folder))


@pytest.mark.slow
def test_ctrl_c_says_what_is_saved_and_the_same_command_goes_on(
    train_run, tiny_words, tmp_path
):
    folder = tmp_path / "run"
    words = ["environments=2", "environment_steps=400", "seed_steps=40"]
    words += ["evaluation.every_steps=0", "video_every_steps=0", "value=none"]
    process = subprocess.Popen(
        [sys.executable, "-m", "agents", "train", *tiny_words, *words, f"logdir={folder}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not (folder / "checkpoints" / "000003").exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    # a terminal sends it to the environments' processes as well
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == ""
    assert "stopped; saved: " in out.splitlines()[-1]
    saved = int(out.partition("stopped; saved: ")[2].split()[0])
    assert 3 <= saved <= len(metrics(folder))
    assert train_run(folder, *words) == 0
    assert [row["episodes"] for row in metrics(folder)] == list(range(1, 21))

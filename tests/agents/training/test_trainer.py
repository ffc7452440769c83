"""Tests of agents.training.trainer: whole runs of a tiny model."""

import contextlib
import csv
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from agents.agent.loading import load_agent
from agents.episodes.store import EpisodeStore
from agents.figures.curves import plot
from agents.runs import divergence
from agents.runs.checkpoints import Checkpoints
from agents.runs.folder import load_config, open_run
from agents.runs.following import is_finished
from agents.training import trainer as training
from agents.training.experience import CollectedHere

LENGTH = 20  # steps of an episode


def metrics(folder):
    return [json.loads(line) for line in open(folder / "metrics.jsonl")]


def scores(folder):
    if not (folder / "scores.csv").exists():
        return []  # it was never evaluated
    with open(folder / "scores.csv") as file:
        return list(csv.DictReader(file))


def leftovers(folder):
    return [path for path in folder.rglob("*") if path.name.endswith(".tmp")]


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


def test_every_episode_has_one_line_of_metrics_with_its_counts(whole_run):
    rows = metrics(whole_run)
    assert [row["episodes"] for row in rows] == list(range(1, 9))
    for row in rows:
        assert row["environment_steps"] == row["agent_steps"] == LENGTH * row["episodes"]
        assert row["train_steps"] == 2 * max(0, row["episodes"] - 1)
        assert ("train/loss" in row) == (row["episodes"] >= 2)
        assert ("evaluate/return" in row) == (row["episodes"] % 2 == 0)
        assert row["memory/resident_mib"] > 0


def test_critics_are_held_against_every_evaluation(whole_run):
    of_critics = {"value/expected", "value/returned", "value/error"}
    for row in metrics(whole_run):
        found = {name for name in row if name.startswith("value/")}
        assert found == (of_critics if "evaluate/return" in row else set())
        if found:  # 20 rewards of the fake task, discounted by 0.95
            assert 0 < row["value/returned"] < row["evaluate/return"]
            assert row["value/error"] > 0
        learned = {"train/value_loss", "train/policy_loss"} & set(row)
        assert len(learned) == (2 if "train/loss" in row else 0)


def test_statistics_are_those_of_all_episodes_which_stay_raw_on_disk(
    whole_run, whole_agent
):
    episodes = [episode for _, episode in EpisodeStore(whole_run / "episodes")]
    for episode in episodes:
        raw = np.concatenate([episode["position"], episode["velocity"]], 1)
        np.testing.assert_allclose(episode["observation"], raw, rtol=1e-6)
    rows = np.concatenate([episode["observation"] for episode in episodes])
    _, agent = whole_agent
    found = agent.model.preprocess(rows, [0, 0])
    expected = (rows - rows.mean(0)) / np.sqrt(rows.var(0) + 1e-4)
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_held_out_episodes_are_on_disk_and_not_learned_from(make_config, tmp_path):
    folder, made = tmp_path / "run", []

    def experience(config, run):
        made.append(CollectedHere(config, run))
        return made[-1]

    words = ["hold_out_every=2", "seed_episodes=9", "evaluation.every=0", "video_every=0"]
    for steps in (60, 100):  # the second goes on
        config = make_config(f"logdir={folder}", *words, f"environment_steps={steps}")
        with open_run(config) as run:
            assert training.train(config, run, experience) == 0
        assert made[-1].replay.num_steps == (steps // LENGTH + 1) // 2 * LENGTH
    episodes = [episode for _, episode in EpisodeStore(folder / "episodes")]
    assert len(episodes) == 5
    rows = np.concatenate([episode["observation"] for episode in episodes[::2]])
    _, agent = load_agent(folder)
    centre = agent.model.preprocess(rows.mean(0), [0, 0])
    np.testing.assert_allclose(centre, 0, atol=1e-4)


def test_every_evaluation_has_a_row_for_each_of_its_episodes_and_their_seeds(whole_run):
    rows = scores(whole_run)
    assert [int(row["episodes"]) for row in rows] == [2, 2, 4, 4, 6, 6, 8, 8]
    assert [int(row["evaluation_episode"]) for row in rows] == [0, 1] * 4
    assert len({row["seed"] for row in rows[:2]}) == 2
    assert {row["seed"] for row in rows[2:]} == {row["seed"] for row in rows[:2]}
    means = [np.mean([float(r["return"]) for r in rows[i : i + 2]]) for i in (0, 2, 4, 6)]
    found = [r["evaluate/return"] for r in metrics(whole_run) if "evaluate/return" in r]
    assert found == pytest.approx(means)


def test_every_episode_is_on_disk_and_starts_at_a_place_of_its_own(whole_run):
    store = EpisodeStore(whole_run / "episodes")
    assert store.indices == list(range(8))
    assert len({float(episode["position"][0, 0]) for _, episode in store}) == 8
    returns = [float(episode["reward"].sum()) for _, episode in store]
    assert returns == pytest.approx([row["collect/return"] for row in metrics(whole_run)])


def test_first_episodes_are_random_and_differ(whole_run):
    store = EpisodeStore(whole_run / "episodes")
    first, second = (store.read(index)["action"][1:] for index in (0, 1))
    assert not np.any(np.isin(first, second))
    assert np.std(first) == pytest.approx(3**-0.5, rel=0.4)


def test_films_checkpoints_and_tensorboard_are_written_and_nothing_is_left(whole_run):
    films = sorted(path.name for path in (whole_run / "videos").iterdir())
    assert films == ["open_loop_160.png", "open_loop_80.png"]
    saved = sorted(path.name for path in (whole_run / "checkpoints").iterdir())
    assert saved == ["000006", "000007", "000008"]
    assert len(list((whole_run / "tensorboard").iterdir())) == 1
    assert leftovers(whole_run) == []


def test_latents_are_probed_when_it_is_time_and_there_are_enough_episodes(whole_run):
    probed = {
        row["episodes"]: row for row in metrics(whole_run) if "probe/velocity_0" in row
    }
    assert list(probed) == [6, 8]
    assert all(row["probe/position_0"] <= 1 for row in probed.values())


@pytest.mark.usefixtures("undrawn")
def test_curves_are_drawn_from_a_run(whole_run, tmp_path):
    names = {file.stem for file in plot([whole_run], tmp_path)}
    expected = {"scores", "returns", "losses", "value", "weight_kl", "weight_stddev"}
    assert names == expected


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
GRADIENT_STEPS = (training.Learning, "run", 3)


RANDOM = ["seed_episodes=9", "evaluation.every=0", "video_every=0", "value=td"]


@pytest.mark.parametrize(
    ("words", "moments"),  # and episodes that were saved by then
    [
        ([*RANDOM, "environment_steps=80"], {RANDOM_ACTIONS: 1}),
        pytest.param(
            None,  # those of `whole_run`
            {RANDOM_ACTIONS: 1, LINES_AND_NO_CHECKPOINT: 2, GRADIENT_STEPS: 4},
            marks=pytest.mark.slow,
        ),
    ],
    ids=["random", "learning"],
)
def test_an_interrupted_run_ends_like_one_that_was_not(
    train_run, run_words, tmp_path, capsys, request, words, moments
):
    folder, whole = tmp_path / "run", tmp_path / "whole"
    if words:
        assert train_run(whole, *words) == 0
    else:
        words, whole = run_words, request.getfixturevalue("whole_run")
    for moment, saved in moments.items():
        with interrupted(*moment):
            assert train_run(folder, *words) == 130
        said = capsys.readouterr().out
        assert f"stopped; saved: {saved} episodes, {LENGTH * saved} environment" in said
        assert "The same command goes on there." in said
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


def test_a_finished_run_does_nothing_more(train_run, whole_run, run_words, capsys):
    before = metrics(whole_run)
    divergence.write(whole_run, divergence.Divergence(8, 14, ("reward_loss",)))
    assert train_run(whole_run, *run_words) == 0
    assert "done" in capsys.readouterr().out
    assert divergence.read(whole_run) is None, "a trace of an earlier session stayed"
    assert metrics(whole_run) == before


@pytest.mark.slow
def test_learning_waits_for_a_whole_sequence(train_run, tmp_path):
    """Two episodes of 21 rows hold no sequence of 50; the third one does."""
    words = ["sequence_length=50", "seed_episodes=1", "environment_steps=80"]
    assert train_run(tmp_path, *words, "evaluation.every=0", "video_every=0") == 0
    assert [row["train_steps"] for row in metrics(tmp_path)] == [0, 0, 2, 4]


def test_a_run_survives_damaged_files_and_names_them(train_run, tmp_path, capfd, caplog):
    folder = tmp_path / "run"
    short = ["seed_episodes=9", "evaluation.every=0", "video_every=0"]
    assert train_run(folder, *short, "environment_steps=80") == 0
    for file in ("episodes/000001.npz", "checkpoints/000004/variables.index"):
        (folder / file).write_bytes((folder / file).read_bytes()[:-30])
    (folder / ".metrics.jsonl.1.tmp").write_text("half")
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


def test_a_model_that_diverges_ends_the_run_and_keeps_the_last_good_checkpoint(
    train_run, tmp_path, capsys
):
    folder = tmp_path / "run"
    words = ["environment_steps=60", "seed_episodes=2", "optimizer.learning_rate=1e30"]
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
    found = divergence.read(folder)
    assert (found.episode, found.train_step) == (2, 2)
    assert str(found) in line
    assert not is_finished(load_config(folder))


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        [
            "transition=flipout",
            *("planner=icem", "planner.candidates=8", "planner.elites=2"),
            *("environments=2", "compute_dtype=bfloat16"),
        ],
        [
            "transition=deterministic",
            "world_model.overshooting_distance=2",
            "world_model.global_kl_scale=0.1",
            "action_repeat=3",  # which does not divide the episodes
        ],
    ],
    ids=["flipout-icem-processes-bfloat16", "deterministic-overshooting"],
)
def test_a_variant_runs(train_run, tmp_path, words):
    short = ["environment_steps=80", "seed_episodes=1", "video_every=0"]
    assert train_run(tmp_path / "run", *short, *words) == 0
    rows = metrics(tmp_path / "run")
    assert [row["episodes"] for row in rows] == [1, 2, 3, 4]
    assert [row["environment_steps"] for row in rows] == [20, 40, 60, 80]
    assert np.isfinite(rows[-1]["train/loss"])
    assert ("train/weight_kl" in rows[-1]) == ("transition=deterministic" not in words)
    starts = [e["position"][0, 0] for _, e in EpisodeStore(tmp_path / "run" / "episodes")]
    assert len(set(map(float, starts))) == 4


def test_pixels_are_learned_from(pixel_run):
    assert [row["episodes"] for row in metrics(pixel_run)] == [1, 2]
    assert np.isfinite(metrics(pixel_run)[-1]["train/loss"])
    assert EpisodeStore(pixel_run / "episodes").read(0)["observation"].dtype == np.uint8


TWO_DEVICES = """
import sys
import tensorflow as tf
from agents.__main__ import main
(cpu,) = tf.config.list_physical_devices("CPU")
two = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(cpu, two)
assert main(["train", *sys.argv[1:]]) == 0
sys.exit(main(["train", *sys.argv[1:], f"{sys.argv[-1]}_3", "batch_size=3"]))
"""


@pytest.mark.slow
def test_a_run_on_two_devices_is_like_that_on_one(train_run, tiny_words, tmp_path):
    words = ["environment_steps=60", "seed_episodes=1", "video_every=0", "threads=1"]
    done = subprocess.run(
        [sys.executable, "-c", TWO_DEVICES, *tiny_words, *words, "strategy=mirrored"]
        + [f"logdir={tmp_path}/two"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.endswith(
        "batch_size must be a multiple of the 2 devices of strategy=mirrored, got 3\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["two"]
    assert train_run(tmp_path / "one", *words) == 0
    for two, one in zip(metrics(tmp_path / "two"), metrics(tmp_path / "one"), strict=True):
        assert two["environment_steps"] == one["environment_steps"]
        for name in ("train/loss", "train/weight_kl"):  # other batches, same sizes
            assert two.get(name) == pytest.approx(one.get(name), rel=0.1)


def test_a_batch_that_devices_cannot_share_is_one_clear_line(make_config, monkeypatch):
    class Two:
        num_replicas_in_sync = 2

    monkeypatch.setattr(training, "choose_devices", lambda name: Two())
    with pytest.raises(training.UserError, match="multiple of the 2 devices .*, got 3"):
        training.check(make_config("batch_size=3"))


@pytest.mark.slow
def test_ctrl_c_says_what_is_saved_and_the_same_command_goes_on(
    train_run, tiny_words, tmp_path
):
    folder = tmp_path / "run"
    words = ["environments=2", "environment_steps=400", "seed_episodes=2"]
    words += ["evaluation.every=0", "video_every=0"]
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

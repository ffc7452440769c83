"""Tests of agents.training.trainer: what whole runs of a tiny model leave."""

import itertools
import subprocess
import sys

import numpy as np
import pytest

import envs
from agents.episodes import replay
from agents.episodes.experience import CollectedHere
from agents.episodes.store import EpisodeStore
from agents.runs.folder import open_run
from agents.study.figures.run_curves import plot
from agents.training import trainer as training
from agents.training.loading import load_agent
from envs.simulations.fake import Line
from tests.agents.training.trainer.records import LENGTH, leftovers, metrics, scores


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
    found = agent.model.parts["observation"].preprocess(rows, [0, 0])
    expected = (rows - rows.mean(0)) / rows.std(0)
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.slow
def test_held_out_episodes_are_on_disk_and_not_learned_from(make_config, tmp_path):
    folder, made = tmp_path / "run", []

    def experience(config, run):
        made.append(CollectedHere(config, run))
        return made[-1]

    words = [
        "hold_out_every=2",
        "seed_steps=180",
        "evaluation.every_steps=0",
        "video_every_steps=0",
    ]
    for steps, learned in ((60, 2), (100, 3)):  # the second goes on; held out: 1 and 3
        config = make_config(f"logdir={folder}", *words, f"environment_steps={steps}")
        with open_run(config) as run:
            assert training.train(config, run, experience) == 0
        assert made[-1].replay.num_steps == learned * LENGTH
    episodes = [episode for _, episode in EpisodeStore(folder / "episodes")]
    assert len(episodes) == 5
    rows = np.concatenate([episodes[n]["observation"] for n in (0, 2, 4)])
    _, agent = load_agent(folder)
    centre = agent.model.parts["observation"].preprocess(rows.mean(0), [0, 0])
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


@pytest.mark.slow
def test_learning_waits_for_a_whole_sequence(train_run, tmp_path):
    """Two episodes of 21 rows hold no sequence of 50; the third one does."""
    words = ["sequence_length=50", "seed_steps=20", "environment_steps=80"]
    assert (
        train_run(tmp_path, *words, "evaluation.every_steps=0", "video_every_steps=0") == 0
    )
    assert [row["train_steps"] for row in metrics(tmp_path)] == [0, 0, 2, 4]


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
            *("world_model.overshooting_distance=2", "world_model.overshooting_kl_scale=1"),
            "world_model.global_kl_scale=0.1",
            "action_repeat=3",  # which does not divide the episodes
        ],
    ],
    ids=["flipout-icem-processes-bfloat16", "deterministic-overshooting"],
)
def test_a_variant_runs(train_run, tmp_path, words):
    short = ["environment_steps=80", "seed_steps=20", "video_every_steps=0"]
    assert train_run(tmp_path / "run", *short, *words) == 0
    rows = metrics(tmp_path / "run")
    assert [row["episodes"] for row in rows] == [1, 2, 3, 4]
    assert [row["environment_steps"] for row in rows] == [20, 40, 60, 80]
    assert np.isfinite(rows[-1]["train/loss"])
    assert ("train/weight_kl" in rows[-1]) == ("transition=deterministic" not in words)
    starts = [e["position"][0, 0] for _, e in EpisodeStore(tmp_path / "run" / "episodes")]
    assert len(set(map(float, starts))) == 4


@pytest.mark.slow
def test_pixels_are_learned_from(pixel_run):
    assert [row["episodes"] for row in metrics(pixel_run)] == [1, 2]
    assert np.isfinite(metrics(pixel_run)[-1]["train/loss"])
    assert EpisodeStore(pixel_run / "episodes").read(0)["observation"].dtype == np.uint8


TWO_DEVICES = """
import sys
import tensorflow as tf
from agents.__main__ import main
from agents.episodes import replay
replay.goes_on = lambda *_: False
(cpu,) = tf.config.list_physical_devices("CPU")
two = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(cpu, two)
assert main(["train", *sys.argv[1:]]) == 0
sys.exit(main(["train", *sys.argv[1:], f"{sys.argv[-1]}_3", "batch_size=3"]))
"""


@pytest.mark.slow
def test_a_run_on_two_devices_is_like_that_on_one(
    train_run, tiny_words, tmp_path, monkeypatch
):
    # Devices draw sequences of their own. Of one episode that is as long as a sequence, and
    # that none leaves, there is one: all batches are the same.
    monkeypatch.setattr(replay, "goes_on", lambda *_: False)
    words = ["environment_steps=20", "seed_steps=20", f"sequence_length={LENGTH + 1}"]
    words += ["video_every_steps=0", "threads=1", "value=none"]
    done = subprocess.run(
        [sys.executable, "-c", TWO_DEVICES, *tiny_words, *words, "devices=mirrored"]
        + [f"logdir={tmp_path}/two"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.endswith(
        "batch_size must be a multiple of the 2 devices (devices=mirrored), got 3\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["two"]
    assert train_run(tmp_path / "one", *words) == 0
    (two,), (one,) = (metrics(tmp_path / name) for name in ("two", "one"))
    learned = {name: value for name, value in one.items() if name.startswith("train/")}
    assert "train/gradient_norm" in learned
    assert {name: two[name] for name in learned} == pytest.approx(learned, rel=1e-4)


def _ctrl_c(_):
    raise KeyboardInterrupt


@pytest.mark.slow
def test_what_acts_in_this_process_is_compiled_ahead(train_run, tmp_path, monkeypatch):
    asked = []

    class Ahead:
        def __init__(self, policies):
            asked.append([(policy.name, count) for policy, count in policies])

        def stop(self):
            asked.append("stopped")

        def wait(self):
            asked.append("waited")

    monkeypatch.setattr(training, "CompilingAhead", Ahead)
    words = ["environment_steps=40", "seed_steps=180", "video_every_steps=0"]
    two = ["environments=2", "evaluation={every_steps: 180, episodes: 3}"]
    with monkeypatch.context() as stopping:
        stopping.setattr(training.Trainer, "advance", _ctrl_c)
        assert train_run(tmp_path / "run", *words, *two) == 130
    for _ in range(2):  # the second finds a finished run
        assert train_run(tmp_path / "other", *words, "evaluation.every_steps=0") == 0
    closing = ["stopped", "waited"]
    assert asked == [
        [("collect_policy", 2), ("policy", 3)],
        *closing,
        [("collect_policy", 1)],
        *closing,
        [],
        *closing,
    ]


@pytest.mark.slow
def test_episodes_that_found_reward_are_counted_across_sessions(train_run, tmp_path):
    words = ["seed_steps=180", "evaluation.every_steps=0", "video_every_steps=0"]
    words.append("explore=information_gain_annealed")
    for environment_steps in (40, 80):  # the second goes on with the first
        assert train_run(tmp_path, *words, f"environment_steps={environment_steps}") == 0
    rows = metrics(tmp_path)
    came = [row["explore/rewarded_steps"] > 0 for row in rows]
    counts = [0, *(10 * sum(came[:n]) // n for n in (1, 2, 3, 4))]  # of the last ten
    shares = np.maximum(np.divide(counts[:4], 4), LENGTH * np.arange(4) / 10_000)
    betas = [row["explore/beta"] for row in rows]  # of the episode, by what came before it
    np.testing.assert_allclose(betas, 0.05 * (1 - np.minimum(shares, 1)), rtol=1e-5)
    _, agent = load_agent(tmp_path)
    assert int(agent.clock.rewards) == counts[4] > 0


def test_a_run_too_short_to_learn_says_so(make_config, tmp_path, capsys):
    words = ["environment_steps=20", "evaluation.every_steps=0", "video_every_steps=0"]
    config = make_config(f"logdir={tmp_path / 'run'}", *words)
    with open_run(config) as run:
        assert training.train(config, run) == 0
    said = " ".join("".join(capsys.readouterr()).split())
    assert (
        "nothing was learned: the first gradient step needs seed_steps=40 environment"
        in said
    )


def test_a_run_goes_on_where_an_episode_failed(train_run, tmp_path, monkeypatch):
    step, steps = Line.step, itertools.count()

    def failing(self, action):
        if next(steps) in (LENGTH + 3, 2 * LENGTH):  # of the second episode, and its next
            raise envs.EnvironmentFailedError("the line broke")
        return step(self, action)

    monkeypatch.setattr(Line, "step", failing)
    words = ["seed_steps=180", "environment_steps=60", "evaluation.every_steps=0"]
    assert train_run(tmp_path, *words, "video_every_steps=0") == 0
    rows = metrics(tmp_path)
    assert [row["environment_steps"] for row in rows] == [20, 40, 60]
    assert [row["collect/failed_episodes"] for row in rows] == [0, 2, 0]
    numbers = [int(each["number"]) for _, each in EpisodeStore(tmp_path / "episodes")]
    assert numbers == [0, 3, 4]


@pytest.mark.slow
def test_a_run_without_time_limits_is_as_long_as_it_was_told(
    train_run, tmp_path, monkeypatch
):
    monkeypatch.setattr("envs.simulations.fake.FAKE_TIME_LIMIT", None)
    words = ["seed_steps=180", "evaluation.every_steps=0", "video_every_steps=0"]
    for length in (50, 80):  # the second goes on with the first
        assert train_run(tmp_path, *words, f"environment_steps={length}") == 0
    assert [row["environment_steps"] for row in metrics(tmp_path)] == [50, 80]


@pytest.mark.slow
def test_evaluations_without_time_limits_end(train_run, tmp_path, monkeypatch):
    monkeypatch.setattr("envs.simulations.fake.FAKE_TIME_LIMIT", None)
    words = ["seed_steps=20", "evaluation.every_steps=20", "video_every_steps=0"]
    assert train_run(tmp_path, *words, "environment_steps=50") == 0
    assert len(scores(tmp_path)) > 0


def test_a_time_limit_holds(train_run, tmp_path):
    words = [
        "seed_steps=180",
        "evaluation.every_steps=0",
        "video_every_steps=0",
        "time_limit=8",
    ]
    assert train_run(tmp_path, *words, "environment_steps=24") == 0
    assert [row["environment_steps"] for row in metrics(tmp_path)] == [8, 16, 24]


def test_short_episodes_have_their_share_of_updates(train_run, tmp_path):
    words = ["seed_steps=10", "time_limit=5", "environment_steps=40", "sequence_length=4"]
    words += ["updates_per_step=0.3", "evaluation.every_steps=0", "video_every_steps=0"]
    assert train_run(tmp_path, *words, "probe_every_steps=0") == 0
    rows = metrics(tmp_path)
    assert [row["environment_steps"] for row in rows] == list(range(5, 41, 5))
    assert [row["train_steps"] for row in rows] == [0, 2, 3, 5, 6, 8, 9, 11]
    assert [row["explore/is_random"] for row in rows] == [True, True, *[False] * 6]


def test_a_run_whose_environment_always_fails_ends(train_run, tmp_path, monkeypatch):
    def failing(self, action):
        raise envs.EnvironmentFailedError("the line broke")

    monkeypatch.setattr(Line, "step", failing)
    message = "^5 episodes in a row have failed, the last with: the line broke$"
    with pytest.raises(envs.EnvironmentFailedError, match=message):
        train_run(tmp_path, "evaluation.every_steps=0", "video_every_steps=0")

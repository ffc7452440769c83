"""Tests of agents.training.logged.experience: a whole run that collects nothing."""

import shutil

import numpy as np
import pytest

from agents.__main__ import main
from agents.episodes.store import EpisodeStore
from agents.runs.folder import load_config
from agents.system.errors import UserError
from agents.training import trainer as training
from agents.training.loading import load_agent
from agents.training.logged.experience import TakenFromLogs
from tests.agents.graphs import without_graphs
from tests.agents.training.trainer.records import metrics

EPISODES, STEPS = 3, 12


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder, random = tmp_path_factory.mktemp("logs"), np.random.default_rng(0)
    for number in range(EPISODES):
        np.savez(
            folder / f"{number}.npz",
            observations=random.normal(3.0, 2.0, [STEPS + 1, 2]),
            actions=random.uniform(-1, 1, [STEPS, 1]),
            rewards=random.normal(size=STEPS),
        )
    return folder


@pytest.fixture(scope="module")
def learned(logs, tiny_words, tmp_path_factory):
    """A run, what it replayed while it learned, its gradient steps when it had learned."""
    folder, replayed, steps = tmp_path_factory.mktemp("run") / "run", [], []

    class Watched(TakenFromLogs):
        def learning(self, agent):
            replayed.append((self.replay.num_steps, float(agent.clock.replay_steps)))

        def learned(self, agent):
            steps.append(agent.counts["train_steps"])

    with pytest.MonkeyPatch.context() as patch, without_graphs():
        patch.setattr(training, "TakenFromLogs", Watched)
        words = [*tiny_words, f"logdir={folder}", "value=none", "video_every_steps=0"]
        assert main(["learn", str(logs), *words, "probe_every_steps=0"]) == 0
    return folder, replayed, steps


@pytest.mark.slow
def test_all_episodes_are_replayed_from_the_first_gradient_step(learned):
    _, replayed, _ = learned
    assert {pair for pair in replayed} == {(EPISODES * STEPS, EPISODES * STEPS)}


def test_it_is_told_when_all_gradient_steps_of_an_episode_are_taken(learned):
    folder, _, steps = learned
    assert steps == [row["train_steps"] for row in metrics(folder)]
    assert steps[-1] > 0


def test_its_config_says_what_was_found(learned, logs):
    config = load_config(learned[0])
    assert (config.task, config.data) == ("logged", str(logs))
    assert config.environment_steps == EPISODES * STEPS
    assert (config.action_repeat, config.evaluation.every_steps) == (1, 0)


def test_episodes_are_counted_one_by_one_and_kept_with_the_run(learned):
    rows = metrics(learned[0])
    assert [row["environment_steps"] for row in rows] == [STEPS, 2 * STEPS, 3 * STEPS]
    assert [row["train_steps"] for row in rows] == [1, 2, 3]
    assert not any("explore/is_random" in row for row in rows)  # nobody knows
    returns = [float(e["reward"].sum()) for _, e in EpisodeStore(learned[0] / "episodes")]
    assert returns == pytest.approx([row["collect/return"] for row in rows])


def test_it_needs_the_logs_no_more_and_knows_what_they_were_like(learned, tmp_path):
    shutil.copytree(learned[0], tmp_path / "moved")
    _, agent = load_agent(tmp_path / "moved")
    assert agent.model.observation_spec.shape == (2,)
    episodes = [episode for _, episode in EpisodeStore(learned[0] / "episodes")]
    rows = np.concatenate([episode["observation"] for episode in episodes])
    centre = agent.model.parts["observation"].preprocess(rows.mean(0), [0, 0])
    np.testing.assert_allclose(centre, 0, atol=1e-4)


@pytest.fixture
def take(make_config, make_episodes, run, tmp_path):
    """Takes an episode of another run, of 8 steps, from its file."""
    (episode,) = make_episodes([np.ones(9)])
    told = {"is_terminal": np.zeros(9, bool), "train_steps": 7, "failed_episodes": 1}
    np.savez(tmp_path / "log.npz", **episode, **told)
    words = [f"data={tmp_path / 'log.npz'}", "task=logged", "environment_steps=8"]
    words += ["evaluation.every_steps=0", "explore=greedy", f"logdir={run.folder}"]
    return lambda: TakenFromLogs(make_config(*words), run)


def test_what_was_counted_in_another_run_is_left_out(take):
    episode = take().store.read(0)
    assert episode["environment_steps"] == 8
    assert not {"train_steps", "failed_episodes"} & set(episode)


def test_copies_that_are_damaged_are_told_before_anything_is_learned(take, run):
    take().close()
    (copy,) = run.episodes.glob("*.npz")
    copy.write_bytes(copy.read_bytes()[:99])
    with pytest.raises(UserError, match="have fewer environment steps than the 8 of this"):
        take()


def test_it_has_no_environment_to_be_scored_in(learned, capsys):
    assert main(["evaluate", str(learned[0]), "--episodes", "1"]) == 2
    assert "task 'logged' has no environment to act in" in capsys.readouterr().err


@pytest.mark.slow
def test_it_is_calibrated_by_episodes_that_it_held_out(
    learned, logs, tiny_words, tmp_path, capsys
):
    assert main(["calibrate", str(learned[0])]) == 2
    assert "has held out 0 of its episodes; calibrate needs 2" in capsys.readouterr().err
    words = [*tiny_words, f"logdir={tmp_path / 'run'}", "value=none", "video_every_steps=0"]
    words += ["probe_every_steps=0", "hold_out_every=2"]
    (tmp_path / "logs").mkdir()
    for number in range(4):
        shutil.copy(logs / f"{number % EPISODES}.npz", tmp_path / "logs" / f"{number}.npz")
    assert main(["learn", str(tmp_path / "logs"), *words]) == 0
    assert main(["calibrate", str(tmp_path / "run")]) == 0
    assert "1 episodes, actions: logged" in capsys.readouterr().out


@pytest.mark.slow
def test_a_run_that_was_stopped_goes_on_with_the_same_numbers(
    learned, logs, tiny_words, tmp_path, monkeypatch
):
    words = [*tiny_words, f"logdir={tmp_path / 'run'}", "value=none", "video_every_steps=0"]
    command = ["learn", str(logs), *words, "probe_every_steps=0"]
    advance = training.Trainer.advance

    def stop(trainer):
        if trainer._episodes == 1:
            raise KeyboardInterrupt
        advance(trainer)

    with monkeypatch.context() as patch:
        patch.setattr(training.Trainer, "advance", stop)
        assert main(command) == 130
    assert main(command) == 0
    losses = [
        [row["train/loss"] for row in metrics(f)] for f in (tmp_path / "run", learned[0])
    ]
    assert losses[0] == losses[1]

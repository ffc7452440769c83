"""Tests of agents.training.loading."""

import contextlib
import shutil

import numpy as np
import pytest

from agents.episodes.evaluation import Evaluator
from agents.episodes.measures import episode_return
from agents.runs.folder import open_run
from agents.runs.records import read_scores
from agents.system.errors import UserError
from agents.training.loading import load_agent, make_checkpoints


def test_config_counts_and_weights_are_those_of_the_newest_checkpoint(
    whole_run, whole_agent
):
    config, agent = whole_agent
    assert (config.task, config.logdir) == ("fake", str(whole_run))
    assert int(agent.clock.episodes) == 8
    assert int(agent.train_step_counter) == 14
    before = sorted(whole_run.rglob("*"))
    _, again = load_agent(whole_run)
    for one, other in zip(agent.model.variables, again.model.variables, strict=True):
        np.testing.assert_array_equal(one, other)
    assert sorted(whole_run.rglob("*")) == before, "loading changed something"


def test_a_loaded_agent_acts_as_the_last_evaluation_of_its_run_did(whole_run, whole_agent):
    config, agent = whole_agent
    rows = [row for row in read_scores(whole_run) if row["train_steps"] == 14]

    def returns():
        with contextlib.closing(Evaluator(config, agent)) as evaluator:
            found = evaluator.episodes(len(rows))
        return [episode_return(episode) for _, episode in found]

    expected = pytest.approx([row["return"] for row in rows])
    assert returns() == expected
    with agent.averaged():  # so what was learned last
        assert returns() != expected


def test_a_damaged_checkpoint_is_left_to_the_training_that_owns_it(whole_run, tmp_path):
    run = shutil.copytree(whole_run, tmp_path / "run")
    (run / "checkpoints" / "000008" / "variables.index").write_bytes(b"half")
    before = sorted(run.rglob("*"))
    _, agent = load_agent(run)
    assert int(agent.clock.episodes) == 7
    assert sorted(run.rglob("*")) == before


def state_of(agent):
    """What a gradient step and a decision depend on, as numbers."""
    adam = [each._adam.variables() for each in (agent._value_optimizer, agent._optimizer)]
    parts = agent.model.variables, agent.value.variables, agent._average.variables, *adam
    tensors = [tensor for part in parts for tensor in part]
    return np.concatenate([np.ravel(tensor) for tensor in tensors])


def test_what_was_learned_goes_on_exactly(make_config, build_agent, make_batch, tmp_path):
    words = [f"logdir={tmp_path}/run", "transition=deterministic", "value.target_rate=0.5"]
    agent, other = build_agent(*words, "seed=1"), build_agent(*words, "seed=2")
    rng = np.random.default_rng(0)
    episode = {"observation": rng.normal(5.0, 2.0, [9, 2]), "reward": np.zeros(9)}
    agent.model.see(episode)
    for seed in (0, 1):
        agent.train(make_batch(2, 4, seed))
    with open_run(make_config(*words)) as run:
        make_checkpoints(run, agent).save(episodes=1)
        assert np.abs(state_of(other) - state_of(agent)).max() > 1.0
        make_checkpoints(run, other).restore()
    np.testing.assert_array_equal(state_of(other), state_of(agent))
    other._train_seed = agent._train_seed
    for each in (agent, other):
        each.model.see(episode)
        each.train(make_batch(2, 4, seed=2))
    np.testing.assert_allclose(state_of(other), state_of(agent), rtol=1e-6, atol=1e-7)


def test_a_run_of_an_earlier_version_is_loaded_without_a_continuation_head(
    make_config, build_agent, tmp_path
):
    words = ["task=fake_ending", f"logdir={tmp_path}/run", "transition=deterministic"]
    words.append("world_model.continuation_scale=0")
    agent = build_agent(*words)
    with open_run(make_config(*words)) as run:
        make_checkpoints(run, agent).save(episodes=1)
    text = run.config_file.read_text()
    line = "  continuation_scale: 0.0\n"
    assert line in text
    run.config_file.write_text(text.replace(line, ""))
    _, loaded = load_agent(run.folder)
    for one, other in zip(agent.model.variables, loaded.model.variables, strict=True):
        np.testing.assert_array_equal(one, other)
    run.config_file.write_text(text.replace(line, line.replace("0.0", "1.0")))
    with pytest.raises(UserError, match="was saved by another model"):
        load_agent(run.folder)


def test_a_run_without_a_checkpoint_is_one_clear_line(make_config, tmp_path):
    with open_run(make_config(f"logdir={tmp_path}/run")):
        pass
    with pytest.raises(
        UserError, match="run has no readable checkpoint; resume it by bayes-rl train"
    ):
        load_agent(tmp_path / "run")


def test_a_folder_that_is_no_run_is_one_clear_line(tmp_path):
    with pytest.raises(UserError, match="is not the folder of a run"):
        load_agent(tmp_path)


def test_a_checkpoint_of_another_model_is_one_clear_line(whole_run, tmp_path):
    (tmp_path / "run" / "checkpoints").mkdir(parents=True)
    text = (whole_run / "config.yaml").read_text()
    text = text.replace("hidden_size: 7", "hidden_size: 9")
    (tmp_path / "run" / "config.yaml").write_text(text)
    for file in (whole_run / "checkpoints" / "000008").iterdir():
        copy = tmp_path / "run" / "checkpoints" / "000008" / file.name
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(file.read_bytes())
    with pytest.raises(UserError, match="000008 was saved by another model"):
        load_agent(tmp_path / "run")

"""Tests of agents.training.loading."""

import contextlib
import shutil
import subprocess
import sys
import types

import numpy as np
import pytest
import tensorflow as tf
from tf_agents.policies import tf_policy
from tf_agents.trajectories import policy_step
from tf_agents.trajectories import time_step as ts

import agents
import envs
from agents.episodes.evaluation import Evaluator
from agents.episodes.layout import episode_return
from agents.planet.agent.clock import Clock
from agents.runs.folder import open_run
from agents.runs.migrating import migrate
from agents.runs.records import read_scores
from agents.system.errors import UserError
from agents.training.loading import (
    LoadedAgent,
    ObservationPolicy,
    load_agent,
    make_checkpoints,
)
from envs.actions import make_actions


def test_config_counts_and_weights_are_those_of_the_newest_checkpoint(
    whole_run, whole_agent
):
    config, agent = whole_agent
    assert (config.task, config.environment_steps) == ("fake", 160)
    assert int(agent.clock.episodes) == 8
    assert int(agent.train_step_counter) == 14
    before = sorted(whole_run.rglob("*"))
    _, again = load_agent(whole_run)
    for one, other in zip(agent.model.variables, again.model.variables, strict=True):
        np.testing.assert_array_equal(one, other)
    assert sorted(whole_run.rglob("*")) == before, "loading changed something"


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
    with pytest.raises(UserError, match="bayes-rl migrate"):
        load_agent(run.folder)
    migrate(run.folder, resolve=None)
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


class Summing(tf_policy.TFPolicy):
    """Its action is the sum of what it saw in an episode, the number of which it adds."""

    def __init__(self, clock, seen):
        self.clock = clock
        state, one = tf.TensorSpec([2], tf.float32), tf.TensorSpec([1], tf.float32)
        spec = ts.time_step_spec({"observation": seen, "position": one, "velocity": one})
        super().__init__(spec, state, policy_state_spec=state, clip=False)

    def _variables(self):
        return []

    def _get_initial_state(self, batch_size):
        return tf.zeros([batch_size, 2]) + tf.cast(self.clock.episodes, tf.float32)

    def _action(self, time_step, policy_state, seed):
        start = tf.where(time_step.is_first(), 0.5, 0.0)
        action = policy_state + time_step.observation["observation"] + start
        return policy_step.PolicyStep(action, action)


@pytest.fixture
def make_agent():
    """Makes an agent that sums, in its first episode."""

    def make(entries=(), seen=(2,), dtype=tf.float32):
        clock = Clock()
        told = types.SimpleNamespace(
            entries=dict(entries), images={}, actions=make_actions(-np.ones(1), np.ones(1))
        )
        return LoadedAgent(Summing(clock, tf.TensorSpec(seen, dtype)), clock, told)

    return make


def test_what_was_seen_is_remembered_until_a_reset(make_agent):
    agent = make_agent()
    actions = [agent.act(seen) for seen in ([1.0, 2.0], [10.0, 20.0])]
    agent.reset()
    actions += [agent.act(seen) for seen in ([3.0, 3.0], [1.0, 1.0])]
    # 0.5 at the start of each episode, and the number of the second one
    expected = [[1.5, 2.5], [11.5, 22.5], [4.5, 4.5], [5.5, 5.5]]
    np.testing.assert_array_equal(actions, expected)
    assert actions[0].dtype == np.float32


class Counting(tf_policy.TFPolicy):
    """Its action is the number of episodes that have begun, which is its state."""

    def __init__(self):
        one = tf.TensorSpec([1], tf.float32)
        seen = {"observation": one, "position": one, "velocity": one}
        super().__init__(
            ts.time_step_spec(seen),
            one,
            policy_state_spec=one,
            clip=False,
            automatic_state_reset=False,
        )

    def _variables(self):
        return []

    def _get_initial_state(self, batch_size):
        return tf.zeros([batch_size, 1])

    def _action(self, time_step, policy_state, seed):
        begun = tf.cast(time_step.is_first(), tf.float32)[:, tf.newaxis]
        return policy_step.PolicyStep(policy_state + begun, policy_state + begun)


def test_a_policy_of_observations_alone_counts_episodes_as_the_policy_in_it():
    policy = ObservationPolicy(Counting())
    state, seen, counted = policy.get_initial_state(1), tf.zeros([1, 1]), []
    for step in (ts.restart(seen, 1), ts.transition(seen, tf.zeros([1]))) * 2:
        action, state, _ = policy.action(step, state)
        counted.append(action.numpy().item())
    assert counted == [1, 1, 2, 2]


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (1, np.nan, "state must be finite where no episode starts"),
        (1, np.inf, "state must be finite"),
        (7, 0.0, "step_type must be 0 at the start of an episode, then 1"),
        (-1, 0.0, "step_type must be 0"),
        (0, np.nan, None),  # which starts anew, whatever came of the episode before
        (2, 0.0, None),
    ],
)
def test_a_policy_refuses_wrong_states_and_kinds_in_its_graph(kind, value, message):
    policy = ObservationPolicy(Summing(Clock(), tf.TensorSpec([2], tf.float32)))
    act = tf.function(policy.action, autograph=False)
    step = ts.TimeStep(tf.constant([kind]), tf.zeros([1]), tf.ones([1]), tf.zeros([1, 2]))
    state = tf.constant([[0.0, value]])
    if message is None:
        assert np.isfinite(act(step, state).action).all()
        return
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        act(step, state)


def test_observation_of_an_environment_is_understood(make_agent):
    observation = envs.load("fake", seed=4).reset().observation
    action = make_agent().act(observation)
    np.testing.assert_allclose(action, observation["observation"] + 0.5)


def test_parts_of_an_observation_are_put_together_as_in_the_run(make_agent):
    agent = make_agent({("arm", "speed"): 1, ("goal",): 1})
    action = agent.act({"goal": 4, "arm": {"speed": [2.0], "more": 3}})
    np.testing.assert_array_equal(action, [2.5, 4.5])
    action = agent.act({"observation": [1.0, 1.0], "position": [2.0]})
    np.testing.assert_array_equal(action, [3.5, 5.5])


def test_observations_of_dm_control_and_of_its_environment_here_are_told_apart(make_agent):
    agent = make_agent({("position",): 1, ("velocity",): 1})  # as of the suite's point mass
    suite = {"position": [1.0], "velocity": [2.0]}
    np.testing.assert_array_equal(agent.act(suite), [1.5, 2.5])
    here = {"observation": [1.0, 2.0], "position": [5.0, 6.0], "velocity": [7.0, 8.0]}
    np.testing.assert_array_equal(agent.act(here), [2.5, 4.5])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("observation", "message"),
    [
        ([1.0, 2.0, 3.0], r"must have shape \(2,\), got \(3,\)"),
        ([[1.0, 2.0]], r"must have shape \(2,\), got \(1, 2\)"),
        ([np.nan, 0.0], r"^observation must be finite, got \[nan 0.\] to act on$"),
        ([1e300, 0.0], r"must be at most 1e\+15 in size, got"),
        ([1e20, 0.0], r"must be at most 1e\+15 in size, got \[1.e\+20 0.e\+00\] to act on"),
        (["a", "b"], r"^observation must be real numbers, got \['a', 'b'\] to act on$"),
        ([None, 1.0], "must be real numbers, got"),
        (None, "must be real numbers, got None"),
        ([1j, 0.0], "must be real numbers, got"),
        (np.ma.array([1.0, 2.0], mask=[1, 0]), r"must be real numbers, got \[-- 2.0\]"),
        ({"observation": [np.inf, 0.0]}, "^observation must be finite, got"),
        ({"obs": [1.0, 2.0]}, "^observation must be a dict with observation; it lacks"),
        ({}, "^observation must be a dict with observation; it lacks observation$"),
    ],
)
def test_wrong_observation_is_one_clear_line(make_agent, observation, message):
    with pytest.raises(ValueError, match=message) as caught:
        make_agent().act(observation)
    assert "\n" not in str(caught.value)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("observation", "message"),
    [
        ({"arm": {"angle": [1.0, 2.0]}}, "with arm/angle 2, speed 1; it lacks speed$"),
        ({"arm": {}, "speed": 0.0}, "^observation must be a dict .*; it lacks arm/angle$"),
        ({"arm": [1.0, 2.0], "speed": 0.0}, "; it lacks arm/angle$"),
        ({"arm": None, "speed": 0.0}, "; it lacks arm/angle$"),
        (
            {"arm": {"angle": [1.0]}, "speed": [2.0, 3.0]},
            "^arm/angle must have 2 numbers, got 1$",
        ),
        (
            {"arm": {"angle": [1.0, 2.0]}, "speed": "x"},
            "^speed must be real numbers, got x",
        ),
        ({"arm": {"angle": [1.0, 1e20]}, "speed": 0.0}, "^arm/angle must be at most"),
    ],
)
def test_wrong_entry_of_an_observation_is_named(make_agent, observation, message):
    agent = make_agent({("arm", "angle"): 2, ("speed",): 1}, seen=(3,))
    with pytest.raises(ValueError, match=message) as caught:
        agent.act(observation)
    assert "\n" not in str(caught.value)


def test_image_must_be_one(make_agent):
    agent = make_agent(seen=(4, 4, 3), dtype=tf.uint8)
    with pytest.raises(ValueError, match="must be uint8, 0 to 255, got float64"):
        agent.act(np.zeros([4, 4, 3]))
    masked = np.ma.array(np.zeros([4, 4, 3], np.uint8), mask=True)
    with pytest.raises(ValueError, match="must be real numbers, got"):
        agent.act(masked)


def test_exploring_is_what_the_run_collects_with(whole_run, whole_parts, monkeypatch):
    monkeypatch.setattr(
        "agents.training.scripting.load_parts", {whole_run: whole_parts}.get
    )
    agent = whole_parts[1]
    for action, policy in ((0.25, agent.policy), (0.75, agent.collect_policy)):
        step = policy_step.PolicyStep(tf.constant([[action]]), policy.get_initial_state(1))
        monkeypatch.setattr(policy, "action", lambda *_, step=step: step)
    for explore, action in ((True, 0.75), (False, 0.25)):
        assert agents.load(whole_run, explore=explore).act([0.3, -0.1]) == [action]


def test_package_imports_nothing_before_it_is_used():
    code = (
        "import sys, agents; print({'tensorflow', 'numpy', 'tf_agents'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == "set()", run.stderr
    with pytest.raises(AttributeError, match="has no attribute 'saved'"):
        agents.saved  # noqa: B018

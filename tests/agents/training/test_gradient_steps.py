"""Tests of agents.training.gradient_steps."""

import os
import pathlib
import subprocess
import sys
import types

import numpy as np
import pytest
import tensorflow as tf

from agents.training.building import choose_devices
from agents.training.gradient_steps import Diverged, Learning, weight_report
from bayes_rl.weights import kl_divergences, posteriors

BATCHES = {"batch_size": 4, "sequence_length": 8, "seed": 0}


@pytest.fixture(scope="module")
def learned(build_agent, replay):
    """An agent after 23 steps, the metrics, and what was watched."""
    agent, watched = build_agent(), []
    learning = Learning(agent, replay, choose_devices("default"), **BATCHES)
    return agent, learning.run(23, watched.append), watched


def test_as_many_steps_are_taken_as_asked(learned):
    agent, _, watched = learned
    assert int(agent.train_step_counter) == 23
    assert watched == [20, 23]


def test_metrics_and_the_weight_report_are_returned(learned):
    agent, metrics, _ = learned
    assert set(agent.metric_names) < set(metrics)
    assert "weight_stddev/transition_input" in metrics
    assert all(np.isfinite(value) for value in metrics.values())


@pytest.mark.slow
def test_one_long_run_is_two_short_ones_and_ends_where_a_step_is_not_finite(
    learned, build_agent, replay
):
    agent = build_agent()
    learning = Learning(agent, replay, choose_devices("default"), **BATCHES)
    for steps in (10, 1, 12):
        learning.run(steps, lambda done: None)
    assert learning._learner._train.experimental_get_tracing_count() == 1
    other, _, _ = learned
    for mine, theirs in zip(agent.model.variables, other.model.variables, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)
    agent.clock.advance(episodes=3, agent_steps=38, environment_steps=38)
    agent.model.trainable_variables[0].assign_add(
        tf.fill(agent.model.trainable_variables[0].shape, np.nan)
    )
    with pytest.raises(Diverged) as error:
        learning.run(50, lambda done: None)
    assert int(agent.train_step_counter) == 43, "learning did not end with its chunk"
    found = error.value.divergence
    assert (found.episode, found.train_step) == (3, 24)
    assert found.terms == ("observation_loss",)  # the variable is one of the decoder's


@pytest.mark.slow
def test_a_source_sees_the_replay_first_and_then_after_a_hundred_steps(
    build_agent, replay, monkeypatch
):
    agent, seen = build_agent("transition=laplace"), []
    monkeypatch.setattr(agent.model.source, "renew", lambda *_: seen.append(int(counter)))
    learning = Learning(agent, replay, choose_devices("default"), **BATCHES)
    counter = agent.train_step_counter
    learning._learner = types.SimpleNamespace(run=counter.assign_add)
    for steps in (40, 40, 40, 300, 60):
        learning.run(steps, lambda done: None)
    assert seen == [0, 40, 120, 420]


@pytest.mark.parametrize("step", [0, 3])
def test_devices_share_the_batches_of_a_step_and_go_on_after_those_seen(
    replay, monkeypatch, step
):
    made = []
    monkeypatch.setattr(
        "agents.training.gradient_steps.tf_agents_learner.Learner",
        lambda folder, counter, agent, batches, **_: made.append(batches()),
    )
    agent = types.SimpleNamespace(train_step_counter=tf.Variable(step))
    devices = types.SimpleNamespace(num_replicas_in_sync=2)
    Learning(agent, replay, devices, **BATCHES)
    whole = replay.dataset(2, 8, seed=0).skip(2 * step)  # a step takes one for each
    for (found, _), expected in zip(made[0].take(2), whole, strict=False):
        assert found["reward"].shape == (2, 8)
        for name, value in expected.items():
            np.testing.assert_array_equal(found[name], value)


# Two devices take three steps, get another episode, and take two more.
TWO_DEVICES = """
import numpy as np, tensorflow as tf
(cpu,) = tf.config.list_physical_devices("CPU")
two = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(cpu, two)
import envs
from agents.training.building import choose_devices, make_agent
from agents.runs.config import overrides
from agents.episodes.replay import Replay
from agents.training.gradient_steps import Learning

devices = choose_devices("mirrored")
config = overrides.load(["experiment=debug", "logdir=unused", "compile=false"])
agent = make_agent(config, envs.load_many(1, "fake", processes=False), devices)
rows = np.arange(21)
episode = {"observation": np.zeros([21, 2], np.float32), "action": np.zeros([21, 1]),
           "reward": np.zeros(21), "is_first": rows == 0, "is_terminal": 0 * rows > 0,
           "position": np.zeros([21, 1]), "velocity": np.zeros([21, 1])}

class Watched(Replay):
    drawn = []

    def sample(self, size, length, seed):
        self.drawn.append((int(seed[-1]), self.num_episodes))
        return super().sample(size, length, seed)

replay = Watched(1000)
learning = None
for steps in (3, 2):
    replay.add(episode)
    learning = learning or Learning(agent, replay, devices, 4, 8, seed=0)
    learning.run(steps, lambda done: None)
print(sorted(replay.drawn))
"""


@pytest.mark.slow
def test_devices_draw_no_batch_before_the_episodes_that_it_is_of():
    done = subprocess.run(
        [sys.executable, "-c", TWO_DEVICES],
        env=os.environ | {"PYTHONPATH": str(pathlib.Path(__file__).parents[3])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    expected = [(batch, 1) for batch in range(6)] + [(batch, 2) for batch in range(6, 10)]
    assert done.stdout.splitlines()[-1] == str(expected)


def test_each_uncertain_layer_is_reported(model):
    report = weight_report(model)
    assert len(report) == 9
    for name, posterior in posteriors(model).items():
        layer, _ = name.split("/")
        stddev = np.mean(posterior.stddev())
        size = np.sqrt(np.mean(np.square(posterior.mean())))
        assert report[f"weight_stddev/{layer}"] == pytest.approx(stddev, rel=1e-5)
        assert report[f"weight_ratio/{layer}"] == pytest.approx(stddev / size, rel=1e-5)
        kl = float(kl_divergences(model)[name])
        assert report[f"weight_kl/{layer}"] == pytest.approx(kl, rel=1e-5)


def test_a_layer_of_several_weights_is_reported_once(make_model):
    model = make_model("transition=rank1")
    report, layer = weight_report(model), "transition_hidden"
    names = [f"{layer}/{name}" for name in ("alpha", "gamma")]
    means, stddevs = (
        np.concatenate([np.ravel(getattr(posteriors(model)[name], f)()) for name in names])
        for f in ("mean", "stddev")
    )
    assert report[f"weight_stddev/{layer}"] == pytest.approx(np.mean(stddevs), rel=1e-5)
    ratio = np.mean(stddevs) / np.sqrt(np.mean(means**2))
    assert report[f"weight_ratio/{layer}"] == pytest.approx(ratio, rel=1e-5)
    kl = sum(float(kl_divergences(model)[name]) for name in names)
    assert report[f"weight_kl/{layer}"] == pytest.approx(kl, rel=1e-5)


def test_members_have_a_spread_and_no_kl(make_model):
    report = weight_report(make_model("transition=ensemble"))
    assert {name.split("/")[0] for name in report} == {"weight_stddev", "weight_ratio"}
    assert all(value > 0 for value in report.values())


def test_a_closed_form_has_a_kl_that_costs_nothing(make_model):
    report = weight_report(make_model("transition=laplace"))
    divergences = {name: x for name, x in report.items() if name.startswith("weight_kl/")}
    assert set(divergences) == {"weight_kl/transition_latent", "weight_kl/reward_last"}
    assert all(value > 0 for value in divergences.values())


def test_a_deterministic_transition_has_nothing_to_report(make_model):
    assert weight_report(make_model("transition=deterministic")) == {}

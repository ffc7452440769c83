"""What all sources of uncertainty have in common, and how one is added."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.model import networks
from agents.planet.model.transitions import SOURCES
from agents.planet.model.transitions.source import Source
from agents.runs.config import overrides
from agents.runs.config.schema import as_dict
from agents.runs.grouping import labels
from agents.training.building import make_agent
from bayes_rl.initializers import TrainableNormal
from bayes_rl.layers import DenseReparameterization
from bayes_rl.weights import hold, posteriors

SEED = tf.constant([1, 2])
WITH_DRAWS = ["ensemble", "rank1", "dropout"]  # in a batch


def losses(model, batch, noise, weights, draws=0):
    with hold(model, weights):
        found, *_ = model.losses(batch, noise, SEED, draws)
    return found


@pytest.mark.parametrize("transition", [*SOURCES][1:])
def test_draws_are_the_same_for_a_seed_and_differ_from_each_other(make_model, transition):
    model = make_model(f"transition={transition}")
    draws, again, others = (
        model.draw_weights(3, tf.constant([0, seed])) for seed in (1, 1, 2)
    )
    central, differ = model.central_weights(), False
    assert draws.keys() == central.keys() == posteriors(model).keys()
    for name, draw in draws.items():
        assert draw.shape == [3, *central[name].shape]
        np.testing.assert_array_equal(draw, again[name])
        differ |= bool(np.any(draw[0] != draw[1]) and np.any(draw != others[name]))
    assert differ


@pytest.mark.parametrize("transition", WITH_DRAWS)
def test_each_sequence_of_a_batch_keeps_to_its_draw(
    make_model, make_batch, noise, transition
):
    words = ["world_model.overshooting_distance=2", "world_model.free_nats=0"]
    words += ["world_model.overshooting_kl_scale=1", "ensemble_members=2"]
    model = make_model(f"transition={transition}", *words)
    batch, normal = make_batch(4, 3), noise(4, 3, 3)
    weights, draws = model.source.draw_for_training(model, 4, SEED)
    assert draws == (2 if transition == "ensemble" else 4)
    together = losses(model, batch, normal, weights, draws)
    for row in range(4):
        own = {name: weight[row % draws] for name, weight in weights.items()}
        one = {name: value[row : row + 1] for name, value in batch.items()}
        alone = losses(model, one, normal[row : row + 1], own)
        for name, value in alone.items():
            np.testing.assert_allclose(together[name][row], value[0], rtol=1e-4)
    assert np.ptp(together["latent_loss"]) > 0


@pytest.mark.slow
@pytest.mark.parametrize("transition", ["last_layer", "laplace", *WITH_DRAWS])
def test_an_agent_learns_and_acts(build_agent, make_batch, environment, transition):
    words = ["explore=information_gain", "ensemble_members=2", "world_model.free_nats=0"]
    agent = build_agent(f"transition={transition}", *words, "optimizer.learning_rate=0.05")
    agent.clock.advance(episodes=1, agent_steps=1_000, environment_steps=1_000)
    batch, before = make_batch(4, 2), [v.numpy() for v in agent.model.trainable_variables]
    steps = [agent.train(batch) for _ in range(5)]
    assert float(steps[-1].loss) < 0.95 * float(steps[0].loss)
    for old, variable in zip(before, agent.model.trainable_variables, strict=True):
        assert np.all(np.isfinite(variable))
        assert np.any(old != variable), f"{variable.name} was not trained"
    policy = agent.collect_policy
    step = policy.action(environment.reset(), policy.get_initial_state(2))
    assert np.all(np.abs(step.action) <= 1.0)


class Wide(Source):
    """All that a new source needs to say: how a layer of it is made."""

    def dense(self, units, activation, name):
        if name != "transition_hidden":
            return networks.Dense(units, activation, name=name)
        wide = TrainableNormal(stddev_initializer=tf.keras.initializers.Constant(1.0))
        return DenseReparameterization(
            units, activation, kernel_initializer=wide, name=name
        )


def test_a_source_is_a_class_and_a_line(monkeypatch, make_config, environment, make_batch):
    monkeypatch.setitem(SOURCES, "wide", Wide)
    config = make_config("transition=wide", "explore=thompson")
    agent = make_agent(config, environment, tf.distribute.get_strategy())
    assert set(posteriors(agent.model)) == {"transition_hidden/kernel"}
    agent.train(make_batch(4, 2))
    assert agent.pop_metrics()["weight_kl"] > 0
    policy = agent.collect_policy
    policy.action(environment.reset(), policy.get_initial_state(2))
    twin = dataclasses.replace(config, transition="deterministic")
    named = labels([as_dict(each) for each in (config, twin)])
    assert named == ["transition=wide", "transition=deterministic"]


def test_an_unknown_source_is_refused_by_name():
    with pytest.raises(
        ValueError, match="dropout.* or .*, got 'dropuot'; did you mean 'dropout'"
    ):
        overrides.load(["transition=dropuot"])

"""Tests of the ensemble."""

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.agent.planet_agent import draw
from agents.planet.model.transitions.ensemble import members_of_draws
from agents.system.seeds import fold
from bayes_rl.weights import hold, posteriors

MEMBERS = 3


@pytest.fixture(scope="module")
def model(make_model):
    return make_model("transition=ensemble", f"ensemble_members={MEMBERS}", "batch_size=6")


def chosen(draws, seed):
    return members_of_draws(draws, MEMBERS, tf.constant([0, seed])).numpy().tolist()


@pytest.mark.parametrize(("draws", "times"), [(2, [1, 1]), (3, [1] * 3), (7, [2, 2, 3])])
def test_no_member_comes_twice_before_all_have_come(draws, times):
    for seed in range(5):
        _, counts = np.unique(chosen(draws, seed), return_counts=True)
        assert sorted(counts) == times


def test_every_member_comes_first_equally_often():
    first = np.array([chosen(1, seed) for seed in range(300)])
    error = np.sqrt(300 * (1 / MEMBERS) * (1 - 1 / MEMBERS))
    assert np.all(np.abs(np.bincount(first[:, 0]) - 300 / MEMBERS) < 4 * error)


def test_a_draw_is_one_member_in_all_layers(model):
    draws = model.draw_weights(5, tf.constant([0, 1]))
    members = model.source.draw_for_training(model, 6, None)[0]
    for name, numbers in zip([*draws], [chosen(5, 1)] * len(draws), strict=True):
        np.testing.assert_array_equal(draws[name], members[name].numpy()[numbers])
    assert len(draws) == 6  # kernels and biases


def test_the_first_member_is_central(model):
    members, draws = model.source.draw_for_training(model, 6, None)
    assert draws == MEMBERS
    for name, weight in model.central_weights().items():
        np.testing.assert_array_equal(weight, members[name][0])


def test_members_start_apart_each_as_a_layer_of_its_own(model):
    members = model.source.draw_for_training(model, 6, None)[0]
    kernel = members["transition_hidden/kernel"].numpy()  # [M, 6, 7]
    limit = np.sqrt(6 / (6 + 7))
    assert np.all(np.abs(kernel).max(axis=(1, 2)) <= limit)
    assert np.all(np.abs(kernel).max(axis=(1, 2)) > 0.7 * limit)
    assert np.abs(np.corrcoef(kernel.reshape(MEMBERS, -1))[0, 1]) < 0.5


def test_mean_and_spread_of_the_posterior_are_those_of_the_members(model):
    members = model.source.draw_for_training(model, 6, None)[0]
    for name, posterior in posteriors(model).items():
        np.testing.assert_allclose(
            posterior.mean(), np.mean(members[name], 0), rtol=1e-4, atol=1e-6
        )
        np.testing.assert_allclose(
            posterior.stddev(), np.std(members[name], 0), rtol=1e-3, atol=1e-5
        )


def test_members_cost_nothing(model):
    assert model.source.costs(model) == {}


def test_a_sequence_moves_its_member_alone(model, make_batch, noise):
    batch = make_batch(6, 3)
    with tf.GradientTape() as tape:
        weights, draws = model.source.draw_for_training(model, 6, None)
        with hold(model, weights):
            losses, *_ = model.losses(batch, noise(6, 3, 3), tf.constant([0, 1]), draws)
        loss = losses["observation_loss"][4]  # of the member 4 mod 3
    variable = next(
        v
        for v in model.trainable_variables
        if v.name == "transition_input/kernel/members:0"
    )
    moved = np.abs(tape.gradient(loss, variable)).max(axis=(1, 2)) > 0
    assert moved.tolist() == [False, True, False]


def test_each_member_may_learn_from_the_whole_batch(build_agent, make_batch, noise):
    words = "transition=ensemble", f"ensemble_members={MEMBERS}", "value=td"
    agent = build_agent(*words, "ensemble_shares_batch=false", "batch_size=4")
    for variable in agent.value.variables:  # critics that say 0 would know no features
        variable.assign(variable + noise(*variable.shape))
    batch = make_batch(3, 3)
    found = agent.loss(batch).extra
    drawn = draw(fold(tf.constant([0, 0]), 0), agent.model, [3, 3])
    members, _ = agent.model.source.draw_for_training(agent.model, 3, None)
    each = []
    for number in range(MEMBERS):
        with hold(agent.model, {name: own[number] for name, own in members.items()}):
            losses, *_, features = agent.model.losses(
                batch, drawn.latents, drawn.image_seed
            )
        each.append(np.mean(losses["observation_loss"]))
        if not number:
            of_value, _ = agent.value.losses(batch, features, drawn.actions)
    np.testing.assert_allclose(found["observation_loss"], np.mean(each), rtol=1e-5)
    np.testing.assert_allclose(
        found["value_loss"], np.mean(of_value["value_loss"]), rtol=1e-5
    )
    assert np.std(each) > 1e-4 * np.mean(each)

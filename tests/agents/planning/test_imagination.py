"""Tests of agents.planning.imagination, against loops."""

import numpy as np
import pytest
import tensorflow as tf

from agents.model.latents import Latent
from agents.planning.imagination import (
    TRAJECTORIES,
    imagine_average_of_draws,
    imagine_draws_on_shared_trajectory,
    imagine_with_a_draw_for_each_group,
    imagine_with_draws,
    imagine_with_mean_weights,
    imagine_with_switching_draws,
)
from agents.seeds import fold, split, uniform
from bayes_rl.weights import hold

ENVIRONMENTS, CANDIDATES, HORIZON, LATENT, DRAWS = 2, 2, 3, 3, 3


@pytest.fixture(scope="module", params=["flipout"])
def model(request, make_model):
    return make_model(f"transition={request.param}", "task=fake_ending")


# Weights of one kernel, and of two vectors.
KINDS = pytest.mark.parametrize("model", ["flipout", "rank1"], indirect=True)


@pytest.fixture(scope="module")
def start(noise):
    """The latents of two environments."""
    return Latent(
        noise(ENVIRONMENTS, 6, seed=1),
        noise(ENVIRONMENTS, LATENT, seed=2),
        tf.ones([ENVIRONMENTS, LATENT]),
        noise(ENVIRONMENTS, LATENT, seed=3),
    )


@pytest.fixture(scope="module")
def plans(noise):
    return tf.tanh(noise(ENVIRONMENTS, CANDIDATES, HORIZON, 1, seed=4))


@pytest.fixture(scope="module")
def normal(noise):
    return noise(ENVIRONMENTS, CANDIDATES, HORIZON, LATENT, seed=5)


@pytest.fixture(scope="module")
def draws(model):
    """Other draws for each environment: [B * S, ...]."""
    each = [model.draw_weights(DRAWS, tf.constant([0, e])) for e in range(ENVIRONMENTS)]
    return {name: tf.concat([draw[name] for draw in each], 0) for name in each[0]}


def draw_of(draws, environment, number):
    row = environment * DRAWS + number
    return {name: draw[row] for name, draw in draws.items()}


def follow(model, weights, start, plan, noise):
    """The latents before and after each action of one plan [H, A]."""
    latents = [tf.nest.map_structure(lambda x: x[None], start)]
    with hold(model, weights):
        for action, normal in zip(plan, noise, strict=True):
            latents.append(model.rssm.imagine_step(latents[-1], action[None], normal[None]))
    return latents


def each_plan():
    return np.ndindex(ENVIRONMENTS, CANDIDATES)


def one(nest, *index):
    return tf.nest.map_structure(lambda x: x[index], nest)


def assert_outcome(rollout, draw, environment, candidate, model, latents):
    """The rollout holds the latents that follow each action, their rewards and ends."""
    index = (draw, environment, candidate)
    reached = 1.0
    for now, latent in enumerate(latents[1:]):
        np.testing.assert_allclose(rollout.reached[index][now], reached, rtol=1e-4)
        reached *= float(model.continuation(latent.features)[0])
        for name in ("mean", "stddev"):
            np.testing.assert_allclose(
                getattr(rollout, name)[index][now],
                getattr(latent, name)[0],
                rtol=1e-4,
                atol=1e-5,
            )
        np.testing.assert_allclose(
            rollout.reward[index][now],
            model.reward(latent.features)[0],
            rtol=1e-4,
            atol=1e-5,
        )


def test_mean_weights_roll_each_plan_out_by_itself(model, start, plans, normal):
    rollout = imagine_with_mean_weights(model, start, plans, normal)
    assert rollout.reward.shape == (1, ENVIRONMENTS, CANDIDATES, HORIZON)
    assert rollout.mean.shape == (1, ENVIRONMENTS, CANDIDATES, HORIZON, LATENT)
    for b, n in each_plan():
        latents = follow(
            model, model.central_weights(), one(start, b), plans[b, n], normal[b, n]
        )
        assert_outcome(rollout, 0, b, n, model, latents)


@KINDS
def test_each_draw_rolls_each_plan_out_by_itself(model, start, plans, normal, draws):
    rollout = imagine_with_draws(model, start, plans, normal, draws, DRAWS)
    assert rollout.reward.shape == (DRAWS, ENVIRONMENTS, CANDIDATES, HORIZON)
    for b, n in each_plan():
        for s in range(DRAWS):
            latents = follow(
                model, draw_of(draws, b, s), one(start, b), plans[b, n], normal[b, n]
            )
            assert_outcome(rollout, s, b, n, model, latents)


def test_draws_on_a_shared_trajectory_start_each_step_from_the_mean_weights(
    model, start, plans, normal, draws
):
    rollout = imagine_draws_on_shared_trajectory(model, start, plans, normal, draws, DRAWS)
    assert rollout.reward.shape == (1, ENVIRONMENTS, CANDIDATES, HORIZON)
    assert rollout.mean.shape == (DRAWS, ENVIRONMENTS, CANDIDATES, HORIZON, LATENT)
    for b, n in each_plan():
        trajectory = follow(
            model, model.central_weights(), one(start, b), plans[b, n], normal[b, n]
        )
        for s in range(DRAWS):
            with hold(model, draw_of(draws, b, s)):
                steps = [
                    model.rssm.imagine_step(before, plans[b, n, now][None], 0.0)
                    for now, before in enumerate(trajectory[:-1])
                ]
            for name in ("mean", "stddev"):
                np.testing.assert_allclose(
                    getattr(rollout, name)[s, b, n],
                    tf.concat([getattr(step, name) for step in steps], 0),
                    rtol=1e-4,
                    atol=1e-5,
                )
    expected = imagine_with_mean_weights(model, start, plans, normal)
    np.testing.assert_allclose(rollout.reward, expected.reward, rtol=1e-5)
    np.testing.assert_allclose(rollout.reached, expected.reached, rtol=1e-5)


def test_switching_draws_are_a_new_permutation_at_every_step(
    model, start, plans, normal, draws
):
    seeds = split([3, 4], ENVIRONMENTS)
    rollout = imagine_with_switching_draws(model, start, plans, normal, draws, DRAWS, seeds)
    orders = [
        [np.argsort(uniform([DRAWS], fold(seed, step))) for step in range(HORIZON)]
        for seed in tf.unstack(seeds)
    ]
    assert len({tuple(order) for order in orders[0]}) > 1
    for b, n in each_plan():
        now, particles = [one(start, b)] * DRAWS, np.arange(DRAWS)
        for step, order in enumerate(orders[b]):
            moved, particles = [now[place] for place in order], particles[order]
            now = [
                follow(
                    model,
                    draw_of(draws, b, s),
                    moved[s],
                    plans[b, n, step : step + 1],
                    normal[b, n, step : step + 1],
                )[1]
                for s in range(DRAWS)
            ]
            now = [tf.nest.map_structure(lambda x: x[0], latent) for latent in now]
            for place, particle in enumerate(particles):
                np.testing.assert_allclose(
                    rollout.mean[particle, b, n, step], now[place].mean, 1e-4, atol=1e-5
                )


def test_average_of_draws_goes_on_from_the_mean_prediction(
    model, start, plans, normal, draws
):
    rollout = imagine_average_of_draws(model, start, plans, normal, draws, DRAWS)
    assert rollout.mean.shape == (1, ENVIRONMENTS, CANDIDATES, HORIZON, LATENT)
    for b, n in each_plan():
        now = one(start, b)
        for step in range(HORIZON):
            action = plans[b, n, step : step + 1]
            predictions = [
                follow(model, draw_of(draws, b, s), now, action, tf.zeros([1, LATENT]))[1]
                for s in range(DRAWS)
            ]
            now = tf.nest.map_structure(
                lambda *each: tf.reduce_mean(tf.stack(each), 0)[0], *predictions
            )
            now = now._replace(sample=now.mean)
            np.testing.assert_allclose(
                rollout.mean[0, b, n, step], now.mean, rtol=1e-4, atol=1e-5
            )


@KINDS
def test_each_part_of_the_plans_follows_its_own_draw(model, start, plans, normal, draws):
    plans = tf.concat([plans, -plans[:, ::-1], 0.5 * plans], axis=1)  # DRAWS parts
    noise = tf.tile(normal, [1, DRAWS, 1, 1])
    other = tf.concat([normal, tf.zeros_like(noise[:, CANDIDATES:])], axis=1)
    every = imagine_with_draws(model, start, plans, noise, draws, DRAWS)
    run = tf.function(imagine_with_a_draw_for_each_group, autograph=False)
    for given, function in ((noise, imagine_with_a_draw_for_each_group), (other, run)):
        rollout = function(model, start, plans, given, draws, DRAWS)
        assert rollout.reward.shape == (1, ENVIRONMENTS, DRAWS * CANDIDATES, HORIZON)
        for n in range(DRAWS * CANDIDATES):
            for found, expected in zip(rollout, every, strict=True):
                np.testing.assert_allclose(
                    found[0, :, n], expected[n // CANDIDATES, :, n], rtol=1e-4, atol=1e-5
                )


def test_groups_of_the_mean_weights_are_rolled_out_by_the_mean_weights(
    model, start, plans, normal
):
    plans, noise = (tf.tile(x, [1, DRAWS, 1, 1]) for x in (plans, normal))
    groups = imagine_with_a_draw_for_each_group(
        model, start, plans, noise, repeat_mean_weights(model), DRAWS
    )
    mean = imagine_with_mean_weights(model, start, plans, noise)
    for found, expected in zip(groups, mean, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def repeat_mean_weights(model):
    """The mean weights as if they were drawn, [B * S, ...]."""
    return {
        name: tf.repeat(mean[None], ENVIRONMENTS * DRAWS, axis=0)
        for name, mean in model.central_weights().items()
    }


def disagreement(rollout):
    """Largest stddev over draws of a predicted mean, at each step: [H]."""
    return np.std(rollout.mean, axis=0).max(axis=(0, 1, 3))


IMAGINE = pytest.mark.parametrize(
    "imagine", [imagine_with_draws, imagine_draws_on_shared_trajectory]
)


@IMAGINE
def test_identical_draws_agree_whatever_the_noise(imagine, model, start, plans, normal):
    same = repeat_mean_weights(model)
    rollout = imagine(model, start, plans, 10.0 * normal, same, DRAWS)
    np.testing.assert_allclose(disagreement(rollout), 0.0, atol=1e-5)


@IMAGINE
def test_draws_that_differ_disagree_at_every_step(
    imagine, model, start, plans, normal, draws
):
    assert disagreement(imagine(model, start, plans, normal, draws, DRAWS)).min() > 1e-3


def test_a_graph_computes_what_eager_execution_does(model, start, plans, normal, draws):
    for imagine in (imagine_with_draws, imagine_draws_on_shared_trajectory):
        graph = tf.function(
            lambda *given, run=imagine: run(model, *given, DRAWS), autograph=False
        )
        for found, expected in zip(
            graph(start, plans, normal, draws),
            imagine(model, start, plans, normal, draws, DRAWS),
            strict=True,
        ):
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


class Sum:
    """What a state is worth: the sum of its features."""

    discount, return_lambda = 0.9, 1.0
    value = staticmethod(lambda features: tf.reduce_sum(features, -1))
    novelty = staticmethod(lambda features: 7.0 * tf.reduce_sum(features, -1))


def assert_values(rollout, draw, b, n, model, latents):
    """The value is that of the last latent, discounted and if it is reached."""
    share = 1.0
    for now, latent in enumerate(latents[1:]):
        np.testing.assert_allclose(rollout.reached[draw, b, n, now], share, rtol=1e-4)
        share *= 0.9 * float(model.continuation(latent.features)[0])
    expected = share * np.sum(latents[-1].features)
    np.testing.assert_allclose(rollout.value[draw, b, n], expected, rtol=1e-3, atol=1e-4)


def test_each_draw_values_its_own_last_latent(model, start, plans, normal, draws):
    rollout = imagine_with_draws(model, start, plans, normal, draws, DRAWS, value=Sum())
    assert rollout.value.shape == (DRAWS, ENVIRONMENTS, CANDIDATES)
    for s, (b, n) in ((0, (0, 0)), (2, (0, 1)), (1, (1, 0))):
        weights = draw_of(draws, b, s)
        latents = follow(model, weights, one(start, b), plans[b, n], normal[b, n])
        assert_values(rollout, s, b, n, model, latents)
    assert np.std(rollout.value, axis=0).min() > 1e-5, "draws share a value"


@pytest.mark.parametrize("name", TRAJECTORIES)
def test_every_trajectory_values_its_last_latent(name, model, start, plans, normal, draws):
    plans, normal = (tf.tile(x, [1, DRAWS, 1, 1]) for x in (plans, normal))
    seeds = split([3, 4], ENVIRONMENTS)
    given = (model, start, plans, normal, draws, DRAWS, seeds)
    rollout, plain = (TRAJECTORIES[name](*given, value=v) for v in (Sum(), None))
    for field in ("reward", "mean", "stddev"):
        np.testing.assert_array_equal(getattr(rollout, field), getattr(plain, field))
    assert rollout.value.shape == plain.value.shape == rollout.reward.shape[:3]
    np.testing.assert_array_equal(plain.value, np.zeros(plain.value.shape))
    discounts = 0.9 ** np.arange(HORIZON)
    np.testing.assert_allclose(rollout.reached, discounts * plain.reached, rtol=1e-4)
    assert np.abs(rollout.value).min() > 0
    np.testing.assert_allclose(rollout.novelty, 7.0 * rollout.value, rtol=1e-5)
    np.testing.assert_array_equal(plain.novelty, np.zeros(plain.value.shape))


def test_on_a_shared_trajectory_and_under_the_mean_the_mean_weights_value(
    model, start, plans, normal, draws
):
    given = (model, start, plans, normal, draws, DRAWS)
    mean, shared = (TRAJECTORIES[n](*given, value=Sum()) for n in ("mean", "shared"))
    np.testing.assert_allclose(shared.value, mean.value, rtol=1e-4, atol=1e-5)
    for b, n in ((0, 1), (1, 0)):
        weights = model.central_weights()
        latents = follow(model, weights, one(start, b), plans[b, n], normal[b, n])
        assert_values(mean, 0, b, n, model, latents)

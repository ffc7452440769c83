"""Tests of agents.planet.planning.imagination, against loops."""

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.planning.imagination import (
    imagine_average_of_draws,
    imagine_draws_on_shared_trajectory,
    imagine_with_a_draw_for_each_group,
    imagine_with_draws,
    imagine_with_mean_weights,
    imagine_with_switching_draws,
)
from agents.system.seeds import fold, split, uniform
from bayes_rl.weights import hold
from tests.agents.planet.planning.imagination.following import (
    CANDIDATES,
    DRAWS,
    ENVIRONMENTS,
    HORIZON,
    LATENT,
    draw_of,
    each_plan,
    follow,
    one,
)

# Weights of one kernel, of two vectors, and of the reward too.
KINDS = pytest.mark.parametrize("model", ["flipout", "rank1", "laplace"], indirect=True)


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
            own = draw_of(draws, b, s)
            latents = follow(model, own, one(start, b), plans[b, n], normal[b, n])
            with hold(model, own):
                assert_outcome(rollout, s, b, n, model, latents)


@KINDS
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

"""Tests of agents.planet.model.overshooting, against loops over steps and distances."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf
from scipy import stats

from agents.planet.model.overshooting import overshooting_losses
from agents.planet.model.rssm import Latent
from bayes_rl.weights import hold, mean_weights, named_signs, sample_weights

BATCH, LENGTH, DISTANCE, FREE_NATS = 2, 5, 3, 0.2


@pytest.fixture(scope="module")
def settings(make_config):
    return make_config(
        f"world_model.overshooting_distance={DISTANCE}",
        "world_model.overshooting_kl_scale=2.0",
        "world_model.overshooting_reward_scale=5.0",
        f"world_model.free_nats={FREE_NATS}",
    ).world_model


@pytest.fixture(scope="module")
def batch(make_batch):
    is_first = np.zeros([BATCH, LENGTH], bool)
    is_first[0, 3] = is_first[1, 0] = True
    return make_batch(BATCH, LENGTH) | {"is_first": tf.constant(is_first)}


def observe(model, batch, noise):
    embedding = model.encode(batch["observation"])
    return model.rssm.observe(embedding, batch["action"], batch["is_first"], noise)[0]


def by_loops(model, batch, posterior, noise):
    """KL and reward losses [B, T], one prior step at a time."""
    kl_loss, reward_loss = np.zeros([2, BATCH, LENGTH])
    for example in range(BATCH):
        for start in range(LENGTH):
            latent = Latent(*(state[example, start][None] for state in posterior))
            for now in range(start + 1, min(start + DISTANCE + 1, LENGTH)):
                if batch["is_first"][example, now]:
                    break
                latent = model.rssm.imagine_step(
                    latent, batch["action"][example, now][None], noise[example, now][None]
                )
                mean, stddev = posterior.mean[example, now], posterior.stddev[example, now]
                ratio = (stddev / latent.stddev[0]) ** 2
                distance = ((mean - latent.mean[0]) / latent.stddev[0]) ** 2
                kl = 0.5 * np.sum(ratio + distance - 1 - np.log(ratio))
                kl_loss[example, start] += max(0.0, kl - FREE_NATS) / DISTANCE
                reward = stats.norm(model.reward(latent.features)[0], 1)
                log_prob = reward.logpdf(batch["reward"][example, now])
                reward_loss[example, start] -= log_prob / DISTANCE
    return 2.0 * kl_loss, 5.0 * reward_loss


def test_losses_are_those_of_loops_over_steps_and_distances(model, batch, settings, noise):
    normal = noise(BATCH, LENGTH, 3)
    with hold(model, sample_weights(model, seed=1)):
        posterior = observe(model, batch, normal)
        found = overshooting_losses(model, batch, posterior, normal, settings)
        kl, reward = by_loops(model, batch, posterior, normal)
    assert kl.max() > 0, "free nats cut every step"
    np.testing.assert_allclose(found["overshooting_latent_loss"], kl, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found["overshooting_reward_loss"], reward, rtol=1e-4)


def test_nothing_is_overshot_from_the_last_step_of_a_sequence_or_episode(
    model, batch, settings, noise
):
    normal = noise(BATCH, LENGTH, 3)
    with hold(model, mean_weights(model)):
        posterior = observe(model, batch, normal)
        found = overshooting_losses(model, batch, posterior, normal, settings)
    for loss in found.values():
        np.testing.assert_array_equal(loss[:, -1], [0.0, 0.0])
        assert loss[0, 2] == 0.0, "the next step starts another episode"


def test_the_latent_loss_does_not_move_the_posterior_towards_the_prior(
    model, batch, settings, noise
):
    settings = dataclasses.replace(settings, free_nats=0.0)
    normal = noise(BATCH, LENGTH, 3)
    with hold(model, mean_weights(model)), tf.GradientTape() as tape:
        posterior = observe(model, batch, normal)
        last = tf.nest.map_structure(lambda x: x[:, -1:], posterior)
        tape.watch(last)
        joined = tf.nest.map_structure(
            lambda x, y: tf.concat([tf.stop_gradient(x[:, :-1]), y], 1), posterior, last
        )
        losses = overshooting_losses(model, batch, joined, normal, settings)
        loss = tf.reduce_sum(losses["overshooting_latent_loss"])
    gradients = tape.gradient(loss, last, unconnected_gradients="zero")
    for gradient in gradients:
        assert not np.any(gradient), "the last posterior is a target alone"


def test_examples_keep_their_flipout_signs_at_all_distances(
    make_model, batch, settings, noise
):
    model = make_model("transition=flipout")
    normal = noise(BATCH, LENGTH, 3)
    weights = sample_weights(model, seed=1, batch_size=BATCH)

    def losses(rows):
        part = {name: value[rows] for name, value in batch.items()}
        held = weights | {name: weights[name][rows] for name in named_signs(model)}
        with hold(model, held):
            posterior = observe(model, part, normal[rows])
            return overshooting_losses(model, part, posterior, normal[rows], settings)

    together, alone = losses(slice(0, 2)), losses(slice(1, 2))
    for name in together:
        np.testing.assert_allclose(together[name][1:], alone[name], rtol=1e-4, atol=1e-5)

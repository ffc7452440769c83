"""Tests of agents.study.insight.latents."""

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.model.rssm import Latent
from agents.study.insight.latents import encode, imagine_latents, predict_open_loop, stack
from agents.system.seeds import fold, normal
from bayes_rl.weights import hold, mean_weights, sample_weights

LENGTH, CONTEXT = 7, 3
SEED = tf.constant([5, 6])


@pytest.fixture(scope="module")
def episode():
    rng = np.random.default_rng(0)
    return {
        "observation": rng.normal(size=[LENGTH, 2]).astype(np.float32),
        "action": rng.uniform(-1, 1, [LENGTH, 1]).astype(np.float32),
        "reward": np.zeros(LENGTH, np.float32),
        "is_first": np.arange(LENGTH) == 0,
    }


def by_hand(model, episode, weights):
    """Reconstructions and predictions [T, ...] of one prediction under given weights."""
    latent, noise = model.rssm.initial(1), normal([1, LENGTH, 3], fold(SEED, 0))
    decoded = []
    for now in range(LENGTH):
        action = tf.constant(episode["action"][now : now + 1])
        if now < CONTEXT:
            with hold(model, mean_weights(model)):
                latent = model.rssm.filter(
                    latent,
                    model.parts["observation"].encode(
                        tf.constant(episode["observation"][now : now + 1])
                    ),
                    action,
                    tf.constant(episode["is_first"][now : now + 1]),
                    noise[:, now],
                )
        else:
            with hold(model, weights):
                latent = model.rssm.imagine_step(latent, action, noise[:, now])
        decoded.append(model.parts["observation"].decode(latent.features)[0])
    return np.stack(decoded)


def test_the_context_is_filtered_and_the_rest_imagined(model, episode):
    (found,) = predict_open_loop(model, episode, CONTEXT, draws=0, seed=SEED)
    expected = by_hand(model, episode, mean_weights(model))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_each_draw_imagines_with_the_same_noise(model, episode):
    found = predict_open_loop(model, episode, CONTEXT, draws=3, seed=SEED)
    draws = sample_weights(model, [3], fold(SEED, 2))
    for number in range(3):
        weights = {name: draw[number] for name, draw in draws.items()}
        np.testing.assert_allclose(
            found[number], by_hand(model, episode, weights), rtol=1e-4, atol=1e-5
        )


def test_observations_after_the_context_are_not_seen(model, episode):
    hidden = episode["observation"].copy()
    hidden[CONTEXT:] = 100.0
    first, second = (
        predict_open_loop(model, episode | {"observation": each}, CONTEXT, 2, SEED)
        for each in (episode["observation"], hidden)
    )
    np.testing.assert_array_equal(first, second)


def spread(model, episode):
    """Stddev over draws at each row: [T]."""
    predictions = predict_open_loop(model, episode, CONTEXT, draws=4, seed=SEED)
    return np.std(predictions, axis=0).max(axis=-1)


def test_draws_disagree_after_the_context_alone(model, episode):
    disagreement = spread(model, episode)
    assert not np.any(disagreement[:CONTEXT])
    assert disagreement[CONTEXT:].min() > 1e-4


def test_a_narrow_posterior_disagrees_on_nothing(make_model, episode):
    assert spread(make_model("posterior_scale=1e-5"), episode).max() < 1e-5


def test_a_deterministic_transition_disagrees_on_nothing(make_model, episode):
    model = make_model("transition=deterministic")
    assert spread(model, episode).max() < 1e-6


def test_images_are_predicted_as_images(make_model, episode):
    model = make_model("world_model.image_depth=2", image_size=32)
    images = np.zeros([LENGTH, 32, 32, 3], np.uint8)
    found = predict_open_loop(model, episode | {"observation": images}, CONTEXT, 2, SEED)
    assert found.shape == (2, LENGTH, 32, 32, 3)


def filtered_by_hand(model, episode, noise):
    latent, features = model.rssm.initial(1), []
    for now in range(len(episode["reward"])):
        row = slice(now, now + 1)
        latent = model.rssm.filter(
            latent,
            model.parts["observation"].encode(tf.constant(episode["observation"][row])),
            tf.constant(episode["action"][row]),
            tf.constant(episode["is_first"][row]),
            noise[now : now + 1],
        )
        features.append(latent.features[0])
    return np.stack(features)


def test_latents_of_each_episode_are_those_of_the_filter(make_model, episode):
    model = make_model("transition=deterministic")
    shorter = {key: value[:4] for key, value in episode.items()}
    episodes = [episode, shorter, episode]
    encoded = encode(model, episodes, SEED)
    found = encoded.cut(encoded.latents(model, mean_weights(model)).features)
    for number, episode in enumerate(episodes):
        expected = filtered_by_hand(model, episode, encoded.noise[number])
        np.testing.assert_allclose(found[number], expected, rtol=1e-4, atol=1e-5)


def test_shorter_episodes_are_padded():
    stacked = stack([{"x": np.ones([2, 3])}, {"x": np.ones([4, 3])}], "x")
    np.testing.assert_array_equal(stacked[0, :, 0], [1, 1, 0, 0])
    np.testing.assert_array_equal(stacked[1], np.ones([4, 3]))


def test_predictions_are_in_the_units_of_the_task(make_model, episode):
    model = make_model()
    far = episode | {"observation": 500.0 + 3.0 * episode["observation"]}
    model.see(far)
    mean, stddev = far["observation"].mean(0), far["observation"].std(0)
    scaled = episode | {"observation": (far["observation"] - mean) / stddev}
    plain = make_model("world_model.standardize=false")
    found = predict_open_loop(model, far, CONTEXT, draws=2, seed=SEED)
    expected = predict_open_loop(plain, scaled, CONTEXT, draws=2, seed=SEED)
    np.testing.assert_allclose(found, mean + stddev * expected, rtol=1e-4)


def test_one_trace_imagines_every_horizon(model, noise):
    start = Latent(*(x[tf.newaxis] for x in model.rssm.initial(2)))
    weights = mean_weights(model)
    before = imagine_latents.graph.experimental_get_tracing_count()
    for horizon in (3, 5):
        given = (start, noise(horizon, 2, 1), noise(horizon, 1, 2, 3), weights)
        found = imagine_latents(model, *given)
        eager = imagine_latents.__wrapped__(model, *given)
        np.testing.assert_allclose(found.mean, eager.mean, atol=1e-5)
    assert imagine_latents.graph.experimental_get_tracing_count() == before + 1

import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import distributions as tfd

import bayes_rl as ed


def make(**kwargs):
    attention = ed.layers.Attention("mlp", [8], "dot_product")
    return ed.layers.NeuralProcess(
        [16, 16], 4, [16, 2], attention_wrapper=attention, **kwargs
    )


def lines(batch, seed=None):
    """Data sets of lines with random slopes: contexts are the first five targets."""
    slopes = np.random.default_rng(seed).uniform(-2, 2, size=[batch, 1, 1])
    x = np.random.default_rng(seed).uniform(-1, 1, size=[batch, 12, 1])
    x, y = x.astype("float32"), (slopes * x).astype("float32")
    return ((x[:, :5], y[:, :5]), x), y


def test_layers_are_made_once():
    model = make()
    query, y = lines(3, seed=0)
    model(query)
    count = len(model.trainable_weights)
    for _ in range(2):
        model(query, y)
    assert len(model.trainable_weights) == count == 20


def test_training_call_adds_the_kl_of_the_latent():
    model = make()
    query, y = lines(3, seed=0)
    model(query)
    assert model.losses == []
    model(query, y)
    (context_x, context_y), target_x = query
    prior = model.latent_encoder(context_x, context_y)
    posterior = model.latent_encoder(target_x, y)
    expected = tfd.kl_divergence(posterior.distribution, prior.distribution)
    np.testing.assert_allclose(
        model.losses[0], np.mean(np.sum(expected, -1)), rtol=1e-4, atol=1e-6
    )


def test_encoders_do_not_see_the_order_of_the_contexts():
    model = make()
    ((x, y), target), _ = lines(3, seed=0)
    shuffled = x[:, ::-1], y[:, ::-1]
    np.testing.assert_allclose(
        model.latent_encoder(x, y).mean(),
        model.latent_encoder(*shuffled).mean(),
        rtol=1e-5,
        atol=1e-6,
    )
    np.testing.assert_allclose(
        model.deterministic_encoder(x, y, target),
        model.deterministic_encoder(*shuffled, target),
        rtol=1e-4,
        atol=1e-6,
    )


def test_latent_path_alone():
    model = ed.layers.NeuralProcess([8], 4, [8, 6], use_deterministic_path=False)
    query, _ = lines(3, seed=0)
    outputs = model(query)
    assert outputs.shape == [3, 12, 3]
    assert np.any(outputs.mean() != model(query).mean())
    assert np.all(outputs.stddev() > 0.1)


@pytest.mark.slow
def test_learns_lines_from_their_contexts():
    tf.keras.utils.set_random_seed(0)
    model = make()
    optimizer = tf.keras.optimizers.Adam(0.01)
    model(lines(2, seed=0)[0])

    @tf.function(autograph=False)
    def step(query, y):
        with tf.GradientTape() as tape:
            log_prob = model(query, y).log_prob(y)
            loss = model.losses[0] - tf.reduce_mean(tf.reduce_sum(log_prob, -1))
        gradients = tape.gradient(loss, model.trainable_variables)
        assert all(gradient is not None for gradient in gradients)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    for seed in range(200):
        query, y = lines(16, seed)
        step(tf.nest.map_structure(tf.constant, query), tf.constant(y))
    query, y = lines(64, seed=1000)
    error = np.mean((model(query).mean() - y) ** 2)
    assert error < 0.25 * np.mean(y**2)


def test_errors():
    with pytest.raises(ValueError, match="num_latents must be at least 1, got 0"):
        ed.layers.NeuralProcess([4], 0, [2])
    with pytest.raises(ValueError, match="must be twice the size of y, got 3"):
        ed.layers.NeuralProcess([4], 1, [4, 3])


def test_empty_batch_costs_nothing():
    model = make()
    query, y = tf.nest.map_structure(lambda x: x[:0], lines(3, seed=0))
    model(query, y)
    np.testing.assert_array_equal(model.losses, [0.0])

import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import distributions as tfd

import bayes_rl as ed

GENERATOR = np.random.default_rng(0)
KEYS = GENERATOR.normal(size=[2, 5, 4]).astype("float32")
QUERIES = GENERATOR.normal(size=[2, 3, 4]).astype("float32")
VALUES = GENERATOR.normal(size=[2, 5, 6]).astype("float32")


def softmax(scores):
    scores = np.exp(scores)
    return scores / scores.sum(-1, keepdims=True)


DISTANCE = abs(KEYS[:, None] - QUERIES[:, :, None]).sum(-1)
PRODUCT = QUERIES @ KEYS.transpose(0, 2, 1) / 2.0
WEIGHTS = {
    ("uniform", True): np.full([2, 3, 5], 0.2),
    ("laplace", True): softmax(-DISTANCE / 0.5),
    ("laplace", False): 1 + np.tanh(-DISTANCE / 0.5),
    ("dot_product", True): softmax(PRODUCT),
    ("dot_product", False): 1 / (1 + np.exp(-PRODUCT)),
}


@pytest.mark.parametrize(("kind", "normalise"), WEIGHTS)
def test_weighted_sums(kind, normalise):
    attention = ed.layers.Attention("identity", None, kind, 0.5, normalise)
    outputs = attention(KEYS, QUERIES, VALUES)
    np.testing.assert_allclose(outputs, WEIGHTS[kind, normalise] @ VALUES, atol=1e-5)


def test_one_head_is_attention_of_projections():
    attention = ed.layers.Attention("identity", None, "multihead", num_heads=1)
    outputs = attention(KEYS, QUERIES, VALUES)
    query, key, value, output = (x.numpy() for x in attention.heads.weights)
    scores = (QUERIES @ query[:, 0]) @ (KEYS @ key[:, 0]).transpose(0, 2, 1) / np.sqrt(6)
    expected = softmax(scores) @ (VALUES @ value[:, 0]) @ output[0]
    np.testing.assert_allclose(outputs, expected, rtol=1e-4, atol=1e-5)


def test_keys_and_queries_go_through_one_network():
    attention = ed.layers.Attention("mlp", [8, 3], "dot_product")
    outputs = attention(KEYS, QUERIES, VALUES)
    plain = ed.layers.Attention("identity", None, "dot_product")
    expected = plain(attention.network(KEYS), attention.network(QUERIES), VALUES)
    np.testing.assert_allclose(outputs, expected, rtol=1e-5)
    assert len(attention.trainable_weights) == 4


def test_errors_of_attention():
    with pytest.raises(ValueError, match="rep must be one of .* got 'cnn'"):
        ed.layers.Attention("cnn", None, "uniform")
    with pytest.raises(ValueError, match="att_type must be one of .* got 'cosine'"):
        ed.layers.Attention("identity", None, "cosine")
    with pytest.raises(ValueError, match="rep 'mlp' needs output_sizes, got None"):
        ed.layers.Attention("mlp", None, "uniform")


@pytest.mark.parametrize("scale", [0, -1.0])
def test_scale_that_is_not_above_zero_is_an_error(scale):
    with pytest.raises(ValueError, match=f"scale must be above 0, got {scale}"):
        ed.layers.Attention("identity", None, "laplace", scale=scale)


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

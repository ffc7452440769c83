import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

INPUTS = tf.random.stateless_normal([2, 5, 3], [0, 1])


def make(**options):
    options.setdefault("codebook_initializer", tf.keras.initializers.RandomNormal(seed=3))
    layer = ed.layers.VectorQuantizer(4, **options)
    layer.build([None, 5, 3])
    return layer


def distances(layer):
    return np.square(INPUTS.numpy()[..., np.newaxis, :] - layer.codebook.numpy()).sum(-1)


def test_output_is_the_nearest_code():
    layer = make()
    codes = layer.codebook.numpy()[distances(layer).argmin(-1)]
    np.testing.assert_allclose(layer(INPUTS), codes, atol=1e-6)


def test_gradient_of_the_output_goes_straight_to_the_input():
    layer = make()
    weights = tf.random.stateless_normal(INPUTS.shape, [0, 2])
    with tf.GradientTape() as tape:
        tape.watch(INPUTS)
        total = tf.reduce_sum(weights * layer(INPUTS))
    to_inputs, to_codebook = tape.gradient(total, [INPUTS, layer.codebook])
    np.testing.assert_array_equal(to_inputs, weights)
    assert to_codebook is None


def test_penalties_move_the_codes_to_the_inputs_and_the_inputs_to_the_codes():
    layer = make(commitment=0.5)
    with tf.GradientTape() as tape:
        tape.watch(INPUTS)
        layer(INPUTS)
        (loss,) = layer.losses
    to_inputs, to_codebook = tape.gradient(loss, [INPUTS, layer.codebook])
    squared, index = distances(layer).min(-1), distances(layer).argmin(-1)
    np.testing.assert_allclose(loss, 1.5 * squared.mean(), rtol=1e-5)
    difference = INPUTS.numpy() - layer.codebook.numpy()[index]
    np.testing.assert_allclose(to_inputs, 0.5 * 2 * difference / 10, rtol=1e-4, atol=1e-6)
    expected = np.zeros([4, 3])
    np.add.at(expected, index, -2 * difference / 10)
    to_codebook = tf.convert_to_tensor(to_codebook)
    np.testing.assert_allclose(to_codebook, expected, rtol=1e-4, atol=1e-6)


def test_random_codes_have_softmax_probabilities_of_distances():
    layer = make(stochastic=True, temperature=2.0)
    output = layer(INPUTS)
    logits = -distances(layer) / 2.0
    p = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    codebook = layer.codebook.numpy()
    np.testing.assert_allclose(output.entropy(), -(p * np.log(p)).sum(-1), rtol=1e-4)
    for code in range(4):
        np.testing.assert_allclose(output.prob(codebook[code]), p[..., code], rtol=1e-4)
    mean = p @ codebook
    np.testing.assert_allclose(output.mean(), mean, rtol=1e-4, atol=1e-5)
    variance = p @ codebook**2 - mean**2
    np.testing.assert_allclose(output.variance(), variance, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(output.mode(), codebook[p.argmax(-1)], rtol=1e-5)
    draws = output.distribution.sample(20_000, seed=[1, 2]).numpy()
    error = 5 * np.sqrt(variance / 20_000)
    assert np.all(abs(draws.mean(0) - mean) < error)
    assert np.all(abs(draws[:100, ..., np.newaxis, :] - codebook).sum(-1).min(-1) < 1e-5)
    assert layer.losses == []


def test_gradient_of_a_random_code_is_that_of_its_mean():
    layer = make(stochastic=True)
    gradients = []
    for read in (lambda rv: rv.mean(), lambda rv: rv.value):
        with tf.GradientTape() as tape:
            tape.watch(INPUTS)
            total = tf.reduce_sum(read(layer(INPUTS)))
        gradients += [tape.gradient(total, INPUTS)]
    np.testing.assert_allclose(*gradients, rtol=1e-4, atol=1e-6)


def test_sequential_encoder_has_penalties_and_entropy():
    for stochastic in (False, True):
        encoder = tf.keras.Sequential(
            [
                tf.keras.layers.Dense(4),
                tf.keras.layers.Flatten(),
                ed.layers.VectorQuantizer(8, stochastic=stochastic, name="latent_code"),
            ]
        )
        with tf.GradientTape() as tape:
            code = encoder(INPUTS)
            loss = tf.reduce_sum(tf.square(code))
            loss += (
                tf.reduce_sum(code.distribution.entropy())
                if stochastic
                else sum(encoder.losses)
            )
        gradients = tape.gradient(loss, encoder.trainable_variables)
        assert all(np.any(tf.convert_to_tensor(x) != 0) for x in gradients)


@pytest.mark.parametrize("suffix", [".keras", pytest.param("", marks=pytest.mark.slow)])
def test_saved_model_has_the_same_codes_and_penalties(suffix, tmp_path):
    inputs = tf.keras.Input([5, 3])
    model = tf.keras.Model(inputs, ed.layers.VectorQuantizer(4)(inputs))
    model.save(tmp_path / f"model{suffix}")
    other = tf.keras.models.load_model(tmp_path / f"model{suffix}")
    np.testing.assert_allclose(other(INPUTS), model(INPUTS), rtol=1e-5)
    np.testing.assert_allclose(other.losses, model.losses, rtol=1e-5)


def test_random_code_leaves_a_function_with_its_distribution():
    layer = make(stochastic=True)
    output = tf.function(lambda x: layer(x))(INPUTS)
    np.testing.assert_allclose(output.entropy(), layer(INPUTS).entropy(), rtol=1e-5)
    first = output.distribution[0]
    np.testing.assert_allclose(first.entropy(), output.entropy()[0], rtol=1e-5)


def test_random_codes_start_at_the_scale_of_the_temperature():
    tf.keras.utils.set_random_seed(1)
    layer = ed.layers.VectorQuantizer(512, stochastic=True, temperature=4.0)
    entropy = layer(tf.zeros([1, 16])).entropy()
    np.testing.assert_allclose(np.var(layer.codebook), 4.0, rtol=0.06)
    assert entropy < np.log(512) - 0.5


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="num_codes must be at least 1, got 0"):
        ed.layers.VectorQuantizer(0)
    with pytest.raises(ValueError, match="temperature must be above 0, got 0"):
        ed.layers.VectorQuantizer(4, temperature=0)


def test_variance_of_codes_far_from_zero():
    codebook = 1e4 + tf.constant([[0.0, 1.0], [2.0, 5.0]])
    layer = ed.layers.VectorQuantizer(
        2, stochastic=True, temperature=1e8, codebook_initializer=lambda *_, **__: codebook
    )
    code = layer(tf.reduce_mean(codebook, 0, keepdims=True))
    np.testing.assert_allclose(code.variance(), [[1.0, 4.0]], rtol=1e-3)


def test_empty_batch_costs_nothing():
    layer = make()
    assert layer(INPUTS[:0]).shape == [0, 5, 3]
    np.testing.assert_array_equal(layer.losses, [0.0])

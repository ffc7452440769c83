"""Tests of agents.planet.model.networks."""

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.model import networks

FEATURES = 9  # of the tiny model: latent_size + belief_size


@pytest.fixture(scope="module")
def settings(make_config):
    return make_config("world_model.image_depth=2").world_model


def image(size):
    return tf.TensorSpec([size, size, 3], tf.uint8)


@pytest.mark.parametrize("size", [64, 32])
def test_decoded_images_are_of_the_size_of_the_observed(size, settings):
    encoder = networks.make_encoder(image(size), settings)
    decoder = networks.make_decoder(image(size), settings)
    assert encoder(tf.zeros([2, size, size, 3])).shape.rank == 2
    assert decoder(tf.zeros([2, FEATURES])).shape == (2, size, size, 3)


def test_images_of_64_pixels_pass_the_published_layers(make_config):
    settings = make_config("world_model=paper").world_model
    encoder = networks.make_encoder(image(64), settings)
    decoder = networks.make_decoder(image(64), settings)
    assert encoder(tf.zeros([1, 64, 64, 3])).shape == (1, 1024)
    decoder(tf.zeros([1, 230]))
    shapes = [tuple(v.shape) for v in encoder.weights + decoder.weights if v.shape.rank > 1]
    assert shapes == [
        (4, 4, 3, 32),
        (4, 4, 32, 64),
        (4, 4, 64, 128),
        (4, 4, 128, 256),
        (230, 1024),
        (5, 5, 128, 1024),
        (5, 5, 64, 128),
        (6, 6, 32, 64),
        (6, 6, 3, 32),
    ]


def test_the_dense_layer_before_the_convolutions_is_linear(settings):
    decoder = networks.make_decoder(image(32), settings)
    decoder(tf.zeros([1, FEATURES]))
    dense, reshape, *convolutions = decoder.layers
    assert dense.activation is tf.keras.activations.linear
    assert reshape.target_shape == (1, 1, 64)
    names = [layer.activation.__name__ for layer in convolutions]
    assert names == ["relu", "relu", "linear"]


def test_vectors_pass_dense_layers(settings):
    spec = tf.TensorSpec([4], tf.float32)
    assert networks.make_encoder(spec, settings)(tf.zeros([2, 4])).shape == (2, 5)
    assert networks.make_decoder(spec, settings)(tf.zeros([2, FEATURES])).shape == (2, 4)


def test_means_are_not_bounded(settings):
    spec = tf.TensorSpec([4], tf.float32)
    inputs = tf.constant(np.random.default_rng(0).normal(size=[50, FEATURES]), tf.float32)
    for network in (
        networks.make_decoder(spec, settings),
        networks.make_head(settings, "reward"),
    ):
        outputs = network(100.0 * inputs).numpy()
        assert outputs.min() < -1
        assert outputs.max() > 1


@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16"])
@pytest.mark.parametrize("shape", [(5, 3), (2**14, 3), (2, 5, 3)])
def test_a_dense_layer_is_that_of_keras(shape, dtype, noise):
    keras = tf.keras.layers.Dense(4, "relu", dtype=dtype)
    keras.build([None, 3])
    ours = networks.Dense(4, "relu", dtype=dtype)
    ours.build([None, 3])
    ours.set_weights([noise(*x.shape) for x in keras.variables])
    keras.set_weights(ours.get_weights())
    inputs = noise(*shape)
    assert ours(inputs).dtype == keras(inputs).dtype
    tolerance = 0.0 if dtype == "float32" else 0.05
    np.testing.assert_allclose(
        *(tf.cast(x(inputs), float) for x in (ours, keras)), rtol=tolerance, atol=tolerance
    )


def test_the_reward_is_one_number(settings):
    head = networks.make_head(settings, "reward")
    assert head(tf.zeros([2, FEATURES])).shape == (2, 1)
    assert len(head.layers) == settings.reward_layers + 1


@pytest.mark.parametrize(
    ("shape", "dtype", "expected"),
    [
        ([64, 64, 3], tf.uint8, True),
        ([64, 64, 3], tf.float32, False),
        ([5], tf.uint8, False),
    ],
)
def test_images_are_bytes_with_channels(shape, dtype, expected):
    assert networks.is_image(tf.TensorSpec(shape, dtype)) == expected


def test_average_pool_undoes_enlarge():
    image = tf.random.stateless_uniform([2, 5, 4, 6, 3], [0, 1])
    larger = networks.enlarge(image, 2)
    assert larger.shape == [2, 5, 8, 12, 3]
    np.testing.assert_allclose(networks.average_pool(larger, 2), image, rtol=1e-6)


def test_dense_decoder_draws_images(make_config):
    settings = make_config("world_model.image_decoder=dense").world_model
    decoder = networks.make_decoder(image(32), settings)
    assert decoder(tf.zeros([7, 9])).shape == [7, 32, 32, 3]


def test_an_agent_has_the_sizes_of_its_task(build_agent):
    unset = [f"world_model.{name}=null" for name in ("belief_size", "latent_size")]
    rssm = build_agent(*unset).model.rssm
    assert (rssm.belief_size, rssm.latent_size) == (64, 16)

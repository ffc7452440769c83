import zlib

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed
from bayes_rl import parallel
from bayes_rl.numerics.noise import stateless_normal
from bayes_rl.weights import named_signs
from tests.bayes_rl.weights.models import make_model


def test_draw_is_normal_with_the_posterior_mean_and_stddev():
    model = make_model("first")
    draws = ed.sample_weights(model, [20_000], seed=(1, 2))["first/kernel"].numpy()
    posterior = ed.posteriors(model)["first/kernel"]
    mean, stddev = posterior.mean().numpy(), posterior.stddev().numpy()
    assert draws.shape == (20_000, 3, 3)
    assert np.all(abs(draws.mean(0) - mean) < 5 * stddev / np.sqrt(20_000))
    np.testing.assert_allclose(draws.std(0), stddev, rtol=0.03)


def test_same_seed_same_draw_in_eager_graph_and_xla():
    model = make_model()

    def draw(seed):
        return ed.sample_weights(model, [4], seed, batch_size=6)

    seed = tf.constant([3, 4])
    eager = draw(seed)
    for jit in (False, True):
        compiled = tf.function(draw, jit_compile=jit)(seed)
        assert compiled.keys() == eager.keys()
        for name, value in eager.items():
            np.testing.assert_allclose(compiled[name], value, atol=1e-5)
    assert np.any(eager["first/kernel"] != draw(tf.constant([3, 5]))["first/kernel"])


def test_signs_are_what_is_drawn_for_each_example():
    model = tf.keras.Sequential(
        [
            ed.layers.DenseFlipout(4, name="dense"),
            tf.keras.layers.Reshape([1, 4]),
            tf.keras.layers.RNN(ed.layers.GRUCellFlipout(2, name="cell")),
        ]
    )
    model.build([None, 3])
    shared, all_of_them = (
        ed.sample_weights(model, seed=1, batch_size=b) for b in (None, 5)
    )
    signs = named_signs(model)
    assert signs.keys() == all_of_them.keys() - shared.keys()
    assert len(signs) >= 4
    for name, (_, _, size) in signs.items():
        assert all_of_them[name].shape == [5, size]


@pytest.mark.parametrize(
    "seed", [(0, 7), 7, np.int64(7), np.array([0, 7]), tf.constant([0, 7], tf.int64)]
)
def test_seed_may_be_ints_or_a_tensor(seed):
    model = make_model()
    expected = ed.sample_weights(model, seed=tf.constant([0, 7]))
    for name, value in ed.sample_weights(model, seed=seed).items():
        np.testing.assert_array_equal(value, expected[name])


def test_no_seed_draws_anew_at_every_call_of_a_function():
    model = make_model()
    draw = tf.function(lambda: ed.sample_weights(model)["first/kernel"])
    assert np.all(draw() != draw())


def test_draw_of_a_layer_does_not_depend_on_other_layers():
    small, large = make_model("a", "b"), make_model("new", "a", "b")
    seed = (1, 2)
    noises = []
    for model in (small, large):
        draw, mean = ed.sample_weights(model, seed=seed), ed.mean_weights(model)
        stddev = ed.posteriors(model)["a/kernel"].stddev()
        noises.append((draw["a/kernel"] - mean["a/kernel"]) / stddev)
    np.testing.assert_allclose(*noises, atol=1e-5)


def test_layers_draw_different_noise():
    draws = ed.sample_weights(make_model(), seed=1)
    assert np.all(draws["first/kernel"] != draws["second/kernel"])


def test_two_weights_of_one_name_are_an_error():
    with pytest.raises(ValueError, match="two layers have a weight named 'dense/kernel'"):
        ed.sample_weights([make_model("dense"), make_model("dense")])


@pytest.mark.parametrize("seed", [(1, 2, 3), tf.constant([1.0, 2.0])])
def test_malformed_seed_is_an_error(seed):
    with pytest.raises(ValueError, match="seed must be two integers"):
        ed.sample_weights(make_model(), seed=seed)


@pytest.mark.parametrize("shape", [[-1], [0], [2.5], [float("inf")], [2, 3], None, "a"])
def test_a_number_of_draws_is_a_whole_number_above_zero(shape):
    with pytest.raises(ValueError, match=r"sample_shape must be \(\) or \[S\], got ."):
        ed.sample_weights(make_model(), shape)


@pytest.mark.parametrize("size", [-1, 0, 2.5, "a"])
def test_a_number_of_examples_is_a_whole_number_above_zero(size):
    with pytest.raises(ValueError, match="batch_size must be a whole number above 0, got"):
        ed.sample_weights(make_model(), batch_size=size)


def test_whole_numbers_may_be_floats():
    draws = ed.sample_weights(make_model(), [5.0], batch_size=2.0)
    assert draws["second/kernel/sign_input"].shape == [5, 2, 3]


def unnamed():
    """A model whose layers Keras names by counts of the process."""
    layers = [ed.layers.DenseFlipout(3), ed.layers.DenseReparameterization(3)]
    inner = tf.keras.Sequential([tf.keras.Input([3]), *layers, ed.layers.DenseFlipout(3)])
    cell = tf.keras.layers.Bidirectional(
        tf.keras.layers.RNN(ed.layers.LSTMCellFlipout(2), return_sequences=True)
    )
    model = tf.keras.Sequential([tf.keras.Input([4, 3]), ed.layers.DenseFlipout(3), cell])
    inputs = tf.keras.Input([4, 3])
    found = inner(model(inputs)[..., :3])
    for _ in range(2):  # whose names differ by those of the models that they are in
        within = tf.keras.Input([4, 3])
        hidden = ed.layers.DenseFlipout(3, name="hidden")
        found = tf.keras.Model(within, DenseV2Flipout(3)(hidden(within)))(found)
    return tf.keras.Model(inputs, found)


class DenseV2Flipout(ed.layers.DenseFlipout):
    """A name that Keras splits in its own way."""


@pytest.fixture(scope="module")
def twins():
    return unnamed(), unnamed()


@pytest.mark.parametrize("sample", [ed.sample_weights, parallel.sample_weights])
def test_a_model_that_is_made_twice_has_the_same_draws(sample, twins):
    first, second = (sample(model, seed=1, batch_size=5) for model in twins)
    assert not first.keys() & second.keys()  # they differ by their counts
    for one, other in zip(first.values(), second.values(), strict=True):
        np.testing.assert_array_equal(one.shape, other.shape)
        if one.shape[0] == 5 and len(one.shape) == 2:
            np.testing.assert_array_equal(one, other)
    noise = [np.ravel(x) for x in first.values() if np.all(np.abs(x) == 1.0)]
    of_one_size = [x for x in noise if len(x) == 15]
    assert len({x.tobytes() for x in of_one_size}) == len(of_one_size) > 4


def test_draws_of_names_that_are_given_are_those_of_before():
    model = make_model()
    found = ed.sample_weights(model, seed=1)["second/kernel"]
    label = zlib.crc32(b"second/kernel") & 0x7FFFFFFF
    seed = tf.random.experimental.stateless_fold_in([0, 1], label, alg="philox")
    posterior = ed.posteriors(model)["second/kernel"]
    noise = stateless_normal([3, 3], seed)
    expected = posterior.mean() + posterior.stddev() * noise
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_members_of_a_list_have_draws_of_their_own():
    members = [tf.keras.Sequential([ed.layers.DenseFlipout(3)]) for _ in range(2)]
    for member in members:
        member.build([None, 3])
    draws = list(ed.sample_weights(members, seed=1, batch_size=9).values())
    assert np.any(draws[-4] != draws[-2])

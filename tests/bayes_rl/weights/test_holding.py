import threading

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed
from bayes_rl.weights import named_signs


def make_model(*names):
    layers = [
        (ed.layers.DenseFlipout if index % 2 else ed.layers.DenseReparameterization)(
            3, activation="tanh", name=name
        )
        for index, name in enumerate(names or ("first", "second"))
    ]
    model = tf.keras.Sequential(layers)
    model.build([None, 3])
    return model


INPUTS = tf.random.stateless_normal([5, 3], [0, 1])


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


def test_held_model_is_deterministic_and_free_model_is_not():
    model = make_model()
    with ed.hold(model, ed.sample_weights(model, seed=1)):
        np.testing.assert_array_equal(model(INPUTS), model(INPUTS))
    assert np.any(model(INPUTS) != model(INPUTS))


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("loop", ["while_loop", "scan", "python"])
def test_held_draw_is_the_same_in_every_kind_of_loop(jit, loop):
    model = make_model()

    def rollout(inputs, weights):
        with ed.hold(model, weights):
            if loop == "while_loop":
                condition, body = (
                    lambda step, x: step < 3,
                    lambda step, x: (step + 1, model(x)),
                )
                return tf.while_loop(condition, body, (0, inputs))[1]
            if loop == "scan":
                return tf.scan(lambda x, _: model(x), tf.zeros([3]), inputs)[-1]
            return model(model(model(inputs)))

    weights = ed.sample_weights(model, seed=1)
    expected = INPUTS
    for _ in range(3):
        with ed.hold(model, weights):
            expected = model(expected)
    outputs = tf.function(rollout, jit_compile=jit)(INPUTS, weights)
    np.testing.assert_allclose(outputs, expected, atol=1e-5)


def test_innermost_hold_counts_and_the_outer_comes_back():
    model = make_model()
    first, second = (ed.sample_weights(model, seed=seed) for seed in (1, 2))
    with ed.hold(model, first):
        before = model(INPUTS)
        with ed.hold(model, second):
            inner = model(INPUTS)
        np.testing.assert_array_equal(model(INPUTS), before)
    with ed.hold(model, second):
        np.testing.assert_array_equal(model(INPUTS), inner)
    assert np.any(before != inner)


def test_signs_of_an_outer_hold_do_not_reach_an_inner_one():
    model = make_model()
    mean = ed.mean_weights(model)
    with ed.hold(model, mean):
        expected = model(INPUTS)
    with (
        ed.hold(model, ed.sample_weights(model, seed=1, batch_size=5)),
        ed.hold(model, mean),
    ):
        np.testing.assert_array_equal(model(INPUTS), expected)


def test_hold_reaches_only_its_model():
    model = make_model()
    clone = tf.keras.models.clone_model(model)
    with ed.hold(model, ed.mean_weights(model)):
        assert np.any(clone(INPUTS) != clone(INPUTS))


def test_hold_ends_with_an_exception():
    model = make_model()
    with pytest.raises(KeyError), ed.hold(model, ed.mean_weights(model)):
        raise KeyError
    assert np.any(model(INPUTS) != model(INPUTS))


def test_other_threads_do_not_see_the_hold():
    model, outputs = make_model(), []
    with ed.hold(model, ed.mean_weights(model)):
        thread = threading.Thread(
            target=lambda: outputs.extend([model(INPUTS), model(INPUTS)])
        )
        thread.start()
        thread.join()
    assert np.any(outputs[0] != outputs[1])


def test_hold_outside_of_the_function_that_calls_the_model_is_an_error():
    model = make_model()
    with (
        ed.hold(model, ed.mean_weights(model)),
        pytest.raises(RuntimeError, match="enter hold inside the function"),
    ):
        tf.function(model)(INPUTS)


@pytest.mark.parametrize("batch_size", [None, 5])
def test_gradients_through_held_draws_reach_means_and_stddevs(batch_size):
    model = make_model()

    @tf.function
    def gradients(seed):
        with tf.GradientTape() as tape:
            weights = ed.sample_weights(model, (), seed, batch_size)
            with ed.hold(model, weights):
                loss = tf.reduce_sum(tf.square(model(model(INPUTS))))
        return tape.gradient(loss, model.trainable_variables)

    for gradient in gradients(tf.constant([1, 2])):
        assert np.any(gradient.numpy() != 0.0)


def test_gradients_are_those_of_the_reparameterization():
    layer = ed.layers.DenseReparameterization(2, use_bias=False, name="dense")
    layer.build([None, 3])
    with tf.GradientTape() as tape:
        weights = ed.sample_weights(layer, seed=1)
        with ed.hold(layer, weights):
            loss = tf.reduce_sum(layer(INPUTS))
    posterior = layer.kernel_initializer
    for_mean, for_stddev = tape.gradient(loss, [posterior.mean, posterior.stddev])
    by_kernel = np.repeat(np.sum(INPUTS, 0)[:, None], 2, 1)
    noise = (weights["dense/kernel"] - posterior.mean) / layer.kernel.distribution.stddev()
    np.testing.assert_allclose(for_mean, by_kernel, rtol=1e-5)
    expected = by_kernel * noise * tf.sigmoid(posterior.stddev)
    np.testing.assert_allclose(for_stddev, expected, rtol=1e-4, atol=1e-5)


def test_kl_divergences_sum_to_the_losses():
    model = make_model()
    costs = ed.kl_divergences(model)
    assert costs.keys() == {"first/kernel", "second/kernel"}
    np.testing.assert_allclose(sum(costs.values()), sum(model.losses), rtol=1e-6)


def test_any_module_that_holds_layers_is_a_model():
    class Agent(tf.Module):
        def __init__(self):
            super().__init__()
            self.parts = {"model": make_model("a"), "shared": [make_model("b")]}
            self.again = self.parts["model"]

    assert ed.mean_weights(Agent()).keys() == {"a/kernel", "b/kernel"}


def test_two_weights_of_one_name_are_an_error():
    with pytest.raises(ValueError, match="two layers have a weight named 'dense/kernel'"):
        ed.sample_weights([make_model("dense"), make_model("dense")])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"first/kernl": 0.0}, "'first/kernl' is not .* did you mean 'first/kernel'"),
        ({"first/kernel": tf.zeros([2, 3])}, r"must have shape \(3, 3\), .* got \(2, 3\)"),
    ],
)
def test_wrong_weights_to_hold_are_an_error(change, message):
    model = make_model()
    with (
        pytest.raises(ValueError, match=message),
        ed.hold(model, {**ed.mean_weights(model), **change}),
    ):
        pass


def test_missing_weight_to_hold_is_an_error():
    with pytest.raises(ValueError, match="lack 'first/kernel'"), ed.hold(make_model(), {}):
        pass


@pytest.mark.parametrize("seed", [(1, 2, 3), tf.constant([1.0, 2.0])])
def test_malformed_seed_is_an_error(seed):
    with pytest.raises(ValueError, match="seed must be two integers"):
        ed.sample_weights(make_model(), seed=seed)


def test_two_sample_axes_are_an_error():
    with pytest.raises(ValueError, match=r"sample_shape must be \(\) or \[S\]"):
        ed.sample_weights(make_model(), [2, 3])


def test_model_of_another_kind_is_an_error():
    with pytest.raises(TypeError, match="model must be a tf.Module.*got str"):
        ed.mean_weights("model")


def test_weights_that_are_no_dict_or_misspelt_are_one_clear_line():
    model = make_model()
    message = "a dict of names, as from .*, got list"
    with pytest.raises(ValueError, match=message), ed.hold(model, [tf.zeros([3, 4])]):
        pass
    weights = ed.sample_weights(model, seed=1)
    weights["first/kernle"] = weights.pop("first/kernel")
    message = "'first/kernle' is not a .*; did you mean 'first/kernel'"
    with pytest.raises(ValueError, match=message), ed.hold(model, weights):
        pass


@pytest.mark.parametrize("shape", [[-1], [0], [2.5], [2, 3]])
def test_a_number_of_draws_is_a_whole_number_above_zero(shape):
    with pytest.raises(ValueError, match=r"sample_shape must be \(\) or \[S\], got \["):
        ed.sample_weights(make_model(), shape)

import asyncio
import threading

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed
from tests.bayes_rl.weights.models import make_model

INPUTS = tf.random.stateless_normal([5, 3], [0, 1])


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
    with (
        pytest.raises(ValueError, match="'first/kernel' is missing"),
        ed.hold(make_model(), {}),
    ):
        pass


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


def test_numbers_of_draws_that_differ_are_an_error():
    model = make_model()
    weights = ed.sample_weights(model, [5])
    weights["second/kernel"] = weights["second/kernel"][:3]
    message = "same number of draws, got 5 of 'first/kernel' and 3 of 'second/kernel'"
    with pytest.raises(ValueError, match=message), ed.hold(model, weights):
        pass


def episode(model, draw):
    """Outputs of each step under one draw."""
    with ed.hold(model, draw):
        for _ in range(3):
            yield model(INPUTS)


def test_generators_that_take_turns_act_by_their_own_draw():
    model = make_model()
    draws = [ed.sample_weights(model, seed=seed) for seed in (1, 2)]
    alone = [next(episode(model, draw)) for draw in draws]
    first, second = (episode(model, draw) for draw in draws)
    for _ in range(3):
        np.testing.assert_array_equal(next(first), alone[0])
        np.testing.assert_array_equal(next(second), alone[1])
        assert np.any(model(INPUTS) != model(INPUTS))  # what trains meanwhile draws


def test_tasks_act_by_their_own_draw():
    model = make_model()
    draws = [ed.sample_weights(model, seed=seed) for seed in (1, 2)]
    expected = [next(episode(model, draw)) for draw in draws]

    async def act(draw):
        with ed.hold(model, draw):
            await asyncio.sleep(0)
            return model(INPUTS)

    async def main():
        return await asyncio.gather(*map(act, draws))

    for found, alone in zip(asyncio.run(main()), expected, strict=True):
        np.testing.assert_array_equal(found, alone)


def test_a_dataset_of_a_generator_holds_in_all_threads():
    model = make_model()
    draws = [ed.sample_weights(model, seed=seed) for seed in (1, 2)]
    datasets = [
        tf.data.Dataset.from_generator(
            lambda draw=draw: episode(model, draw), output_signature=tf.TensorSpec([5, 3])
        )
        for draw in draws
    ]
    for pair in tf.data.Dataset.zip(tuple(datasets)):
        for found, draw in zip(pair, draws, strict=True):
            np.testing.assert_array_equal(found, next(episode(model, draw)))

import threading

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

INPUTS = tf.random.stateless_normal([5, 3], [0, 1])


def make_layer(layer_class=ed.layers.DenseReparameterization):
    layer = layer_class(2, use_bias=False, name="dense")
    layer.build([None, 3])
    return layer


def test_tape_keeps_the_order_and_leaves_out_the_unnamed():
    with ed.tape() as draws:
        ed.Normal(0.0, 1.0, name="b")
        ed.Normal(0.0, 1.0)
        ed.Bernoulli(0.5, name="a")
    assert list(draws) == ["b", "a"]


def test_inner_tape_and_outer_tape_both_record():
    with ed.tape() as outer, ed.tape() as inner:
        x = ed.Normal(0.0, 1.0, name="x")
    assert outer["x"] is x
    assert inner["x"] is x


def test_condition_reaches_the_tape_around_it():
    with ed.tape() as draws, ed.condition(x=3.0):
        x = ed.Normal(0.0, 1.0, name="x")
    assert float(x) == 3.0
    assert draws["x"].is_given


def test_condition_on_a_posterior_gives_the_divergence_of_a_program():
    mean = tf.Variable(1.0)
    with tf.GradientTape() as gradient:
        posterior = ed.Normal(mean, 1.0, name="posterior")
        with ed.tape() as draws, ed.condition(weight=posterior):
            weight = ed.Normal(0.0, 1.0, name="weight")
        kl = posterior.distribution.kl_divergence(draws["weight"].distribution)
        loss = kl + weight
    assert float(weight) == float(posterior)
    assert float(kl) == 0.5
    assert float(gradient.gradient(loss, mean)) == 2.0


def test_next_tracer_is_the_innermost_and_comes_back():
    def at_one(constructor, *args, **kwargs):
        return constructor(*args, **{**kwargs, "value": 1.0})

    with ed.trace(at_one):
        with ed.get_next_tracer() as tracer:
            assert tracer is at_one
            assert not ed.Normal(0.0, 1.0).is_given
        assert ed.Normal(0.0, 1.0).is_given
    with ed.get_next_tracer() as tracer:
        assert float(tracer(ed.Normal, 0.0, 1.0, value=2.0)) == 2.0


def test_tracers_of_other_threads_do_not_count():
    made = []
    with ed.condition(x=3.0):
        thread = threading.Thread(target=lambda: made.append(ed.Normal(0.0, 1.0, name="x")))
        thread.start()
        thread.join()
    assert not made[0].is_given


def test_tracers_end_with_an_exception():
    with pytest.raises(KeyError), ed.condition(x=3.0):
        raise KeyError
    assert not ed.Normal(0.0, 1.0, name="x").is_given


def test_tape_records_the_weights_a_layer_used():
    layer = make_layer()
    with ed.tape() as draws:
        outputs = layer(INPUTS)
    assert list(draws) == ["dense/kernel"]
    np.testing.assert_allclose(outputs, INPUTS @ draws["dense/kernel"], atol=1e-5)


@pytest.mark.parametrize("kind", ["DenseReparameterization", "DenseFlipout"])
def test_condition_sets_the_weights_of_a_layer(kind):
    layer, kernel = make_layer(getattr(ed.layers, kind)), tf.ones([3, 2])
    with ed.condition(**{"dense/kernel": kernel}):
        np.testing.assert_allclose(layer(INPUTS), INPUTS @ kernel, rtol=1e-5)


@pytest.mark.parametrize("sample_shape", [[], [4]])
def test_tape_records_held_weights(sample_shape):
    layer = make_layer()
    weights = ed.sample_weights(layer, sample_shape, seed=1)
    with ed.hold(layer, weights), ed.tape() as draws:
        layer(tf.ones([*sample_shape, 5, 3]))
    np.testing.assert_array_equal(draws["dense/kernel"], weights["dense/kernel"])
    assert draws["dense/kernel"].log_prob(weights["dense/kernel"]).shape == []


def test_flipout_under_a_tape_keeps_mean_and_variance():
    tf.keras.utils.set_random_seed(1)
    layer = make_layer(ed.layers.DenseFlipout)

    def call(_):
        with ed.tape():
            return layer(INPUTS)

    calls = tf.function(lambda: tf.map_fn(call, tf.zeros([4_000])), autograph=False)
    outputs = calls().numpy()
    variance = np.square(INPUTS) @ np.square(layer.kernel.stddev())
    assert abs(np.mean(outputs.var(0) / variance) - 1.0) < 0.08


def test_generators_that_take_turns_are_traced_by_their_own_tracer():
    def values(value):
        with ed.condition(x=value):
            for _ in range(2):
                yield float(ed.Normal(0.0, 1.0, name="x"))

    pairs = list(zip(values(1.0), values(2.0), strict=True))
    assert pairs == [(1.0, 2.0), (1.0, 2.0)]

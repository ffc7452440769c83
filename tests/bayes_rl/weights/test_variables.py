import threading

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed
from bayes_rl.weights.variables import named_variables, trainable_variables

keras = tf.keras.layers


def recurrent():
    return tf.keras.Sequential(
        [keras.Embedding(5, 4), keras.LSTM(3), keras.BatchNormalization(), keras.Dense(2)]
    ), tf.constant([[0, 1, 2], [3, 4, 0]])


def convolutional():
    inputs = tf.keras.Input([6, 6, 2])
    hidden = keras.BatchNormalization()(keras.Conv2D(3, 3, activation="relu")(inputs))
    outputs = keras.Dense(2)(keras.Flatten()(hidden))
    images = tf.random.stateless_normal([4, 6, 6, 2], [0, 1])
    return tf.keras.Model(inputs, outputs), images


def drawn(model, seed, shape=()):
    return {
        name: 0.3 + tf.random.stateless_normal([*shape, *x.shape], [seed, number]) ** 2
        for number, (name, x) in enumerate(named_variables(model).items())
    }


@pytest.fixture(params=[recurrent, convolutional])
def case(request):
    model, inputs = request.param()
    model(inputs)
    return model, inputs


def with_values(model, inputs, weights):
    kept = model.get_weights()
    for name, variable in named_variables(model).items():
        variable.assign(weights[name])
    outputs = model(inputs)
    model.set_weights(kept)
    return outputs.numpy()


def test_held_variables_are_used_and_keep_their_values(case):
    model, inputs = case
    weights, kept = drawn(model, 1), model.get_weights()
    expected = with_values(model, inputs, weights)

    @tf.function
    def traced(weights):
        with ed.hold(model, weights):
            return model(inputs)

    with ed.hold(model, weights):
        np.testing.assert_allclose(model(inputs), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(traced(weights), expected, rtol=1e-5, atol=1e-6)
    for one, other in zip(model.get_weights(), kept, strict=True):
        np.testing.assert_array_equal(one, other)


def test_gradients_flow_to_what_is_held(case):
    model, inputs = case
    weights = drawn(model, 1)
    names = list(trainable_variables(model))
    with tf.GradientTape() as tape, ed.hold(model, weights):
        tape.watch(list(weights.values()))
        loss = tf.reduce_sum(model(inputs) ** 2)
    found = tape.gradient(loss, weights)
    assert all(found[name] is not None for name in names)


def test_predict_goes_draw_by_draw(case):
    model, inputs = case
    draws = drawn(model, 1, [3])
    found = ed.predict(model, inputs, draws, batch_size=2)
    for s in range(3):
        expected = with_values(model, inputs, {k: x[s] for k, x in draws.items()})
        np.testing.assert_allclose(found[s], expected, rtol=1e-4, atol=1e-5)


def test_some_variables_can_be_held_and_the_innermost_counts():
    model, inputs = tf.keras.Sequential([keras.Dense(1, input_shape=[1])]), tf.ones([1, 1])
    model.layers[0].set_weights([np.full([1, 1], 2.0), np.ones([1])])
    name = f"{model.layers[0].name}/kernel"
    with ed.hold(model, {name: [[5.0]]}):
        with ed.hold(model, {name: [[7.0]]}):
            assert float(model(inputs)[0, 0]) == 8.0
        assert float(model(inputs)[0, 0]) == 6.0
    assert float(model(inputs)[0, 0]) == 3.0


def test_an_error_inside_ends_the_context():
    model, inputs = tf.keras.Sequential([keras.Dense(1, input_shape=[1])]), tf.ones([1, 1])
    before = model(inputs)
    with pytest.raises(ZeroDivisionError), ed.hold(model, drawn(model, 1)):
        raise ZeroDivisionError
    assert model(inputs) == before
    kinds = {type(variable) for variable in model.weights}
    assert kinds == {type(tf.Variable(0.0))}


def test_other_threads_do_not_see_what_is_held():
    model, inputs = tf.keras.Sequential([keras.Dense(1, input_shape=[1])]), tf.ones([1, 1])
    before, found = model(inputs), []
    with ed.hold(model, drawn(model, 1)):
        thread = threading.Thread(target=lambda: found.append(model(inputs)))
        thread.start()
        thread.join()
        assert model(inputs) != before
    assert found == [before]


def test_bayesian_and_other_layers_are_held_at_once():
    model = tf.keras.Sequential(
        [ed.layers.DenseReparameterization(2, input_shape=[3]), keras.Dense(1)]
    )
    weights = ed.sample_weights(model, seed=1)
    weights[f"{model.layers[1].name}/kernel"] = tf.zeros([2, 1])
    with ed.hold(model, weights):
        assert np.all(model(tf.ones([2, 3])) == 0.0)


def test_mixed_precision_holds_in_the_precision_of_variables():
    layer = keras.Dense(2, dtype="mixed_bfloat16")
    layer.build([None, 3])
    with ed.hold(layer, {f"{layer.name}/kernel": tf.ones([3, 2])}):
        outputs = layer(tf.ones([1, 3]))
    assert outputs.dtype == tf.bfloat16
    assert np.all(tf.cast(outputs, tf.float32) == 3.0)


def test_functions_of_keras_are_refused():
    model, inputs = convolutional()
    model.predict(inputs, verbose=0)
    with ed.hold(model, drawn(model, 1)), pytest.raises(RuntimeError, match="this draw"):
        model.predict(inputs, verbose=0)
    model.predict(inputs, verbose=0)


def test_unknown_names_and_wrong_shapes_are_errors():
    layer = keras.Dense(2, name="dense")
    layer.build([None, 3])
    unknown = "'dense/kernl' is not a variable of the model; did you mean 'dense/kernel'?"
    with pytest.raises(ValueError, match=unknown), ed.hold(layer, {"dense/kernl": 0}):
        pass
    wrong = r"'dense/bias' to hold must have shape \(2,\), got \(5, 2\)"
    with (
        pytest.raises(ValueError, match=wrong),
        ed.hold(layer, {"dense/bias": tf.zeros([5, 2])}),
    ):
        pass


def test_variables_of_a_name_are_numbered():
    class Pair(keras.Layer):
        def build(self, input_shape):
            self.first, self.second = tf.Variable(1.0), tf.Variable(2.0)

    layer = Pair(name="pair")
    layer.build(None)
    assert list(named_variables(layer)) == ["pair/Variable", "pair/Variable_1"]


def test_a_model_that_is_not_built_is_an_error():
    model = tf.keras.Sequential([keras.Dense(2)], name="net")
    with pytest.raises(ValueError, match="'net' must be built first"):
        named_variables(model)

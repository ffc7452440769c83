import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

INPUTS = tf.ones([5, 3])


def make_layer():
    layer = ed.layers.DenseFlipout(3, name="hidden")
    layer.build([None, 3])
    return layer


def compiled(layer):
    model = tf.keras.Sequential([layer])
    model.compile("sgd", "mse")
    return model


CALLS = {
    "predict": lambda model: model.predict(INPUTS, verbose=0),
    "evaluate": lambda model: model.evaluate(INPUTS, INPUTS, verbose=0),
    "fit": lambda model: model.fit(INPUTS, INPUTS, verbose=0),
}


@pytest.mark.parametrize(
    ("call", "is_traced"), [*((call, True) for call in CALLS), ("predict", False)]
)
def test_functions_of_keras_are_refused_where_draws_are_held(call, is_traced):
    layer, call = make_layer(), CALLS[call]
    model = compiled(layer)
    if is_traced:
        call(model)
    message = "'hidden' is traced in a tf.function, but its weights are held outside"
    with (
        ed.hold(layer, ed.mean_weights(layer)),
        pytest.raises(RuntimeError, match=message),
    ):
        call(model)
    call(model if is_traced else compiled(layer))  # afterwards it works


def test_functions_of_other_layers_and_that_hold_themselves_are_not_refused():
    layer, other = make_layer(), make_layer()
    function = tf.function(lambda: layer(INPUTS))

    @tf.function
    def holding(weights):
        with ed.hold(layer, weights):
            return layer(INPUTS)

    weights = ed.mean_weights(layer)
    free, held = function(), holding(weights)
    with ed.hold(other, ed.mean_weights(other)):
        assert np.any(function() != free)
    with ed.hold(layer, weights):
        np.testing.assert_array_equal(holding(weights), held)


def test_function_is_saved_and_loaded(tmp_path):
    module = tf.Module()
    module.layer = make_layer()
    layer = module.layer
    module.call = tf.function(lambda x: layer(x), input_signature=[tf.TensorSpec([5, 3])])
    module.call(INPUTS)
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    assert np.any(loaded.call(INPUTS) != loaded.call(INPUTS))

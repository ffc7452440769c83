import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed


def hold_nothing(model):
    with ed.hold(model, {}):
        pass


@pytest.mark.parametrize(
    "function",
    [ed.sample_weights, ed.mean_weights, ed.posterior_summary, ed.posteriors, hold_nothing],
)
def test_weights_of_a_model_that_is_not_built_are_an_error(function):
    layer = ed.layers.DenseFlipout(3, name="hidden")
    for model in (layer, tf.keras.Sequential([layer], name="classifier"), [layer]):
        name = "classifier" if isinstance(model, tf.keras.Model) else "hidden"
        with pytest.raises(ValueError, match=f"'{name}' must be built first: call it once"):
            function(model)


def test_model_may_be_used_by_other_methods_than_its_call():
    class Coder(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.encoder = ed.layers.DenseFlipout(3, name="encoder")

        def encode(self, inputs):
            return self.encoder(inputs)

    model = Coder()
    model.encode(np.ones([2, 3]))
    assert list(ed.sample_weights(model)) == ["encoder/kernel"]


def test_model_without_posteriors_has_no_weights():
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=[2])])
    assert ed.sample_weights(model) == {}


def two_sub_models():
    hidden = [ed.layers.DenseFlipout(3, name="hidden", input_shape=[3]) for _ in range(2)]
    names = "encoder", "decoder"
    return tf.keras.Sequential(
        [tf.keras.Sequential([layer], n) for layer, n in zip(hidden, names, strict=True)]
    )


def bidirectional():
    cell = ed.layers.LSTMCellReparameterization(3, name="cell")
    rnn = tf.keras.layers.RNN(cell, name="rnn")
    model = tf.keras.Sequential([tf.keras.layers.Bidirectional(rnn, name="both")])
    model.build([None, 4, 3])
    return model


class Pair(tf.Module):
    def __init__(self):
        super().__init__()
        self.models = two_sub_models().layers

    def __call__(self, inputs):
        return self.models[1](self.models[0](inputs))


PATHS = {
    two_sub_models: ["encoder/hidden/kernel", "decoder/hidden/kernel"],
    Pair: ["encoder/hidden/kernel", "decoder/hidden/kernel"],
    bidirectional: [
        f"{way}_rnn/cell/{kernel}"
        for way in ("forward", "backward")
        for kernel in ("kernel", "recurrent_kernel")
    ],
}


@pytest.mark.parametrize("make", PATHS)
def test_layers_of_one_name_are_told_apart_by_their_path(make):
    model = make()
    inputs = tf.ones([2, 4, 3] if make is bidirectional else [2, 3])
    draws = ed.sample_weights(model, seed=1)
    assert sorted(draws) == sorted(PATHS[make])
    with ed.hold(model, draws):
        np.testing.assert_array_equal(model(inputs), model(inputs))


def test_paths_stay_when_a_model_is_saved_and_loaded(tmp_path):
    model = two_sub_models()
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    inputs, draws = tf.ones([2, 3]), ed.sample_weights(model, seed=1)
    again = ed.sample_weights(loaded, seed=1)
    for name, draw in draws.items():
        np.testing.assert_array_equal(draw, again[name])
    with ed.hold(model, draws), ed.hold(loaded, draws):
        np.testing.assert_array_equal(model(inputs), loaded(inputs))


def test_names_that_are_clear_have_no_path():
    inner = tf.keras.Sequential([ed.layers.DenseFlipout(3, name="hidden")], "inner")
    model = tf.keras.Sequential([inner, ed.layers.DenseFlipout(3, name="last")])
    model.build([None, 3])
    assert list(ed.sample_weights(model)) == ["hidden/kernel", "last/kernel"]
    draws = ed.sample_weights(two_sub_models())
    draws["hidden/kernel"] = draws.pop("encoder/hidden/kernel")
    message = "'hidden/kernel' is not a .*; did you mean '.*coder/hidden/kernel'"
    with pytest.raises(ValueError, match=message), ed.hold(two_sub_models(), draws):
        pass

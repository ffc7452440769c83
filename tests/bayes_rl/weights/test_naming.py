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

import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import distributions as tfd

import bayes_rl as ed


def make():
    layer = ed.layers.DenseReparameterization(4, name="dense")
    return tf.keras.Sequential([tf.keras.Input([3]), layer]), layer


def test_regularizer_can_be_replaced():
    model, layer = make()
    (whole,) = model.losses
    layer.set_regularizer("kernel", ed.regularizers.NormalKLDivergence(scale_factor=0.5))
    np.testing.assert_allclose(model.losses, [0.5 * whole], rtol=1e-6)


@pytest.mark.parametrize("name", ["model.keras", "saved"])
def test_regularizer_can_be_taken_away(tmp_path, name):
    model, layer = make()
    layer.set_regularizer("kernel", None)
    assert layer.kernel_regularizer is None
    assert ed.kl_divergences(model) == {}
    model.save(tmp_path / name)
    for each in (model, tf.keras.models.load_model(tmp_path / name)):
        assert each.losses == []


@pytest.mark.parametrize("regularizer", [None, "normal_kl_divergence"])
def test_regularizer_that_is_not_there_cannot_be_replaced(regularizer):
    _, layer = make()
    layer.set_regularizer("kernel", None)
    with pytest.raises(ValueError, match="'dense/kernel' has no regularizer to replace"):
        layer.set_regularizer("kernel", regularizer)


MEAN = tf.random.stateless_normal([2, 6, 5], [0, 1])
RANDOM = {
    "elements": lambda: tfd.Normal(MEAN, 0.5),
    "diagonal": lambda: tfd.MultivariateNormalDiag(MEAN, 0.5 * tf.ones([5])),
    "covariance": lambda: tfd.MultivariateNormalTriL(MEAN, tf.linalg.eye(5) + 0.1),
    "event": lambda: tfd.Independent(tfd.Normal(MEAN, 0.5), 2),
}


@pytest.mark.parametrize("draws", [2, 3])
@pytest.mark.parametrize("kind", RANDOM)
def test_random_variables_keep_their_moments(kind, draws):
    inputs = ed.RandomVariable(RANDOM[kind]())
    layer = ed.layers.DenseDVI(3)
    layer(inputs)
    weights = ed.sample_weights(layer, [draws], seed=1)
    with ed.hold(layer, weights):
        together = layer(inputs)
    for draw in range(draws):
        with ed.hold(layer, {name: value[draw] for name, value in weights.items()}):
            alone = layer(inputs)
        for moment in ("mean", "covariance"):
            found, expected = (getattr(x, moment)() for x in (together, alone))
            np.testing.assert_allclose(found[draw], expected, rtol=1e-5, atol=1e-5)


def test_layers_that_take_a_value_take_one_for_all_draws():
    inputs = ed.RandomVariable(RANDOM["elements"]())
    layer = ed.layers.DenseReparameterization(3)
    layer(inputs)
    weights = ed.sample_weights(layer, [4], seed=1)
    with ed.hold(layer, weights):
        np.testing.assert_array_equal(layer(inputs), layer(inputs.value))

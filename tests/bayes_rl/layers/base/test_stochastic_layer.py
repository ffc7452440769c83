import numpy as np
import pytest
import tensorflow as tf

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

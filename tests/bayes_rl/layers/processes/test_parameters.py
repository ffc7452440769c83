import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

from bayes_rl.layers.processes import parameters

KINDS = {
    "number": 0.1,
    "array": np.array([0.1, 0.2]),
    "tensor": tf.constant([0.1, 0.2], tf.float64),
    "variable": tf.Variable([0.1, 0.2], trainable=False, name="given"),
    "transformed": tfp.util.TransformedVariable(
        0.3, tfp.bijectors.Softplus(low=0.1), name="scale"
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_configuration_makes_an_equal_parameter(kind):
    parameter = KINDS[kind]
    copy = parameters.from_config(parameters.to_config(parameter, "a layer"))
    ours, theirs = (parameters.value_of(x, tf.float64) for x in (parameter, copy))
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    variables = getattr(parameter, "trainable_variables", [])
    assert [v.name for v in getattr(copy, "trainable_variables", [])] == [
        v.name for v in variables
    ]
    assert getattr(copy, "trainable", None) == getattr(parameter, "trainable", None)


def test_numbers_keep_their_precision():
    assert float(parameters.value_of(0.1, tf.float64)) == 0.1


def test_what_has_no_plain_description_is_an_error():
    with pytest.raises(TypeError, match="'gp' cannot be saved, .* the parameter <function"):
        parameters.to_config(lambda x: x, "'gp'")
    chained = tfp.util.TransformedVariable(
        1.0, tfp.bijectors.Chain([tfp.bijectors.Exp(), tfp.bijectors.Shift(1.0)])
    )
    with pytest.raises(TypeError, match="'gp' cannot be saved with"):
        parameters.to_config(chained, "'gp'")


def test_products_of_kernels_of_tfp():
    kernels = tfp.math.psd_kernels
    product = kernels.Linear() * kernels.ExpSinSquared(period=tf.Variable(2.0))
    copy = parameters.from_config(parameters.to_config(product, "a layer"))
    inputs = tf.constant([[0.1], [0.5]])
    np.testing.assert_allclose(
        copy.matrix(inputs, inputs), product.matrix(inputs, inputs), rtol=1e-6
    )
    assert len(copy.trainable_variables) == 1


def test_what_is_trained_starts_above_zero():
    with pytest.raises(ValueError, match="bias must be above 0 to be trained, got 0.0"):
        parameters.positive(0.0, tf.float32, "bias")

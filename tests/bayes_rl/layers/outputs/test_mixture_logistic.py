import numpy as np
import pytest
import tensorflow as tf
from scipy import integrate

import bayes_rl as ed

INPUTS = tf.random.stateless_normal([5, 7], [0, 1])


@pytest.fixture(autouse=True)
def same_initial_values():
    tf.keras.utils.set_random_seed(0)


def density(layer, shape, value):
    outputs = (INPUTS @ layer.projection.kernel + layer.projection.bias).numpy()
    logits, loc, raw = np.split(outputs.reshape([*shape, -1]), 3, axis=-1)
    weights = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    scale = np.log1p(np.exp(raw))
    distance = np.exp(-(value - loc) / scale)
    return (weights * distance / (scale * (1 + distance) ** 2)).sum(-1)


@pytest.mark.parametrize(
    ("arguments", "options", "shape"),
    [
        ((3,), {"num_components": 4}, [5, 3]),
        ((4,), {"units": 3}, [5, 3]),
        ((4,), {}, [5]),
        ((), {"num_components": 4}, [5]),
    ],
)
def test_density_is_the_weighted_sum_of_logistic_densities(arguments, options, shape):
    layer = ed.layers.MixtureLogistic(*arguments, **options)
    output = layer(INPUTS)
    assert output.shape == layer.compute_output_shape(INPUTS.shape) == shape
    np.testing.assert_allclose(output.prob(0.3), density(layer, shape, 0.3), rtol=1e-4)


def test_density_integrates_to_one():
    output = ed.layers.MixtureLogistic(3, units=2)(INPUTS[:1])
    grid = tf.linspace(-60.0, 60.0, 20_001)[:, tf.newaxis, tf.newaxis]
    total = integrate.trapezoid(output.prob(grid), grid[:, 0, 0], axis=0)
    np.testing.assert_allclose(total, [[1.0, 1.0]], rtol=1e-4)


def test_edward2_order_of_arguments_and_the_older_name():
    layer = ed.layers.MixtureofLogistic(5, None, "non_neg", "exp")
    assert layer.num_components == 5
    assert isinstance(layer.scale_constraint, ed.constraints.Exp)
    copied = type(layer).from_config(layer.get_config())
    assert copied.num_components == 5
    assert copied.units is None


def test_no_components_are_an_error():
    with pytest.raises(ValueError, match="num_components must be at least 1, got 0"):
        ed.layers.MixtureLogistic(0)

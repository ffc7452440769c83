import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import distributions as tfd

import bayes_rl as ed

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

import copy

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

LAYERS = {
    "posterior": lambda: ed.layers.DenseReparameterization(4),
    "flipout": lambda: ed.layers.Conv1DFlipout(4, 1),
    "point": lambda: ed.layers.DenseReparameterization(4, kernel_initializer="ones"),
    "cell": lambda: ed.layers.GRUCellFlipout(4),
    "trained prior": lambda: ed.layers.DenseReparameterization(
        4, kernel_regularizer="trainable_normal_kl_divergence_stddev"
    ),
    "hierarchical": lambda: ed.layers.DenseHierarchical(
        4, local_scale_initializer="ones", local_scale_regularizer="l2"
    ),
}


@pytest.mark.parametrize("kind", LAYERS)
def test_costs_of_a_deep_copy_are_its_own(kind):
    layer = LAYERS[kind]()
    layer.build([2, 5, 3] if kind == "flipout" else [2, 3])
    twin = copy.deepcopy(layer)
    with tf.GradientTape(persistent=True) as tape:
        cost = sum(twin.losses)
    originals = tape.gradient(cost, layer.trainable_variables)
    assert all(gradient is None for gradient in originals)
    own = tape.gradient(cost, twin.trainable_variables)
    assert sum(gradient is not None for gradient in own) > 0
    for variable in twin.trainable_variables:
        variable.assign(variable + 1.0)
    assert np.all(sum(twin.losses) != cost)
    ed.scale_kl(twin, 0.0)
    assert float(sum(layer.losses)) > 0

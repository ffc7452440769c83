import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import distributions as tfd

import bayes_rl as ed

FLOWS = ["maf", "radial", "affine"]
POINTS = tf.random.stateless_normal([4, 3], [0, 1])


@pytest.fixture(autouse=True)
def same_initial_values():
    tf.keras.utils.set_random_seed(0)


def make(flow_type, dim=3, **options):
    layer = ed.layers.PosteriorNetworkLayer(2, flow_type, flow_depth=3, **options)
    layer.build([None, dim])
    for index, variable in enumerate(layer.trainable_variables):
        noise = 0.3 * tf.random.stateless_normal(variable.shape, [1, index])
        variable.assign_add(noise)
    return layer


@pytest.mark.parametrize("flow_type", FLOWS)
def test_concentrations_are_one_plus_counts_times_densities(flow_type):
    layer = make(flow_type, class_counts=[10, 300])
    base, log_det = layer.flows(tf.stack([POINTS, POINTS]))
    normal = tfd.MultivariateNormalDiag(tf.zeros(3))
    density = np.exp(normal.log_prob(base) + log_det).T
    np.testing.assert_allclose(layer(POINTS), 1 + density * [10, 300], rtol=1e-4)


@pytest.mark.parametrize("flow_type", FLOWS)
def test_log_determinants_are_those_of_the_jacobians(flow_type):
    flows = make(flow_type).flows
    for flow in range(2):
        with tf.GradientTape() as tape:
            tape.watch(POINTS)
            base, log_det = (x[flow] for x in flows(tf.stack([POINTS, POINTS])))
        jacobian = tape.batch_jacobian(base, POINTS)
        expected = np.linalg.slogdet(jacobian)[1]
        np.testing.assert_allclose(log_det, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("flow_type", FLOWS)
def test_density_of_every_class_integrates_to_one(flow_type):
    layer = make(flow_type, dim=2)
    axis = tf.linspace(-30.0, 30.0, 601)
    grid = tf.reshape(tf.stack(tf.meshgrid(axis, axis), -1), [-1, 2])
    density = tf.reduce_sum(layer(grid) - 1, axis=0) * (60 / 600) ** 2
    np.testing.assert_allclose(density, [1.0, 1.0], rtol=0.01)


def test_masked_flow_is_autoregressive_after_any_assignment():
    flows = make("maf").flows
    for order, step in [(np.triu, 0), (np.tril, 1)]:
        with tf.GradientTape() as tape:
            tape.watch(POINTS)
            outputs = flows._network(tf.stack([POINTS, POINTS]), step)[0]
        jacobian = tape.batch_jacobian(outputs, POINTS).numpy()
        for part in (jacobian[:, :3], jacobian[:, 3:]):
            np.testing.assert_array_equal(order(part), np.zeros_like(part))
            assert np.any(part != 0)


def test_far_from_the_data_there_is_no_evidence():
    concentration = ed.layers.PosteriorNetworkLayer(3)(tf.fill([1, 2], 50.0))
    np.testing.assert_allclose(concentration, np.ones([1, 3]), rtol=1e-5)


def test_evidence_stays_finite_however_dense_the_data():
    layer = ed.layers.PosteriorNetworkLayer(2, "affine", flow_depth=1)
    layer.build([None, 30])
    layer.flows.matrix.assign_add(
        tf.tile(10.0 * tf.eye(30)[tf.newaxis, tf.newaxis], [2, 1, 1, 1])
    )
    layer.flows.shift.assign(tf.zeros_like(layer.flows.shift))
    concentration = layer(tf.zeros([1, 30]))
    assert np.all(np.isfinite(tf.math.digamma(concentration)))


def test_bad_arguments_are_named():
    make_layer = ed.layers.PosteriorNetworkLayer
    with pytest.raises(ValueError, match="one of 'affine', 'maf', 'radial', got 'planar'"):
        make_layer(3, "planar")
    with pytest.raises(ValueError, match="num_classes must be at least 2 .* got 1 and 8"):
        make_layer(1)
    with pytest.raises(ValueError, match="class_counts must be 3 numbers above 0, got"):
        make_layer(3, class_counts=[1, 2])

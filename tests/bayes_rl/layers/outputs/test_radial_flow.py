import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
from tensorflow_probability import distributions as tfd

import bayes_rl as ed

POINTS = tf.random.stateless_normal([7, 3], [0, 1])


def make(alpha=0.3, beta=1.5, dim=3):
    return ed.layers.ReversedRadialFlow(dim, [0.2] * dim, alpha, beta)


def test_inverse_is_the_radial_flow():
    alpha, excess = np.log1p(np.exp([0.3, 1.5]))
    beta = excess - alpha
    offset = POINTS.numpy() - 0.2
    distance = np.linalg.norm(offset, axis=-1, keepdims=True)
    expected = POINTS + beta / (alpha + distance) * offset
    np.testing.assert_allclose(make().inverse(POINTS), expected, rtol=1e-5, atol=1e-6)


def test_forward_undoes_the_inverse_for_pulling_and_pushing_flows():
    far = tf.concat([POINTS, 100 * POINTS, [[0.2, 0.2, 0.2]]], 0)
    for beta in (-3.0, 0.0, 4.0):
        flow = make(beta=beta)
        # Copies keep the bijector's cache from answering.
        back = flow.forward(tf.identity(flow.inverse(far)))
        np.testing.assert_allclose(back, far, rtol=1e-4, atol=1e-4)


def test_log_determinant_is_that_of_the_jacobian():
    flow = make()
    with tf.GradientTape() as tape:
        tape.watch(POINTS)
        outputs = flow.inverse(POINTS)
    jacobian = tape.batch_jacobian(outputs, POINTS)
    expected = np.linalg.slogdet(jacobian)[1]
    found = flow.inverse_log_det_jacobian(POINTS, event_ndims=1)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_density_of_a_chain_integrates_to_one_and_trains():
    chain = tfp.bijectors.Chain([make(beta=b, dim=2) for b in (-2.0, 3.0)])
    base = tfd.MultivariateNormalDiag(tf.zeros(2))
    flow = tfd.TransformedDistribution(base, chain)
    axis = tf.linspace(-12.0, 12.0, 301)
    grid = tf.stack(tf.meshgrid(axis, axis), -1)
    total = np.sum(flow.prob(grid)) * float(axis[1] - axis[0]) ** 2
    np.testing.assert_allclose(total, 1.0, rtol=1e-3)
    assert len(flow.trainable_variables) == 6
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(flow.log_prob(POINTS[:, :2]))
    assert all(x is not None for x in tape.gradient(loss, flow.trainable_variables))

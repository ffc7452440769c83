import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp
from tensorflow_probability import distributions as tfd

import bayes_rl as ed


def weight_at(mean, scale):
    initializer = ed.initializers.get("trainable_multivariate_normal")
    initializer.build(mean.shape)
    initializer.stddev_constraint = None
    packed = np.stack([packed_triangle(matrix) for matrix in scale])
    initializer.set_weights([mean, packed])
    return initializer


def packed_triangle(matrix):
    return tfp.math.fill_triangular_inverse(matrix).numpy()


def test_cost_is_the_kl_of_two_multivariate_normals():
    generator = np.random.default_rng(0)
    mean = generator.normal(size=[4, 3]).astype("float32")
    scale = np.tril(generator.uniform(0.5, 1.0, size=[3, 4, 4])).astype("float32")
    weight = weight_at(mean, scale)([4, 3])
    np.testing.assert_allclose(weight.covariance(), scale @ scale.transpose(0, 2, 1), 1e-5)
    posterior = tfd.MultivariateNormalTriL(mean.T, scale_tril=scale)
    prior = tfd.MultivariateNormalDiag(np.zeros([3, 4], "float32"), np.full([4], 0.5, "f"))
    cost = ed.regularizers.NormalKLDivergence(stddev=0.5)(weight)
    expected = tf.reduce_sum(tfd.kl_divergence(posterior, prior))
    np.testing.assert_allclose(cost, expected, rtol=1e-5)


def test_starts_diagonal_where_trainable_normal_starts():
    full = ed.initializers.TrainableMultivariateNormal(seed=1)([4, 3])
    mean_field = ed.initializers.TrainableNormal(seed=1)([4, 3])
    spread = np.log(full.stddev() / np.log1p(np.exp(-3)))
    assert np.all(abs(spread) < 0.3)
    off_diagonal = full.covariance() - tf.linalg.diag(
        tf.linalg.diag_part(full.covariance())
    )
    assert np.all(off_diagonal == 0.0)
    assert full.shape == mean_field.shape


def test_is_a_posterior_of_a_layer():
    layer = ed.layers.DenseReparameterization(
        2, kernel_initializer="trainable_multivariate_normal", name="dense"
    )
    layer.build([None, 3])
    weights = ed.sample_weights(layer, [5], seed=1)
    assert weights["dense/kernel"].shape == [5, 3, 2]
    again = ed.sample_weights(layer, [5], seed=1)
    np.testing.assert_array_equal(weights["dense/kernel"], again["dense/kernel"])


def test_weight_that_is_no_matrix_is_an_error():
    with pytest.raises(ValueError, match=r"weights \[rows, columns\], got \(3,\)"):
        ed.initializers.TrainableMultivariateNormal()([3])

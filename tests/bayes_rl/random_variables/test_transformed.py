import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp
from tensorflow_probability import distributions as tfd

import bayes_rl as ed
from bayes_rl.layers.reversible.base import ElementwiseAffine, ReversibleLayer

SCALE, SHIFT = tf.constant([-2.0, 3.0]), tf.constant([1.0, -1.0])
MATRIX = tf.constant([[2.0, 0.0], [1.0, -0.7]])


class Affine(ElementwiseAffine, tf.keras.layers.Layer):
    def call(self, inputs):
        return SCALE * inputs + SHIFT

    def reverse(self, outputs):
        return (outputs - SHIFT) / SCALE

    def log_det_jacobian(self, outputs):
        return tf.zeros_like(outputs) - tf.math.log(tf.abs(SCALE))


class Mix(ReversibleLayer, tf.keras.layers.Layer):
    """A linear map of the last axis."""

    event_ndims = 1

    def call(self, inputs):
        return tf.linalg.matvec(MATRIX, inputs)

    def reverse(self, outputs):
        return tf.linalg.matvec(tf.linalg.inv(MATRIX), outputs)

    def log_det_jacobian(self, outputs):
        change = -tf.math.log(tf.abs(tf.linalg.det(MATRIX)))
        return tf.fill(tf.shape(outputs)[:-1], change)


class Exp(ReversibleLayer, tf.keras.layers.Layer):
    def build(self, input_shape):
        self.rate = self.add_weight("rate", [], initializer="ones")

    def call(self, inputs):
        return tf.exp(self.rate * inputs)

    def reverse(self, outputs):
        return tf.math.log(outputs) / self.rate

    def log_det_jacobian(self, outputs):
        return -tf.math.log(outputs * self.rate)


def oracle(base):
    """TFP's distribution after Affine, Mix and Affine."""
    affine = tfp.bijectors.Shift(SHIFT)(tfp.bijectors.Scale(SCALE))
    mix = tfp.bijectors.ScaleMatvecTriL(MATRIX)
    return tfd.TransformedDistribution(base, affine(mix(affine)))


@pytest.fixture(scope="module")
def flow():
    return tf.keras.Sequential([Affine(), Mix(), Affine()])


def test_log_density_through_sequential_is_that_of_tfp(flow):
    y = flow(ed.Normal(tf.zeros([5, 2]), 2.0))
    points = tf.random.stateless_normal([5, 2], [0, 1])
    expected = oracle(tfd.MultivariateNormalDiag(scale_diag=[2.0, 2.0])).log_prob(points)
    np.testing.assert_allclose(y.log_prob(points), expected, rtol=1e-5)
    assert (y.distribution.batch_shape, y.distribution.event_shape) == ([5], [2])


def test_density_integrates_to_one(flow):
    y = flow(ed.MultivariateNormalDiag([0.0, 0.0], [0.5, 0.5]))
    grid = np.linspace(-25.0, 25.0, 501, dtype=np.float32)
    points = np.stack(np.meshgrid(grid, grid), -1)
    integral = np.sum(y.prob(points)) * (grid[1] - grid[0]) ** 2
    np.testing.assert_allclose(integral, 1.0, rtol=1e-3)


def test_elementwise_layer_sums_over_the_event_of_its_input():
    base = tfd.MultivariateNormalDiag([1.0, 2.0], [1.0, 3.0])
    y = Affine()(ed.RandomVariable(base))
    point = tf.constant([0.5, 0.2])
    expected = tfd.MultivariateNormalDiag([-1.0, 5.0], [2.0, 9.0])
    np.testing.assert_allclose(y.log_prob(point), expected.log_prob(point), rtol=1e-6)
    np.testing.assert_allclose(y.entropy(), expected.entropy(), rtol=1e-6)


class MixAlike(Mix):
    """Its log determinant is that of any one vector: []."""

    def log_det_jacobian(self, outputs):
        return -tf.linalg.slogdet(MATRIX).log_abs_determinant


class Double(Affine):
    """Its log determinant is that of any one element: []."""

    def call(self, inputs):
        return 2.0 * inputs

    def reverse(self, outputs):
        return outputs / 2.0

    def log_det_jacobian(self, outputs):
        return -tf.math.log(2.0)


@pytest.mark.parametrize(
    ("layer", "bijector"),
    [(MixAlike, tfp.bijectors.ScaleMatvecTriL(MATRIX)), (Double, tfp.bijectors.Scale(2.0))],
)
def test_scalar_log_determinant_counts_once_for_each_vector(layer, bijector):
    base = tfd.Independent(tfd.Normal(tf.zeros([3, 5, 2]), 1.0), 2)
    y = layer()(ed.RandomVariable(base))
    expected = tfd.TransformedDistribution(base, bijector)
    points = tf.random.stateless_normal([4, 3, 5, 2], [0, 1])
    np.testing.assert_allclose(y.log_prob(points), expected.log_prob(points), rtol=1e-5)


def test_entropy_counts_a_scalar_log_determinant_for_each_element():
    y = Double()(ed.RandomVariable(tfd.MultivariateNormalDiag(tf.zeros([3, 4]))))
    expected = tfd.MultivariateNormalDiag(tf.zeros([3, 4]), tf.fill([4], 2.0)).entropy()
    np.testing.assert_allclose(y.entropy(), expected, rtol=1e-6)


def test_sample_shape_becomes_the_event_where_the_layer_mixes_it():
    y = Mix()(ed.Normal(0.0, 1.0, sample_shape=[7, 2]))
    assert (y.sample_shape, y.distribution.event_shape, y.shape) == ([7], [2], [7, 2])
    covariance = tf.matmul(MATRIX, MATRIX, transpose_b=True)
    expected = tfd.MultivariateNormalFullCovariance([0.0, 0.0], covariance).log_prob(y)
    np.testing.assert_allclose(y.log_prob(y), expected, rtol=1e-4)


def test_value_is_the_output_for_the_value_of_the_input(flow):
    x = ed.Normal(tf.zeros([5, 2]), 1.0)
    y = flow(x)
    np.testing.assert_array_equal(y, flow(x.value))
    np.testing.assert_allclose(
        flow.layers[-1].reverse(y), flow.layers[1](flow.layers[0](x.value)), atol=1e-5
    )


def test_samples_have_the_moments_of_the_distribution():
    y = Affine()(ed.Normal([1.0, 2.0], [1.0, 3.0]))
    np.testing.assert_allclose(y.mean(), [-1.0, 5.0])
    np.testing.assert_allclose(y.mode(), [-1.0, 5.0])
    np.testing.assert_allclose(y.stddev(), [2.0, 9.0])
    samples = y.sample(40_000, seed=(1, 2))
    error = 5 * y.stddev() / 200
    assert np.all(np.abs(np.mean(samples, 0) - y.mean()) < error)


def test_distribution_function_of_falling_and_rising_layers():
    y, expected = Affine()(ed.Normal([1.0, 1.0], 1.0)), tfd.Normal([-1.0, 2.0], [2.0, 3.0])
    points = tf.constant([-2.0, 3.0])
    np.testing.assert_allclose(y.cdf(points), expected.cdf(points), rtol=1e-5)
    np.testing.assert_allclose(
        y.survival_function(points), expected.survival_function(points), rtol=1e-5
    )
    np.testing.assert_allclose(y.quantile(0.2), expected.quantile(0.2), rtol=1e-5)


def test_layer_is_built_by_its_first_random_variable_and_learns():
    layer = Exp()
    x = tfd.LogNormal(0.0, 2.0).quantile(np.linspace(0.01, 0.99, 200, dtype=np.float32))

    def slope():
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(layer(ed.Normal(0.0, 1.0)).log_prob(x))
        return float(tape.gradient(loss, layer.rate))

    assert slope() < -0.1
    # The maximum of the likelihood is at the stddev of log x.
    layer.rate.assign(np.std(np.log(x)))
    np.testing.assert_allclose(slope(), 0.0, atol=1e-5)


def test_log_normal_has_no_mean_unless_the_layer_knows_it():
    y = Exp()(ed.Normal(0.0, 1.0))
    with pytest.raises(NotImplementedError, match="has no output_mean"):
        y.mean()
    with pytest.raises(NotImplementedError, match="Jacobian is not constant"):
        y.entropy()


def test_divergence_within_one_layer_is_that_of_its_inputs():
    layer, other = Affine(), Affine()
    x, y = ed.Normal([0.0, 0.0], 1.0), ed.Normal([1.0, 2.0], 1.0)
    np.testing.assert_allclose(layer(x).kl_divergence(layer(y)), [0.5, 2.0])
    with pytest.raises(NotImplementedError, match="one and the same layer"):
        layer(x).kl_divergence(other(y))


def test_tracers_see_named_variables_only():
    with ed.tape() as draws, ed.condition(y=[1.0, 2.0]):
        x = ed.Normal([0.0, 0.0], 1.0, name="x")
        y = ed.TransformedRandomVariable(x, Affine(), name="y")
        Affine()(x)
    assert list(draws) == ["x", "y"]
    np.testing.assert_array_equal(y, [1.0, 2.0])
    assert y.is_given


def test_draws_of_their_own():
    x = ed.Normal([0.0, 0.0], 1.0)
    assert ed.TransformedRandomVariable(x, Affine(), sample_shape=4).shape == [4, 2]


def test_wrong_shapes_are_errors():
    class Scalar(Mix):
        event_ndims = 0

    with pytest.raises(ValueError, match="mixes the last 1 axes"):
        Mix()(ed.Normal(0.0, 1.0))
    with pytest.raises(ValueError, match="rank 2 .* got rank 1; set event_ndims"):
        Scalar()(ed.Normal(tf.zeros([3, 2]), 1.0)).log_prob(tf.zeros([3, 2]))


def test_layer_without_an_inverse_says_so():
    class Square(ReversibleLayer, tf.keras.layers.Layer):
        def call(self, inputs):
            return tf.square(inputs)

    y = Square(name="square")(ed.Normal(0.0, 1.0))
    assert float(y) >= 0.0
    with pytest.raises(NotImplementedError, match="'square' has no"):
        y.log_prob(1.0)

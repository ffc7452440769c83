import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

import bayes_rl as ed
from bayes_rl.layers.processes import covariances

FIRST = np.random.default_rng(0).normal(size=[5, 3])
SECOND = np.random.default_rng(1).normal(size=[4, 3])
kernels = tfp.math.psd_kernels


def at(covariance):
    return covariance(tf.constant(FIRST), tf.constant(SECOND)).numpy()


def copied(layer):
    return type(layer).from_config(layer.get_config())


@pytest.mark.parametrize("lengthscale", [0.7, [0.5, 1.0, 2.0]])
def test_exponentiated_quadratic(lengthscale):
    covariance = ed.layers.ExponentiatedQuadratic(2.0, lengthscale)
    distance = (FIRST[:, None] - SECOND[None]) / np.asarray(lengthscale)
    np.testing.assert_allclose(
        at(covariance), 2.0 * np.exp(-0.5 * np.sum(distance**2, -1)), rtol=1e-10
    )


@pytest.mark.parametrize("trained", [False, True])
@pytest.mark.parametrize("lengthscale", [[1.0, 1.0], [1.0] * 4, [[1.0, 1.0, 1.0]]])
def test_lengthscales_for_other_features_are_an_error(lengthscale, trained):
    covariance = ed.layers.ExponentiatedQuadratic(1.0, lengthscale, trained)
    shape = str(np.shape(lengthscale)).replace("(", r"\(").replace(")", r"\)")
    with pytest.raises(ValueError, match=rf"shape \(\) or \(3,\), .*, got {shape}"):
        at(covariance)


def test_lengthscales_do_not_make_features():
    covariance = ed.layers.ExponentiatedQuadratic(1.0, [1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match=r"shape \(\) or \(1,\), .* got \(3,\)"):
        covariance(tf.zeros([1, 1]), tf.ones([1, 1]))


def test_linear_kernel_on_features():
    covariance = ed.layers.LinearKernel(2.0, 0.5, encoder=tf.math.sin)
    np.testing.assert_allclose(
        at(covariance), 2.0 * np.sin(FIRST) @ np.sin(SECOND).T + 0.5, rtol=1e-10
    )


def test_covariances_of_batches_of_inputs():
    covariance = ed.layers.ExponentiatedQuadratic(2.0, 0.7)
    together = covariance(tf.constant(np.stack([FIRST, 2 * FIRST])), tf.constant(SECOND))
    assert together.shape == [2, 5, 4]
    np.testing.assert_allclose(together[0], at(covariance))


CASES = {
    "numbers": lambda: ed.layers.ExponentiatedQuadratic(2.0, [1.0, 2.0, 3.0]),
    "trained": lambda: ed.layers.LinearKernel(2.0, 0.5, trainable_parameters=True),
    "variables": lambda: ed.layers.ExponentiatedQuadratic(tf.Variable(2.0), 3.0),
    "encoder": lambda: ed.layers.LinearKernel(
        1.0, 0.0, encoder=tf.keras.layers.Dense(2, "tanh", kernel_initializer="ones")
    ),
    "matern": lambda: covariances.get(kernels.MaternFiveHalves(length_scale=2.0)),
    "sum": lambda: covariances.get(
        kernels.RationalQuadratic(
            tfp.util.TransformedVariable(2.0, tfp.bijectors.Softplus())
        )
        + kernels.Linear(bias_amplitude=tf.Variable(0.3)) * kernels.MaternOneHalf()
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_configuration_makes_an_equal_covariance_with_its_own_variables(name):
    covariance = CASES[name]()
    expected = at(covariance)
    copy = copied(covariance)
    np.testing.assert_allclose(at(copy), expected, rtol=1e-6)
    assert len(copy.trainable_weights) == len(covariance.trainable_weights)
    assert not {id(v) for v in copy.weights} & {id(v) for v in covariance.weights}
    if name != "encoder":  # Keras adds how a layer was built to its configuration.
        assert copy.get_config() == covariance.get_config()


@pytest.mark.parametrize(
    ("name", "count"),
    [("numbers", 0), ("trained", 2), ("variables", 1), ("encoder", 2), ("sum", 2)],
)
def test_gradients_reach_every_tracked_variable(name, count):
    covariance = CASES[name]()
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(covariance(tf.constant(FIRST), tf.constant(SECOND)))
    assert len(covariance.trainable_weights) == count
    gradients = tape.gradient(total, covariance.trainable_weights)
    assert all(gradient is not None for gradient in gradients)


def test_trained_parameters_start_where_given_and_stay_positive():
    covariance = ed.layers.ExponentiatedQuadratic(2.0, 0.5, trainable_parameters=True)
    np.testing.assert_allclose(covariance.variance, 2.0, rtol=1e-6)
    for variable in covariance.trainable_weights:
        variable.assign(-5.0 * tf.ones_like(variable))
    assert 0.0 < float(tf.convert_to_tensor(covariance.lengthscale)) < 0.01
    assert [v.name for v in covariance.weights] == ["variance:0", "lengthscale:0"]


def test_function_and_its_variables():
    class Cosine(tf.Module):
        def __init__(self):
            self.period = tf.Variable(2.0)

        def __call__(self, x1, x2):
            return tf.cos((x1 - tf.transpose(x2)) / self.period)

    covariance = covariances.get(Cosine())
    values = covariance(tf.constant(FIRST[:, :1]), tf.constant(SECOND[:, :1]))
    assert values.dtype == tf.float64
    np.testing.assert_allclose(
        values, np.cos((FIRST[:, :1] - SECOND[:, :1].T) / 2), rtol=1e-5
    )
    assert len(covariance.trainable_weights) == 1


def test_kernels_that_compute_in_float32_need_more_jitter():
    single = covariances.get(kernels.MaternOneHalf(tf.constant(1.0)))
    double = covariances.get(kernels.MaternOneHalf(tf.constant(1.0, tf.float64)))
    assert (single.jitter, double.jitter) == (1e-6, 1e-8)


def test_errors():
    with pytest.raises(ValueError, match="lengthscale must be above 0, got -1.0"):
        ed.layers.ExponentiatedQuadratic(1.0, -1.0)
    with pytest.raises(ValueError, match="lengthscale must be above 0, got 0.0"):
        ed.layers.ExponentiatedQuadratic(1.0, 0.0)
    with pytest.raises(TypeError, match="covariance_fn must be .* got 3"):
        ed.layers.GaussianProcess(1, covariance_fn=3)
    warped = kernels.FeatureTransformed(kernels.MaternOneHalf(), lambda x, *_: x)
    with pytest.raises(TypeError, match="FeatureTransformed cannot be saved, because"):
        covariances.get(warped).get_config()


def test_zeros_have_the_shape_without_features():
    outputs = ed.layers.Zeros()(tf.ones([4, 2, 3], tf.float64))
    assert outputs.dtype == tf.float64
    np.testing.assert_array_equal(outputs, np.zeros([4, 2]))


def test_keras_layer_is_a_mean_function_for_each_unit():
    mean = tf.keras.layers.Dense(2, bias_initializer="ones")
    layer = ed.layers.GaussianProcess(2, mean_fn=mean)
    inputs = tf.constant([[1.0], [2.0]])
    np.testing.assert_allclose(layer(inputs).mean(), mean(inputs), rtol=1e-6)
    assert len(layer.trainable_weights) == 2
    copy = ed.layers.GaussianProcess.from_config(layer.get_config())
    copy(inputs)
    copy.set_weights(layer.get_weights())
    np.testing.assert_allclose(copy(inputs).mean(), mean(inputs), rtol=1e-6)


SCALES = {
    "list": lambda scale: list(scale),
    "array": lambda scale: np.float64(scale),
    "tensor": lambda scale: tf.constant(scale, tf.float32),
    "variable": lambda scale: tf.Variable(scale, dtype=tf.float32),
    "trained": lambda scale: tfp.util.TransformedVariable(
        np.float32(scale), tfp.bijectors.Softplus()
    ),
}
SCALED = {
    "scaled": lambda scale: kernels.FeatureScaled(kernels.MaternFiveHalves(), scale),
    "sum": lambda scale: (
        kernels.FeatureScaled(kernels.ExponentiatedQuadratic(), scale) + kernels.Linear()
    ),
    "scaled product": lambda scale: kernels.FeatureScaled(
        kernels.MaternOneHalf() * kernels.RationalQuadratic(), scale
    ),
    "scaled twice": lambda scale: kernels.FeatureScaled(
        kernels.FeatureScaled(kernels.ExponentiatedQuadratic(), scale), scale
    ),
}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", SCALED)
def test_kernels_may_scale_features(kind, scale):
    given = [0.5, 1.0, 2.0]
    covariance = covariances.get(SCALED[kind](SCALES[scale](given)))
    exact = SCALED[kind](np.float64(given)).matrix(FIRST, SECOND)
    for layer in (covariance, copied(covariance)):
        np.testing.assert_allclose(at(layer), exact, rtol=1e-4, atol=1e-5)
        assert layer.jitter == (1e-8 if scale == "array" else 1e-6)
    process = ed.layers.GaussianProcess(
        1, None, covariance, FIRST, np.sin(FIRST[:, :1]), noise_variance=0.1
    )
    assert np.all(np.isfinite(process(SECOND).stddev()))
    trained = scale in ("variable", "trained")
    assert len(process.trainable_variables) == trained


def test_kernels_of_two_types_are_one_line():
    narrow = kernels.FeatureScaled(kernels.MaternOneHalf(), tf.ones([3]))
    both = narrow + kernels.MaternOneHalf(np.float64(1.0))
    with pytest.raises(ValueError, match="must have one type, got float32 and float64"):
        at(covariances.get(both))

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp
from tensorflow_probability import distributions as tfd

import bayes_rl as ed
from bayes_rl import initializers

CLASSES = [
    initializers.TrainableNormal,
    initializers.TrainableHeNormal,
    initializers.TrainableGlorotNormal,
    initializers.TrainableNormalSharedStddev,
    initializers.TrainableNormalFixedStddev,
]


def test_default_stddev_is_that_of_the_paper_s_code():
    weight = initializers.TrainableNormal()([50, 40])
    np.testing.assert_allclose(np.mean(weight.stddev()), 0.0486, rtol=0.02)
    assert np.all(abs(weight.mean()) < 1e-4)


@pytest.mark.parametrize(
    ("initializer", "variance"),
    [("trainable_he_normal", 2 / 400), ("trainable_glorot_normal", 2 / 500)],
)
def test_initial_means_are_scaled_and_stddevs_narrow(initializer, variance):
    weight = initializers.get(initializer)([400, 100])
    np.testing.assert_allclose(np.var(weight.mean()), variance, rtol=0.05)
    np.testing.assert_allclose(np.mean(weight.stddev()), (1e-3 / 400) ** 0.5, rtol=0.02)


def test_shared_stddev_is_one_variable_of_no_axes():
    initializer = initializers.TrainableNormalSharedStddev()
    weight = initializer([3, 2])
    assert initializer.stddev.shape == []
    assert weight.value.shape == [3, 2]
    assert len(np.unique(weight.stddev())) == 1


def test_fixed_stddev_is_not_trained():
    initializer = initializers.TrainableNormalFixedStddev(0.5)
    assert np.all(initializer([3, 2]).stddev() == 0.5)
    assert [v.name for v in initializer.trainable_weights] == [f"{initializer.name}/mean:0"]


@pytest.mark.parametrize("constraint", ["softplus", "exp", "positive", None])
def test_scaled_stddev_is_relative_to_the_fan(constraint):
    stddev = initializers.ScaledNormalStdDev(0.05**2, distribution="constant")
    initializer = initializers.TrainableNormal(
        stddev_initializer=stddev, stddev_constraint=constraint
    )
    np.testing.assert_allclose(initializer([100, 7]).stddev(), 0.005, rtol=1e-4)


def test_scaled_stddev_needs_a_constraint_with_an_inverse():
    initializer = initializers.TrainableNormal(
        stddev_initializer=initializers.ScaledNormalStdDev(0.25, distribution="constant"),
        stddev_constraint=tf.nn.softplus,
    )
    with pytest.raises(ValueError, match=r"stddev cannot be 0.05 .*softplus.* gives 0.71"):
        initializer([100, 2])


@pytest.mark.parametrize("constraint", ["softplus", "exp", "positive"])
@pytest.mark.parametrize("value", [-1.0, [1.0, -0.1], float("nan")])
def test_stddev_that_its_constraint_cannot_give_is_an_error(constraint, value):
    initializer = initializers.TrainableNormal(stddev_constraint=constraint)
    initializer.build([3, 2])
    initializer.assign(stddev=2e-7)
    np.testing.assert_allclose(initializer([3, 2]).stddev(), 2e-7, rtol=1e-3)
    with pytest.raises(ValueError, match=f"stddev cannot be .*{constraint.title()}"):
        initializer.assign(stddev=value)
    np.testing.assert_allclose(initializer([3, 2]).stddev(), 2e-7, rtol=1e-3)


@pytest.mark.parametrize(("constraint", "given"), [("softplus", 0.0), ("exp", 0.5e-7)])
def test_stddev_below_the_least_of_its_constraint_is_an_error(constraint, given):
    initializer = initializers.TrainableNormal(stddev_constraint=constraint)
    initializer.build([3, 2])
    with pytest.raises(ValueError, match=f"stddev cannot be {given:.7g} .* gives nan"):
        initializer.assign(stddev=given)


def test_projection_of_keras_keeps_the_values_in_its_range():
    initializer = initializers.TrainableNormal(mean_constraint="non_neg")
    initializer.build([2])
    initializer.assign(mean=[0.0, 3.0])
    np.testing.assert_array_equal(initializer([2]).mean(), [0.0, 3.0])
    with pytest.raises(ValueError, match="mean cannot be -1 .* NonNeg, which gives"):
        initializer.assign(mean=[3.0, -1.0])


def test_values_are_assigned_in_graphs_too():
    initializer = initializers.TrainableNormal()
    initializer.build([2])
    tf.function(lambda x: initializer.assign(stddev=x), jit_compile=True)(tf.ones([2]))
    np.testing.assert_allclose(initializer([2]).stddev(), 1.0, rtol=1e-5)


def test_shared_stddev_is_scaled_by_the_fan_of_the_weight():
    stddev = initializers.ScaledNormalStdDev(distribution="constant")
    weight = initializers.TrainableNormalSharedStddev(stddev_initializer=stddev)([100, 7])
    np.testing.assert_allclose(weight.stddev(), 0.1, rtol=1e-4)


def test_seed_and_names_make_initial_values_reproducible():
    def mean(name, seed):
        initializer = initializers.TrainableHeNormal(seed=seed)
        layer = ed.layers.DenseFlipout(4, kernel_initializer=initializer, name=name)
        layer.build([None, 3])
        return layer.kernel.mean().numpy()

    np.testing.assert_array_equal(mean("a", 1), mean("a", 1))
    assert np.all(mean("a", 1) != mean("b", 1))
    assert np.all(mean("a", 1) != mean("a", 2))


@pytest.mark.parametrize("initializer_class", CLASSES)
def test_configuration_makes_an_equal_initializer(initializer_class):
    initializer = initializer_class(seed=3, mean_constraint="exp", mean_regularizer="l2")
    copy = initializers.deserialize(initializers.serialize(initializer))
    assert type(copy) is initializer_class
    assert copy.get_config() == initializer.get_config()
    assert isinstance(copy.mean_constraint, ed.constraints.Exp)


def test_regularizers_of_the_parameters_are_losses():
    initializer = initializers.TrainableNormal(stddev_regularizer="l2")
    layer = ed.layers.DenseFlipout(4, kernel_initializer=initializer)
    layer(tf.ones([2, 3]))
    assert len(layer.losses) == 2


def test_another_shape_is_an_error():
    initializer = initializers.TrainableNormal()
    initializer([3, 2])
    with pytest.raises(ValueError, match=r"shape \(3, 2\), asked for \(2, 3\)"):
        initializer([2, 3])


def test_get_of_nothing_is_nothing():
    assert initializers.get(None) is None
    assert isinstance(initializers.get("zeros"), tf.keras.initializers.Zeros)


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

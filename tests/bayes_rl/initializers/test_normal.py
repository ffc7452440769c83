import numpy as np
import pytest
import tensorflow as tf

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
def test_initial_means_are_scaled(initializer, variance):
    weight = initializers.get(initializer)([400, 100])
    np.testing.assert_allclose(np.var(weight.mean()), variance, rtol=0.05)


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

import copy

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed
from bayes_rl import initializers

NAMES = {
    "orthogonal_random_features": "OrthogonalRandomFeatures",
    "random_sign": "RandomSign",
    "scaled_normal_std_dev": "ScaledNormalStdDev",
    "trainable_cauchy": "TrainableCauchy",
    "trainable_deterministic": "TrainableDeterministic",
    "trainable_glorot_normal": "TrainableGlorotNormal",
    "trainable_half_cauchy": "TrainableHalfCauchy",
    "trainable_he_normal": "TrainableHeNormal",
    "trainable_log_normal": "TrainableLogNormal",
    "trainable_mixture_of_deltas": "TrainableMixtureOfDeltas",
    "trainable_normal": "TrainableNormal",
    "trainable_normal_fixed_stddev": "TrainableNormalFixedStddev",
    "trainable_normal_shared_stddev": "TrainableNormalSharedStddev",
}
TRAINABLE = [name for name in NAMES if name.startswith("trainable")]


@pytest.mark.parametrize(("name", "class_name"), NAMES.items())
def test_names_make_fresh_objects(name, class_name):
    for alias in (name, class_name):
        first, second = initializers.get(alias), initializers.get(alias)
        assert type(first).__name__ == class_name
        assert first is not second
    assert getattr(initializers, name) is getattr(initializers, class_name)


@pytest.mark.parametrize("name", NAMES)
def test_configuration_makes_an_equal_initializer(name):
    initializer = type(initializers.get(name))(seed=3)
    again = initializers.get(initializers.serialize(initializer))
    assert type(again) is type(initializer)
    assert again.get_config() == initializer.get_config()


@pytest.mark.parametrize("name", TRAINABLE)
def test_seed_and_name_make_initial_values_reproducible(name):
    def values(seed, layer_name):
        initializer = type(initializers.get(name))(seed=seed)
        layer = ed.layers.DenseReparameterization(
            4, kernel_initializer=initializer, kernel_regularizer=None, name=layer_name
        )
        layer.build([None, 3])
        return np.ravel(layer.kernel_initializer.get_weights()[0])

    np.testing.assert_array_equal(values(1, "a"), values(1, "a"))
    for other in (values(1, "b"), values(2, "a"), values(None, "a")):
        assert not np.any(values(1, "a") == other)
    assert not np.any(values(None, "a") == values(None, "a"))


@pytest.mark.parametrize("name", TRAINABLE)
def test_copy_of_a_used_layer_has_the_same_parameters(name):
    layer = ed.layers.DenseReparameterization(
        4, kernel_initializer=name, kernel_regularizer=None, name="dense"
    )
    layer(tf.ones([2, 3]))
    twin = copy.deepcopy(layer)
    ours, theirs = (ed.sample_weights(x, seed=1) for x in (layer, twin))
    np.testing.assert_array_equal(ours["dense/kernel"], theirs["dense/kernel"])


def test_constraint_of_a_mean_applies_when_it_is_used():
    initializer = initializers.TrainableNormal(mean_constraint="exp")
    weight = initializer([3])
    np.testing.assert_allclose(weight.mean(), np.exp(initializer.mean), rtol=1e-5)


def test_frozen_initializer_has_frozen_parameters():
    initializer = initializers.TrainableNormal(trainable=False)
    initializer([3])
    assert not initializer.trainable_weights
    assert len(initializer.non_trainable_weights) == 2


@pytest.mark.parametrize("is_copy", [False, True])
def test_frozen_initializer_is_frozen_in_a_layer(is_copy):
    layer = ed.layers.DenseReparameterization(
        4, kernel_initializer=initializers.TrainableNormal(trainable=False), name="dense"
    )
    if is_copy:
        layer = ed.layers.DenseReparameterization.from_config(layer.get_config())
    layer.build([None, 3])
    layer.trainable = False
    layer.trainable = True
    assert [v.name for v in layer.trainable_weights] == ["bias:0"]
    assert len(layer.non_trainable_weights) == 2


def test_layer_that_was_frozen_when_it_was_built_can_be_trained_later():
    layer = ed.layers.DenseReparameterization(4)
    layer.trainable = False
    layer.build([None, 3])
    assert layer.trainable_weights == []
    layer.trainable = True
    assert len(layer.trainable_weights) == 3

import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import distributions as tfd

import bayes_rl as ed
from bayes_rl import regularizers

POSTERIOR = tfd.Independent(tfd.Normal([1.0, 0.5], 0.2), 1)
NAMES = {
    "cauchy_kl_divergence": regularizers.CauchyKLDivergence,
    "half_cauchy_kl_divergence": regularizers.HalfCauchyKLDivergence,
    "log_normal_kl_divergence": regularizers.LogNormalKLDivergence,
    "log_uniform_kl_divergence": regularizers.LogUniformKLDivergence,
    "normal_empirical_bayes_kl_divergence": (regularizers.NormalEmpiricalBayesKLDivergence),
    "normal_kl_divergence": regularizers.NormalKLDivergence,
    "normal_kl_divergence_with_tied_mean": regularizers.NormalKLDivergenceWithTiedMean,
    "prior_kl_divergence": regularizers.PriorKLDivergence,
    "trainable_normal_kl_divergence_stddev": (
        regularizers.TrainableNormalKLDivergenceStdDev
    ),
    "uniform_kl_divergence": regularizers.UniformKLDivergence,
}


@pytest.mark.parametrize(("name", "found"), NAMES.items())
def test_names_make_fresh_objects(name, found):
    for alias in (name, found.__name__):
        first, second = regularizers.get(alias), regularizers.get(alias)
        assert type(first) is found
        assert first is not second
    assert getattr(regularizers, name) is found


@pytest.mark.parametrize("found", NAMES.values())
def test_configuration_makes_an_equal_regularizer(found):
    regularizer = found(scale_factor=0.25)
    for config in (
        regularizers.serialize(regularizer),
        {"class_name": found.__name__, "config": regularizer.get_config()},
    ):
        copy = regularizers.get(config)
        assert type(copy) is found
        assert copy.get_config() == regularizer.get_config()
        assert copy.scale_factor == 0.25


def test_nothing_and_names_of_keras():
    assert regularizers.get(None) is None
    assert regularizers.get("") is None
    assert isinstance(regularizers.get("l2"), tf.keras.regularizers.L2)


def test_scale_factor_can_be_annealed():
    weight = tf.Variable(1.0, trainable=False)
    step = tf.Variable(0.0, trainable=False)
    whole = regularizers.NormalKLDivergence()(POSTERIOR)
    by_variable = regularizers.NormalKLDivergence(scale_factor=weight)
    by_function = regularizers.NormalKLDivergence(scale_factor=lambda: step / 10.0)
    graph = tf.function(lambda: (by_variable(POSTERIOR), by_function(POSTERIOR)))
    for value in (1.0, 0.25, 0.0):
        weight.assign(value)
        step.assign(10.0 * value)
        for found in (by_variable(POSTERIOR), *graph()):
            np.testing.assert_allclose(found, value * whole, rtol=1e-6)
    assert by_variable.get_config()["scale_factor"] == 0.0


@pytest.mark.parametrize("regularizer", ["normal", "prior"])
def test_annealed_layer_is_saved_and_has_no_other_weights(tmp_path, regularizer):
    weight = tf.Variable(0.5)
    regularizer = regularizers.get(
        {
            "class_name": f"{regularizer.title()}KLDivergence",
            "config": {"scale_factor": weight},
        }
    )
    layer = ed.layers.DenseReparameterization(4, kernel_regularizer=regularizer)
    model = tf.keras.Sequential([tf.keras.Input([3]), layer])
    assert not [v for v in model.weights if v is weight]
    before = float(model.losses[0])
    model.save(tmp_path / "model")
    loaded = tf.keras.models.load_model(tmp_path / "model")
    np.testing.assert_allclose(loaded.losses[0], before, rtol=1e-6)
    weight.assign(0.25)
    np.testing.assert_allclose(model.losses[0], before / 2, rtol=1e-6)


@ed.serialization.register
def one_over_rows(shape):
    return 1.0 / shape[0]


def test_prior_can_depend_on_the_shape():
    fan = ed.initializers.ScaledNormalStdDev(2.0, distribution="constant")
    for stddev, expected in ((fan, np.sqrt(2.0 / 3.0)), (one_over_rows, 1 / 3)):
        regularizer = regularizers.NormalKLDivergence(stddev=stddev)
        copy = regularizers.deserialize(regularizers.serialize(regularizer))
        posterior = tfd.Independent(tfd.Normal(tf.ones([3, 4]), 0.2), 2)
        same = regularizers.NormalKLDivergence(stddev=expected)(posterior)
        for found in (regularizer, copy):
            np.testing.assert_allclose(found(posterior), same, rtol=1e-5)


def test_error_names_the_weight_when_the_layer_is_built():
    regularizer = regularizers.NormalKLDivergence(mean=[0.0, 1.0, 2.0])
    layer = ed.layers.DenseFlipout(4, kernel_regularizer=regularizer, name="head")
    message = r"weight 'head/kernel': mean of the prior has shape \(3,\)"
    with pytest.raises(ValueError, match=message):
        layer.build([None, 2])


def test_error_names_the_weight_when_the_cost_is_asked_for():
    layer = ed.layers.DenseFlipout(
        4, kernel_regularizer="half_cauchy_kl_divergence", name="head"
    )
    layer.build([None, 2])
    with pytest.raises(ValueError, match="'head/kernel': the KL of a Normal posterior"):
        _ = layer.losses


def test_no_samples_are_an_error():
    with pytest.raises(ValueError, match="num_samples must be at least 1, got 0"):
        regularizers.CauchyKLDivergence(num_samples=0)


def test_scale_that_is_a_number_of_python_is_refused_where_it_would_be_kept():
    step = [1]
    kl = regularizers.NormalKLDivergence(scale_factor=lambda: step[0] / 10)
    posterior = tfd.Normal([0.0, 1.0], 1.0)
    np.testing.assert_allclose(kl(posterior), 0.05)
    step[0] = 2
    np.testing.assert_allclose(kl(posterior), 0.1)
    with pytest.raises(ValueError, match="returns 0.2, which .* for ever"):
        tf.function(lambda: kl(posterior))()


def test_a_name_that_no_regularizer_has_is_an_error_at_once():
    nearest = "did you mean 'normal_kl_divergence'?"
    with pytest.raises(ValueError, match=f"is not among the regularizers; {nearest}"):
        ed.layers.DenseReparameterization(2, kernel_regularizer="normal_kl_divergnce")
    with pytest.raises(ValueError, match="'kl' is not among the regularizers"):
        ed.regularizers.get("kl")
    assert isinstance(ed.regularizers.get("l2"), tf.keras.regularizers.L2)


@pytest.mark.parametrize("scale_factor", [-1.0, "a", None])
def test_scale_factors_that_are_none_are_named(scale_factor):
    with pytest.raises(ValueError, match="scale_factor must be a number that is not nega"):
        ed.regularizers.NormalKLDivergence(scale_factor=scale_factor)

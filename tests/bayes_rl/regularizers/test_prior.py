import copy

import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import distributions as tfd

import bayes_rl as ed
from bayes_rl import regularizers


def make(regularizer, **kwargs):
    layer = ed.layers.DenseFlipout(4, kernel_regularizer=regularizer, **kwargs)
    layer(tf.ones([2, 3]))
    return layer


def test_trainable_stddev_is_the_prior_s():
    layer = make("trainable_normal_kl_divergence_stddev")
    (stddev,) = layer.kernel_regularizer.trainable_weights
    np.testing.assert_allclose(tf.nn.softplus(stddev), np.ones([3, 4]), atol=0.2)
    prior = tfd.Normal(0.0, tf.nn.softplus(stddev))
    expected = tfd.kl_divergence(layer.kernel.distribution.distribution, prior)
    np.testing.assert_allclose(layer.losses[0], tf.reduce_sum(expected), rtol=1e-5)


def test_best_trainable_stddev_is_the_posterior_s_root_mean_square():
    initializer = ed.initializers.TrainableNormal(mean_initializer="ones")
    regularizer = regularizers.TrainableNormalKLDivergenceStdDev(mean=0.5)
    layer = make(regularizer, kernel_initializer=initializer)
    posterior = layer.kernel.distribution
    best = tf.sqrt(posterior.variance() + (posterior.mean() - 0.5) ** 2)
    variable = layer.kernel_regularizer.stddev
    variable.assign(ed.constraints.Softplus().inverse(best))
    with tf.GradientTape() as tape:
        cost = layer.losses[0]
    np.testing.assert_allclose(tape.gradient(cost, variable), np.zeros([3, 4]), atol=1e-5)


@pytest.mark.parametrize("kind", list(regularizers.__dict__["_aliases"])[7:9])
def test_every_layer_has_a_prior_of_its_own(kind):
    shared = regularizers.get(kind)
    first, second = make(shared), make(shared)
    ours, theirs = (layer.kernel_regularizer.trainable_weights for layer in (first, second))
    assert len(ours) in (1, 2)
    assert not {id(v) for v in ours} & {id(v) for v in theirs}
    assert not shared.weights
    assert not np.any(np.array(ours[0]) == np.array(theirs[0]))
    assert {id(v) for v in ours} < {id(v) for v in first.trainable_weights}


@pytest.mark.parametrize("kind", ["prior", "trainable_stddev"])
def test_prior_survives_saving_and_copies(tmp_path, kind):
    regularizer = {
        "prior": regularizers.PriorKLDivergence(
            "trainable_normal_shared_stddev", scale_factor=0.5
        ),
        "trainable_stddev": regularizers.TrainableNormalKLDivergenceStdDev(mean=0.2),
    }[kind]
    layer = ed.layers.DenseFlipout(4, kernel_regularizer=regularizer)
    model = tf.keras.Sequential([tf.keras.Input([3]), layer])
    for variable in model.trainable_weights:
        variable.assign_add(0.1 * tf.ones_like(variable))
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    clone = tf.keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    for other in (loaded, clone, copy.deepcopy(model)):
        np.testing.assert_allclose(other.losses[0], model.losses[0], rtol=1e-6)


def test_seed_makes_initial_priors_reproducible():
    def stddev(seed, name):
        regularizer = regularizers.TrainableNormalKLDivergenceStdDev(seed=seed)
        return make(regularizer, name=name).kernel_regularizer.stddev.numpy()

    np.testing.assert_array_equal(stddev(1, "a"), stddev(1, "a"))
    assert np.all(stddev(1, "a") != stddev(1, "b"))


def test_gradients_reach_prior_and_posterior():
    layer = make(regularizers.PriorKLDivergence("trainable_normal"))
    with tf.GradientTape() as tape:
        cost = layer.losses[0]
    variables = layer.kernel_regularizer.trainable_weights
    variables += layer.kernel_initializer.trainable_weights
    for gradient in tape.gradient(cost, variables):
        assert np.any(gradient != 0)


def test_kept_prior_stays_when_the_layer_is_made_trainable_again():
    layer = make(regularizers.PriorKLDivergence(trainable_prior=False))
    layer.trainable = False
    layer.trainable = True
    assert len(layer.trainable_weights) == 3
    assert len(layer.non_trainable_weights) == 2


def test_prior_of_a_deterministic_weight():
    regularizer = regularizers.PriorKLDivergence("trainable_normal")
    layer = make(regularizer, kernel_initializer="he_normal")
    (cost,) = layer.losses
    prior = layer.kernel_regularizer.prior([3, 4]).distribution
    np.testing.assert_allclose(cost, -prior.log_prob(layer.kernel), rtol=1e-5)


def test_prior_without_parameters_is_an_error():
    with pytest.raises(ValueError, match="must be a trainable initializer, got 'zeros'"):
        regularizers.PriorKLDivergence("zeros")


def test_another_shape_is_an_error():
    regularizer = regularizers.PriorKLDivergence()
    regularizer(tf.ones([3]))
    with pytest.raises(ValueError, match=r"shape \(3,\), asked for \(2,\)"):
        regularizer(tf.ones([2]))

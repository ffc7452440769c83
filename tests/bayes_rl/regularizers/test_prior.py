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


POSTERIORS = [
    "trainable_normal",
    "trainable_normal_shared_stddev",
    "trainable_log_normal",
    "trainable_cauchy",
]
PRIORS = {
    "trainable_log_normal": "log_normal_kl_divergence",
    "trainable_cauchy": "cauchy_kl_divergence",
}


def model_of(initializer="trainable_normal", **kwargs):
    options = {"kernel_regularizer": PRIORS.get(initializer, "normal_kl_divergence")}
    layer = ed.layers.DenseReparameterization(
        4, kernel_initializer=initializer, name="dense", **{**options, **kwargs}
    )
    return tf.keras.Sequential([tf.keras.Input([3]), layer])


@pytest.mark.parametrize("initializer", POSTERIORS)
def test_prior_is_the_posterior_at_the_time(initializer):
    model = model_of(initializer)
    for shift in (0.3, 0.2):  # the second call only assigns
        ed.regularizers.set_prior_to_posterior(model)
        (layer,) = model.layers
        regularizer = layer.kernel_regularizer
        np.testing.assert_allclose(model.losses[0], 0.0, atol=1e-5)
        before = layer.kernel_initializer.parameters()
        for variable in layer.kernel_initializer.trainable_weights:
            variable.assign_add(tf.fill(variable.shape, shift))
        family = type(layer.kernel.distribution.distribution)
        after = layer.kernel_initializer.parameters()
        expected = tfd.kl_divergence(family(*after), family(*before))
        np.testing.assert_allclose(model.losses[0], tf.reduce_sum(expected), rtol=1e-4)
    ed.regularizers.set_prior_to_posterior(model)
    assert layer.kernel_regularizer is regularizer


EARLIER = {
    "stddev": ("trainable_normal_fixed_stddev", {"stddev": 0.1}, {"stddev": 1.0}),
    "constraint": ("trainable_normal", {"stddev_constraint": "exp"}, {}),
}


@pytest.mark.parametrize("kind", EARLIER)
def test_prior_that_was_kept_with_other_settings_is_replaced(kind):
    name, of_posterior, of_prior = EARLIER[kind]
    earlier = regularizers.PriorKLDivergence(
        getattr(ed.initializers, name)(**of_prior), trainable_prior=False, scale_factor=0.5
    )
    posterior = getattr(ed.initializers, name)(mean_initializer="ones", **of_posterior)
    layer = make(earlier, kernel_initializer=posterior)
    regularizers.set_prior_to_posterior(layer)
    np.testing.assert_allclose(layer.losses[0], 0.0, atol=1e-5)
    assert layer.kernel_regularizer.scale_factor == 0.5


def test_prior_that_was_kept_from_other_start_values_stays():
    earlier = regularizers.PriorKLDivergence("trainable_normal", trainable_prior=False)
    other = ed.initializers.TrainableNormal(
        mean_initializer="ones", mean_regularizer="l2", seed=1
    )
    layer = make(earlier, kernel_initializer=other)
    regularizer = layer.kernel_regularizer
    regularizers.set_prior_to_posterior(layer)
    assert layer.kernel_regularizer is regularizer
    np.testing.assert_allclose(layer.losses[0], 0.0, atol=1e-5)


def test_a_prior_that_was_trained_is_not_trained_once_it_is_set():
    layer = make(regularizers.PriorKLDivergence("trainable_normal", trainable_prior=True))
    assert layer.kernel_regularizer.trainable_prior
    regularizers.set_prior_to_posterior(layer)
    assert not layer.kernel_regularizer.trainable_prior
    assert not layer.kernel_regularizer.trainable_weights
    np.testing.assert_allclose(layer.losses[0], 0.0, atol=1e-5)


def test_kept_prior_is_not_trained_but_saved(tmp_path):
    model = model_of()
    count = len(model.trainable_weights)
    ed.regularizers.set_prior_to_posterior(model)
    assert len(model.trainable_weights) == count
    model.layers[0].kernel_initializer.mean.assign_add(tf.ones([3, 4]))
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    assert model.losses[0] > 100
    np.testing.assert_allclose(loaded.losses[0], model.losses[0], rtol=1e-6)


def test_cell_whose_kernels_shared_a_regularizer(tmp_path):
    shared = ed.regularizers.NormalKLDivergence(stddev=0.5)
    cell = ed.layers.LSTMCellReparameterization(
        2, kernel_regularizer=shared, recurrent_regularizer=shared
    )
    model = tf.keras.Sequential([tf.keras.Input([5, 3]), tf.keras.layers.RNN(cell)])
    ed.regularizers.set_prior_to_posterior(model)
    np.testing.assert_allclose(model.losses, [0.0, 0.0], atol=1e-6)
    cell.kernel_initializer.mean.assign_add(tf.ones([3, 8]))
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    assert model.losses[0] > 100
    np.testing.assert_allclose(loaded.losses, model.losses, rtol=1e-6)


def test_fit_sees_the_new_prior():
    regularizer = ed.regularizers.NormalKLDivergence(mean=5.0, scale_factor=0.5)
    model = model_of(kernel_regularizer=regularizer)
    model.compile(tf.keras.optimizers.SGD(0.0), lambda labels, outputs: 0.0 * outputs)
    data = np.ones([4, 3]), np.ones([4, 4])
    (before,) = model.fit(*data, verbose=0).history["loss"]
    assert before > 10
    ed.regularizers.set_prior_to_posterior(model)
    (after,) = model.fit(*data, verbose=0).history["loss"]
    np.testing.assert_allclose(after, 0.0, atol=1e-5)
    assert model.layers[0].kernel_regularizer.scale_factor == 0.5


def test_two_updates_are_one_update_with_all_data():
    """Conjugate regression: the second posterior equals that of both halves of data."""
    inputs = np.random.default_rng(0).normal(size=[20, 3]).astype(np.float32)
    targets = inputs @ np.array([[1.0], [-2.0], [0.5]], np.float32)
    regularizer = ed.regularizers.NormalKLDivergence(stddev=2.0)
    layer = ed.layers.DenseReparameterization(
        1, use_bias=False, kernel_regularizer=regularizer
    )
    layer.build([None, 3])

    def fit(inputs, targets):
        """Minimizes the exact negative evidence bound, noise variance 1."""
        optimizer = tf.keras.optimizers.Adam(0.05)

        @tf.function
        def step():
            with tf.GradientTape() as tape:
                mean, stddev = layer.kernel_initializer.parameters()
                residual = targets - inputs @ mean
                spread = tf.square(inputs) @ tf.square(stddev)
                loss = 0.5 * tf.reduce_sum(residual**2 + spread) + layer.losses[0]
            variables = layer.kernel_initializer.trainable_weights
            optimizer.apply_gradients(
                zip(tape.gradient(loss, variables), variables, strict=True)
            )

        for _ in range(400):
            step()

    # Orthogonal inputs, so that the factorized posterior is the exact one.
    inputs[:10], inputs[10:] = (np.linalg.qr(x)[0] * 2 for x in (inputs[:10], inputs[10:]))
    targets = inputs @ np.array([[1.0], [-2.0], [0.5]], np.float32)
    fit(inputs[:10], targets[:10])
    ed.regularizers.set_prior_to_posterior(layer)
    fit(inputs[10:], targets[10:])
    precision = inputs.T @ inputs + np.eye(3) / 4
    mean, stddev = layer.kernel_initializer.parameters()
    np.testing.assert_allclose(
        mean, np.linalg.solve(precision, inputs.T @ targets), atol=1e-3
    )
    np.testing.assert_allclose(stddev[:, 0], np.diag(precision) ** -0.5, rtol=1e-2)


def test_weights_without_a_cost_are_left():
    model = model_of(kernel_regularizer=None)
    ed.regularizers.set_prior_to_posterior(model)
    assert model.losses == []
    with pytest.raises(ValueError, match="'dense/kernel' has no regularizer to replace"):
        model.layers[0].set_regularizer("kernel", "normal_kl_divergence")

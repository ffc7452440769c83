import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

import bayes_rl as ed

GENERATOR = np.random.default_rng(0)
INPUTS = GENERATOR.normal(size=[30, 4])
TARGETS = INPUTS @ [1.0, -2.0, 0.0, 0.5] + 0.3 * GENERATOR.normal(size=30)
TEST = GENERATOR.normal(size=[7, 4])


def make(**kwargs):
    return ed.layers.BayesianLinearModel(noise_variance=0.09, **kwargs)


@pytest.mark.parametrize("targets", [TARGETS, TARGETS[:, None]])
def test_predictions_are_those_of_the_closed_form(targets):
    model = make(dtype="float64")
    assert isinstance(model.fit(INPUTS, targets), tf.keras.callbacks.History)
    outputs = model(TEST)
    covariance = np.linalg.inv(np.eye(4) + INPUTS.T @ INPUTS / 0.09)
    mean = covariance @ INPUTS.T @ TARGETS / 0.09
    np.testing.assert_allclose(outputs.mean(), TEST @ mean, rtol=1e-9)
    np.testing.assert_allclose(
        outputs.variance(), np.diag(TEST @ covariance @ TEST.T), rtol=1e-9
    )
    assert outputs.shape == [7]


def test_is_the_gaussian_process_with_a_linear_kernel():
    model = make(dtype="float64")
    model.fit(INPUTS, TARGETS)
    process = ed.layers.GaussianProcess(
        1,
        covariance_fn=ed.layers.LinearKernel(1.0, 0.0),
        conditional_inputs=INPUTS,
        conditional_outputs=TARGETS[:, None],
        noise_variance=0.09,
    )
    ours, theirs = model(TEST), process(TEST)
    np.testing.assert_allclose(ours.mean(), theirs.mean()[:, 0], rtol=1e-5)
    np.testing.assert_allclose(ours.stddev(), theirs.stddev()[:, 0], rtol=1e-3)


def test_before_fit_predictions_are_those_of_the_prior():
    outputs = make()(TEST.astype("float32"))
    np.testing.assert_array_equal(outputs.mean(), np.zeros(7))
    np.testing.assert_allclose(outputs.stddev(), np.linalg.norm(TEST, axis=1), rtol=1e-5)


def test_near_collinear_features_in_float32():
    inputs = np.stack([INPUTS[:, 0], INPUTS[:, 0] + 1e-4 * INPUTS[:, 1]], -1)
    model = ed.layers.BayesianLinearModel(noise_variance=1e-4)
    model.fit(inputs.astype("float32"), TARGETS.astype("float32"))
    covariance = np.linalg.inv(np.eye(2) + inputs.T @ inputs / 1e-4)
    test = np.array([[1.0, -1.0], [1.0, 1.0]])
    outputs = model(test.astype("float32"))
    expected = np.sqrt(np.diag(test @ covariance @ test.T))
    np.testing.assert_allclose(outputs.stddev(), expected, rtol=0.02)


@pytest.mark.parametrize("suffix", [".keras", pytest.param("", marks=pytest.mark.slow)])
def test_saved_model_makes_the_same_predictions(tmp_path, suffix):
    model = make()
    model.fit(INPUTS, TARGETS)
    model(TEST.astype("float32"))
    model.save(tmp_path / f"model{suffix}")
    loaded = tf.keras.models.load_model(tmp_path / f"model{suffix}")
    assert loaded.noise_variance == 0.09
    for ours, theirs in zip(model.get_weights(), loaded.get_weights(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_errors():
    with pytest.raises(ValueError, match="noise_variance must be above 0, got 0"):
        ed.layers.BayesianLinearModel(0)
    with pytest.raises(ValueError, match=r"got \(30, 4\) and \(7,\)"):
        make().fit(INPUTS, TARGETS[:7])


WEIGHTS = GENERATOR.integers(0, 4, size=30)


def fitted(x, y=None, sample_weight=None, **kwargs):
    model = make(dtype="float64")
    history = model.fit(x, y, sample_weight=sample_weight, **kwargs)
    return [model.coefficients_mean, model.precision_tril, history.history["loss"]]


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("shape", [[30], [30, 1]])
def test_an_example_of_weight_w_counts_as_w_examples(shape):
    found = fitted(INPUTS, TARGETS, sample_weight=WEIGHTS.reshape(shape))
    assert_same(found, fitted(np.repeat(INPUTS, WEIGHTS, 0), np.repeat(TARGETS, WEIGHTS)))
    assert_same(fitted(INPUTS, TARGETS, np.ones(30)), fitted(INPUTS, TARGETS))


def test_loss_is_the_density_of_the_targets():
    *_, [loss] = fitted(INPUTS, TARGETS)
    covariance = INPUTS @ INPUTS.T + 0.09 * np.eye(30)
    normal = tfp.distributions.MultivariateNormalFullCovariance(np.zeros(30), covariance)
    np.testing.assert_allclose(loss, -normal.log_prob(TARGETS) / 30, rtol=1e-6)


class Batches(tf.keras.utils.Sequence):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        part = slice(8 * index, 8 * index + 8)
        return INPUTS[part], TARGETS[part], WEIGHTS[part]


@pytest.mark.parametrize("kind", ["dataset", "columns", "sequence", "generator"])
def test_data_may_come_in_batches(kind):
    columns = (INPUTS, TARGETS[:, None], WEIGHTS[:, None])
    data = {
        "dataset": tf.data.Dataset.from_tensor_slices((INPUTS, TARGETS, WEIGHTS)).batch(7),
        "columns": tf.data.Dataset.from_tensor_slices(columns).batch(7),
        "sequence": Batches(),
        "generator": (Batches()[index] for index in range(4)),
    }[kind]
    assert_same(fitted(data), fitted(INPUTS, TARGETS, WEIGHTS))


def test_callbacks_and_arguments_without_effect_are_those_of_keras():
    seen = []
    callback = tf.keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: seen.append((epoch, list(logs)))
    )
    options = {"batch_size": 8, "epochs": 3, "verbose": 0, "shuffle": False}
    found = fitted(INPUTS, TARGETS, callbacks=[callback], class_weight=None, **options)
    assert_same(found, fitted(INPUTS, TARGETS))
    assert seen == [(0, ["loss"])]


@pytest.mark.parametrize(
    ("data", "options", "error", "message"),
    [
        ((INPUTS, TARGETS), {"sample_weights": WEIGHTS}, TypeError, "mean 'sample_weight'"),
        (
            (INPUTS, TARGETS),
            {"validation_split": 0.2},
            TypeError,
            "'validation_split', got",
        ),
        ((INPUTS, TARGETS, WEIGHTS[:7]), {}, ValueError, r"shape \(30,\), got \(7,\)"),
        ((INPUTS, TARGETS, -WEIGHTS), {}, ValueError, "must not be negative, got -3.0"),
        ((INPUTS, TARGETS, 0 * WEIGHTS), {}, ValueError, "weights above 0, got none"),
        ((INPUTS, TARGETS * np.nan), {}, ValueError, "y must be finite"),
        ((INPUTS,), {}, ValueError, "x and y must both be given"),
        ((Batches(), TARGETS), {}, ValueError, "in the batches of x, a Batches"),
        ((INPUTS[:0], TARGETS[:0]), {}, ValueError, "must have examples"),
        ((x for x in [INPUTS]), {}, ValueError, "got x alone"),
    ],
)
def test_what_fit_cannot_take_is_one_line(data, options, error, message):
    data = data if isinstance(data, tuple) else (data,)
    with pytest.raises(error, match=message):
        fitted(*data, **options)


def test_data_that_do_not_end_or_fit_the_model_are_errors():
    dataset = tf.data.Dataset.from_tensor_slices((INPUTS, TARGETS)).batch(7).repeat()
    with pytest.raises(ValueError, match="repeats for ever"):
        make().fit(dataset)
    model = make()
    model.fit(INPUTS, TARGETS)
    with pytest.raises(ValueError, match=r"shape \[examples, 4\], .*, got 3 features"):
        model.fit(INPUTS[:, :3], TARGETS)

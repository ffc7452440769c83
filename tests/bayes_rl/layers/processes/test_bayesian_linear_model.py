import numpy as np
import pytest
import tensorflow as tf

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
    assert model.fit(INPUTS, targets) is None
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

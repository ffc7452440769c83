"""Every shape, type and range that a prediction or a column of labels can have."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import distributions as tfd

import bayes_rl as ed
from bayes_rl import uncertainty

GENERATOR = np.random.default_rng(0)
DRAWS = GENERATOR.normal(size=[300, 40])  # S = 300 is beyond the whole numbers of bfloat16
TARGETS = GENERATOR.normal(size=40)
SCALES = GENERATOR.uniform(0.5, 2.0, size=[300, 40])
LOGITS = GENERATOR.normal(size=[40, 3])
PROBABILITIES = np.exp(LOGITS) / np.exp(LOGITS).sum(-1, keepdims=True)
LABELS = GENERATOR.integers(3, size=40)
TYPES = ["float16", "bfloat16", "float32", "float64"]
# Half of the distance of 1 to the next number.
ROUNDING = {
    "float16": 2.0**-11,
    "bfloat16": 2.0**-8,
    "float32": 2.0**-24,
    "float64": 2.0**-53,
}


def crps(draws, targets):
    pairs = np.abs(draws[:, None] - draws).sum((0, 1)) / (len(draws) * (len(draws) - 1))
    return np.abs(draws - targets).mean(0) - pairs / 2


def mixture(draws, targets):
    log_probs = -0.5 * np.square((targets - draws) / SCALES)
    return -np.log(np.mean(np.exp(log_probs) / SCALES / np.sqrt(2 * np.pi), 0))


def coverage(draws, targets):
    low, high = np.quantile(draws, [0.05, 0.95], axis=0, method="weibull")
    return np.mean((low <= targets) & (targets <= high))


def log_score(draws, targets):
    scales = tf.cast(np.reshape(SCALES, draws.shape), draws.dtype)
    return uncertainty.log_score(ed.Normal(draws, scales), targets)


OF_NUMBERS = {
    uncertainty.continuous_ranked_probability_score: crps,
    uncertainty.interval_coverage: coverage,
    log_score: mixture,
}


def rounded(values, dtype):
    return tf.cast(tf.constant(values), dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("column", ["neither", "draws", "targets", "both"])
@pytest.mark.parametrize("score", OF_NUMBERS)
def test_scores_of_numbers_of_each_shape_and_type(score, column, dtype):
    draws, targets = rounded(DRAWS, dtype), rounded(TARGETS, dtype)
    expected = OF_NUMBERS[score](
        *(tf.cast(x, tf.float64).numpy() for x in (draws, targets))
    )
    if column in ("draws", "both"):
        draws = draws[..., tf.newaxis]
    if column in ("targets", "both"):
        targets = targets[..., tf.newaxis]
    found = score(draws, targets)
    assert found.dtype == ("float64" if dtype == "float64" else "float32")
    if np.ndim(expected):
        assert found.shape == ([40, 1] if column == "both" else [40])
    # Share of one target; scales of the mixture are rounded too.
    loose = 1 / 40 if score is uncertainty.interval_coverage else 8 * ROUNDING[dtype]
    np.testing.assert_allclose(np.ravel(found), np.ravel(expected), rtol=1e-5, atol=loose)


@pytest.mark.parametrize("dtype", TYPES)
def test_scores_of_classes_of_each_type(dtype):
    labels, probabilities = np.tile(LABELS, 1750), np.tile(PROBABILITIES, [1750, 1])
    confidence = probabilities.max(-1)
    gaps = (probabilities.argmax(-1) == labels) - confidence
    bins = np.ceil(confidence * 10)
    expected = sum(abs(gaps[bins == number].sum()) for number in range(11)) / 70_000
    given = rounded(probabilities, dtype)
    error = uncertainty.expected_calibration_error(labels, given)
    # A confidence may be rounded into the next bin, and then moves its own gap there.
    np.testing.assert_allclose(error, expected, atol=0.05 if "16" in dtype else 1e-4)
    own = np.square(probabilities - np.eye(3)[labels]).sum(-1)
    score = uncertainty.brier_score(labels, given)
    np.testing.assert_allclose(score, own, atol=4 * ROUNDING[dtype] + 1e-6)
    assert error.dtype == score.dtype == ("float64" if dtype == "float64" else "float32")


OF_LABELS = {
    "list": lambda labels: labels.tolist(),
    "column": lambda labels: labels[:, None],
    "uint8": lambda labels: labels.astype("uint8"),
    "int64": lambda labels: tf.constant(labels, tf.int64),
    "float32": lambda labels: labels.astype("float32"),
    "column of float64": lambda labels: labels[:, None].astype("float64"),
    "float16": lambda labels: tf.cast(labels, tf.float16),
    "bool": lambda labels: labels.astype(bool),
}
OF_CLASSES = {
    "calibration": uncertainty.expected_calibration_error,
    "brier": uncertainty.brier_score,
    "categorical": lambda labels, probabilities: uncertainty.log_score(
        ed.Categorical(probs=tf.stack([probabilities] * 2)), labels
    ),
    "bernoulli": lambda labels, probabilities: uncertainty.log_score(
        ed.Bernoulli(probs=tf.stack([probabilities[:, 1]] * 2)), labels
    ),
}


@pytest.mark.parametrize("score", OF_CLASSES)
@pytest.mark.parametrize("kind", OF_LABELS)
def test_labels_of_each_type(kind, score):
    labels = LABELS % 2
    probabilities = tf.constant(
        PROBABILITIES[:, :2] / PROBABILITIES[:, :2].sum(-1)[:, None]
    )
    expected = OF_CLASSES[score](labels, probabilities)
    found = OF_CLASSES[score](OF_LABELS[kind](labels), probabilities)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("score", ["calibration", "brier"])
def test_a_sigmoid_has_the_probability_of_one_of_two_classes(score):
    ones, labels = PROBABILITIES[:, :1], LABELS % 2
    expected = OF_CLASSES[score](labels, np.concatenate([1 - ones, ones], -1))
    np.testing.assert_allclose(OF_CLASSES[score](labels[:, None], ones), expected)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_decompositions_in_half_precision(dtype):
    small = tf.cast(tf.constant([[300.0], [310.0]]), dtype)  # squares beyond float16
    parts = uncertainty.variance_parts(ed.Normal(small, 1.0 + 0.0 * small))
    values = tf.cast(small, tf.float32).numpy()
    np.testing.assert_allclose(parts.epistemic, values.var(0), rtol=1e-6)
    logits = tf.cast(tf.stack([LOGITS, -LOGITS]), dtype)
    wide = ed.Categorical(logits=tf.cast(logits, tf.float32))
    for function in (uncertainty.mutual_information, uncertainty.mean_probabilities):
        found = function(ed.Categorical(logits=logits))
        assert found.dtype == tf.float32
        np.testing.assert_allclose(found, function(wide), rtol=1e-6)


def test_nested_distributions_in_half_precision_are_computed_in_float32():
    means = tf.cast(DRAWS[..., None], tf.float16)
    prediction = tfd.Independent(tfd.Normal(means, tf.ones_like(means)), 1)
    found = uncertainty.log_score(prediction, TARGETS.astype("float16"))
    wide = tfd.Independent(tfd.Normal(tf.cast(means, tf.float32), 1.0), 1)
    targets = TARGETS.astype("float16").astype("float32")
    np.testing.assert_allclose(found, uncertainty.log_score(wide, targets), rtol=1e-6)


@pytest.mark.parametrize("activation", ["softmax", "sigmoid"])
@pytest.mark.parametrize("policy", ["float32", "mixed_float16", "mixed_bfloat16"])
def test_what_a_model_predicts_is_decomposed(activation, policy):
    units = 3 if activation == "softmax" else 1
    layer = ed.layers.DenseFlipout(units, activation=activation, dtype=policy)
    prediction = ed.predict(layer, np.ones([5, 4], np.float32), 10, seed=1)
    information = uncertainty.mutual_information(prediction)
    probabilities = np.float32(prediction)
    if units == 1:
        probabilities = np.concatenate([1 - probabilities, probabilities], -1)
    expected = uncertainty.mutual_information(tfd.Categorical(probs=probabilities))
    np.testing.assert_allclose(information, expected, atol=0.01)
    mean = uncertainty.mean_probabilities(prediction)
    np.testing.assert_allclose(mean, probabilities.mean(0), rtol=1e-6)
    assert uncertainty.brier_score(np.zeros([5, 1]), mean).shape == [5]


def test_the_spread_of_draws_far_from_zero_is_not_lost():
    draws, targets = np.float32(np.round(DRAWS * 8)), np.float32(np.round(TARGETS * 8))
    near = uncertainty.continuous_ranked_probability_score(draws, targets)
    far = uncertainty.continuous_ranked_probability_score(draws + 2e5, targets + 2e5)
    np.testing.assert_allclose(far, near, rtol=1e-5)


def test_long_whole_numbers_are_scored_exactly():
    draws = np.array([[2**24 + 1], [2**24 + 3]])
    found = uncertainty.continuous_ranked_probability_score(draws, [2**24 + 1])
    np.testing.assert_array_equal(found, [0.0])


@pytest.mark.parametrize("given", ["draws", "targets"])
@pytest.mark.parametrize("score", OF_NUMBERS)
def test_nan_makes_nan(score, given):
    draws, targets = DRAWS.copy(), TARGETS.copy()
    draws[7, 3], targets[3] = (np.nan, 0.0) if given == "draws" else (0.0, np.nan)
    found = np.ravel(score(tf.constant(draws), targets))
    assert np.isnan(found[3 if len(found) > 1 else 0])
    assert np.isnan(found).sum() == 1


def test_probabilities_of_nan_make_nan():
    probabilities = np.array([[np.nan, 0.5], [0.5, np.nan], [0.5, 0.5]])
    assert np.isnan(uncertainty.expected_calibration_error([0, 0, 0], probabilities))
    scores = uncertainty.brier_score([0, 0, 0], probabilities)
    np.testing.assert_array_equal(scores, [np.nan, np.nan, 0.5])
    information = uncertainty.mutual_information(np.stack([probabilities] * 2))
    np.testing.assert_array_equal(information, [np.nan, np.nan, 0.0])


def test_scores_of_each_of_no_targets_are_none():
    none = tf.zeros([5, 0])
    for score in (uncertainty.continuous_ranked_probability_score, uncertainty.log_score):
        draws = ed.Normal(none, 1.0) if score is uncertainty.log_score else none
        assert score(draws, tf.zeros([0])).shape == [0]
    assert uncertainty.brier_score(np.zeros([0], int), tf.zeros([0, 3])).shape == [0]


CATEGORICAL, NORMAL = (
    ed.Categorical(probs=[[0.5, 0.5]] * 2),
    ed.Normal(tf.zeros([3, 4]), 1.0),
)
CRPS, COVERAGE = (
    uncertainty.continuous_ranked_probability_score,
    uncertainty.interval_coverage,
)
CALIBRATION, BRIER = uncertainty.expected_calibration_error, uncertainty.brier_score
REFUSED = {
    "one distribution": (
        CRPS,
        ([1.0, 2.0], [1.0, 2.0]),
        r"must have shape \(\), got \(2,\)",
    ),
    "one example": (CRPS, ([[1.0]] * 2, [1.0, 2.0]), r"must have shape \(1,\), got \(2,\)"),
    "other examples": (COVERAGE, (DRAWS, TARGETS[:7]), r"shape \(40,\), got \(7,\)"),
    "no axis": (CRPS, (1.0, 1.0), r"draws must have shape \[S, ...\].*got \(\)"),
    "no draws": (COVERAGE, (DRAWS[:0], TARGETS), r"draws must .* got \(0, 40\)"),
    "no targets": (COVERAGE, (DRAWS[:, :0], TARGETS[:0]), r"targets must not be empty"),
    "distribution": (CRPS, (tfd.Normal([0.0], 1.0), [0.0]), "draws must be .* got Normal"),
    "outputs by name": (CRPS, ({"a": 1.0}, [0.0]), "draws must be .* numbers, got dict"),
    "strings": (COVERAGE, ([["a"]], [0.0]), "draws must be an array of numbers, got list"),
    "complex": (CRPS, ([[1j]], [0.0]), "an array of numbers, got list of complex128"),
    "nothing": (CRPS, (None, [0.0]), "draws must be an array of numbers, got NoneType"),
    "percent": (COVERAGE, (DRAWS, TARGETS, 90), "level .* between 0 and 1, got 90"),
    "no level": (COVERAGE, (DRAWS, TARGETS, np.nan), "level .* between 0 and 1, got nan"),
    "names": (
        CALIBRATION,
        (["cat"], [[0.5, 0.5]]),
        "must be an .*, got list of string",
    ),
    "one-hot": (
        BRIER,
        (np.eye(3), np.eye(3)),
        r"got \(3, 3\); .*tf.argmax\(labels, -1",
    ),
    "sigmoids in a row": (CALIBRATION, ([0, 1], [0.5, 0.5]), "of a sigmoid give"),
    "with draws": (BRIER, ([0, 1], np.full([3, 2, 2], 0.5)), "average .* over their draws"),
    "a class too much": (BRIER, ([2], [[0.5, 0.5]]), "labels .* from 0 to 1, got 2"),
    "no class": (CALIBRATION, ([-1], [[0.5, 0.5]]), "labels .* from 0 to 1, got -1"),
    "half a class": (BRIER, ([0.5], [[0.5, 0.5]]), "labels must be whole .*, got 0.5"),
    "label NaN": (BRIER, ([np.nan], [[0.5, 0.5]]), "labels must be whole .*, got nan"),
    "logits": (CALIBRATION, ([0], [[3.0, -2.0]]), "tf.nn.softmax.* numbers from -2 to 3"),
    "sigmoids": (BRIER, ([0], [[0.9, 0.8]]), "must sum to 1 .*, got sums from 1.7 to 1.7"),
    "no classes": (BRIER, ([0], [[]]), r"shape \[..., classes\].*, got \(1, 0\)"),
    "no labels": (CALIBRATION, ([], np.zeros([0, 2])), "labels must not be empty"),
    "half a bin": (CALIBRATION, ([0], [[0.5, 0.5]], 1.5), "a whole number, got 1.5"),
    "array": (
        uncertainty.log_score,
        (DRAWS, TARGETS),
        r"ed.predict .*got ndarray of shape",
    ),
    "means": (uncertainty.variance_parts, (DRAWS,), r"ed.Normal.*, got ndarray of shape"),
    "list": (
        uncertainty.entropy_parts,
        ([DRAWS],),
        r"a random variable .*, got list",
    ),
    "numbers": (
        uncertainty.mutual_information,
        (DRAWS,),
        r"between 0 and 1 .*logits",
    ),
    "row": (
        uncertainty.mean_probabilities,
        (TARGETS,),
        r"\[S, ..., classes\].*\(40,\)",
    ),
    "scalar": (uncertainty.log_score, (ed.Normal(0.0, 1.0), 0.0), "must be draws of the"),
    "wide targets": (uncertainty.log_score, (NORMAL, [0.0] * 3), r"\(4,\), got \(3,\)"),
    "class": (uncertainty.log_score, (CATEGORICAL, 2), "targets .* from 0 to 1, got 2"),
    "no coin": (uncertainty.log_score, (ed.Bernoulli([0.0]), 2), "from 0 to 1, got 2"),
    "samples": (uncertainty.entropy_parts, (NORMAL, 0), "num_samples .* at least 1, got 0"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_scored_is_one_line(kind):
    function, given, message = REFUSED[kind]
    with pytest.raises(ValueError, match=message) as caught:
        function(*given)
    assert len(str(caught.value).splitlines()) == 1


def test_values_are_checked_in_traced_functions_too():
    traced = tf.function(uncertainty.brier_score)
    np.testing.assert_allclose(traced([0], [[0.5, 0.5]]), [0.5])
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="labels must be whole numbers"
    ):
        traced([2], [[0.5, 0.5]])
    jit = tf.function(CRPS, jit_compile=True)
    np.testing.assert_allclose(jit(DRAWS, TARGETS), crps(DRAWS, TARGETS), rtol=1e-6)

import copy
import time
import warnings

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed


def images(size=8, count=5):
    return tf.random.stateless_normal([count, size, size, 3], [0, 1]).numpy()


def conv_net():
    return ed.models.build_conv_net(4, filters=3), images()


def resnet():
    convolution = ed.layers.Conv2DFlipout
    model = ed.models.build_bayesian_resnet50(
        [16, 16, 3], 4, convolution, width=4, blocks=[1, 1]
    )
    return model, images(16)


def lstm():
    model = ed.models.build_bayesian_lstm(3, units=4)
    return model, tf.random.stateless_normal([5, 6, 2], [0, 1]).numpy()


def mobile_net():
    plain = tf.keras.applications.MobileNetV2([32, 32, 3], 0.35, weights=None, classes=3)
    return ed.to_bayesian(plain), images(32)


def encoder():
    model, _ = ed.models.build_vae([16, 16, 3], 4, 4, 2, num_values=8)
    model.build([None, 16, 16, 3])
    return ed.to_bayesian(model), images(16)


def dense_on_sequences():
    layer = ed.layers.DenseFlipout(4, input_shape=[7, 3])
    return tf.keras.Sequential([layer]), np.ones([3, 7, 3], np.float32)  # N == S


def two_inputs():
    first, second = tf.keras.Input([3], name="first"), tf.keras.Input([2], name="second")
    hidden = ed.layers.DenseReparameterization(4)(first)
    outputs = {"sum": tf.keras.layers.Dense(2)(second) + hidden[:, :2], "hidden": hidden}
    model = tf.keras.Model({"first": first, "second": second}, outputs)
    return model, {"first": np.ones([5, 3]), "second": np.ones([5, 2])}


MODELS = [conv_net, lstm, encoder, dense_on_sequences, two_inputs]
MODELS += [pytest.param(each, marks=pytest.mark.slow) for each in (resnet, mobile_net)]


def means(outputs):
    """Values; of random variables, which a model draws anew at every call, the means."""
    is_variable = isinstance(outputs, ed.RandomVariable)
    return outputs.mean() if is_variable else outputs


@pytest.mark.parametrize("make", MODELS)
def test_prediction_is_that_of_a_loop_over_draws(make):
    model, inputs = make()
    model(inputs)
    draws = ed.sample_weights(model, [3], seed=1)
    each = []
    for s in range(3):
        with ed.hold(model, {name: draw[s] for name, draw in draws.items()}):
            each.append(means(model(inputs, training=False)))
    expected = tf.nest.map_structure(lambda *xs: np.stack(xs), *each)
    for given in (draws, 3):
        found = means(ed.predict(model, inputs, given, seed=1, batch_size=2))
        assert tf.nest.is_nested(found) == tf.nest.is_nested(expected)
        for one, other in zip(*map(tf.nest.flatten, (found, expected)), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_one_draw_has_no_axis_of_draws():
    model, inputs = dense_on_sequences()
    weights = ed.mean_weights(model)
    with ed.hold(model, weights):
        expected = model(inputs)
    np.testing.assert_allclose(ed.predict(model, inputs, weights), expected, rtol=1e-6)


def test_random_outputs_keep_their_distribution():
    model, inputs = encoder()
    code = ed.predict(model, inputs, 3, batch_size=2)
    assert isinstance(code, ed.RandomVariable)
    assert code.shape == [3, 5, 1, 1, 4] == code.stddev().shape
    assert code.log_prob(code.value).shape == [3, 5, 1, 1, 4]


def test_a_dataset_is_a_source_of_inputs():
    model, inputs = conv_net()
    dataset = tf.data.Dataset.from_tensor_slices((inputs, np.arange(5))).batch(2)
    model(inputs)
    np.testing.assert_allclose(
        ed.predict(model, dataset, 2, seed=1),
        ed.predict(model, inputs, 2, seed=1),
        atol=1e-6,
    )


def test_batches_of_a_dataset_may_have_a_constant_size():
    model, inputs = conv_net()
    model(inputs)
    dataset = tf.data.Dataset.from_tensor_slices(inputs).batch(2, drop_remainder=True)
    np.testing.assert_allclose(
        ed.predict(model, dataset, 2, seed=1),
        ed.predict(model, inputs[:4], 2, seed=1),
        atol=1e-6,
    )


JOINT = {
    "sparse": lambda: ed.layers.SparseGaussianProcess(1, num_inducing=4),
    "random features": lambda: ed.layers.RandomFeatureGaussianProcess(1, num_inducing=8),
}


@pytest.mark.parametrize("count", [5, 6])
@pytest.mark.parametrize("kind", JOINT)
def test_outputs_that_are_joint_over_a_batch_need_one_batch(kind, count):
    layer, inputs = JOINT[kind](), np.linspace(0.0, 1.0, count)[:, np.newaxis]
    layer(inputs)
    with pytest.raises(ValueError, match=r"joint over the examples.*batch_size=N"):
        ed.predict(layer, inputs, 2, batch_size=3)
    found = ed.predict(layer, inputs, 2, batch_size=count)
    if kind == "sparse":
        assert found.covariance().shape == [2, 1, count, count]
    else:
        assert found[1].shape == (2, count, count)


def test_members_of_an_ensemble_share_batches_of_sequences_of_unknown_length():
    layer = ed.layers.DenseBatchEnsemble(4, ensemble_size=2)
    inputs = tf.random.stateless_normal([8, 6, 3], [0, 1])
    layer(inputs)
    spec = tf.TensorSpec([None, 3])
    dataset = tf.data.Dataset.from_generator(lambda: inputs, output_signature=spec)
    found = ed.predict(layer, dataset.batch(4), 2)
    expected = ed.predict(layer, inputs, 2, batch_size=4)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_length_of_sequences_may_be_unknown_and_that_of_a_batch():
    model = tf.keras.Sequential([ed.layers.DenseFlipout(4, input_shape=[None, 3])])
    inputs = tf.random.stateless_normal([6, 2, 3], [0, 1])
    spec = tf.TensorSpec([None, 3])
    dataset = tf.data.Dataset.from_generator(lambda: inputs, output_signature=spec)
    np.testing.assert_allclose(
        ed.predict(model, dataset.batch(2), 3, seed=1),
        ed.predict(model, inputs, 3, seed=1),
        atol=1e-6,
    )


def test_a_dataset_that_repeats_for_ever_is_an_error():
    model, inputs = dense_on_sequences()
    dataset = tf.data.Dataset.from_tensor_slices(inputs).batch(2).repeat()
    with pytest.raises(ValueError, match=r"repeats for ever.*dataset\.take"):
        ed.predict(model, dataset, 2)


def test_model_that_is_not_built_is_built():
    model = tf.keras.Sequential([ed.layers.DenseFlipout(4)])
    assert ed.predict(model, np.ones([5, 3]), 2).shape == (2, 5, 4)


def test_progress_is_shown(capsys):
    model, inputs = dense_on_sequences()
    ed.predict(model, inputs, 4, batch_size=2, verbose=1)
    assert "8/8" in capsys.readouterr().out
    ed.predict(model, inputs, 4, batch_size=2)  # short
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("draws", "message"),
    [
        (0, "draws must be a whole number above 0, got 0"),
        ("a", "draws must be a whole number above 0, got 'a'"),
        ({}, "is missing"),
        ("signs", "draws must not have signs"),
        ("uneven", "must have the same number of draws"),
    ],
)
def test_wrong_draws_are_an_error(draws, message):
    model = tf.keras.Sequential(
        [ed.layers.DenseFlipout(3, input_shape=[3], name=name) for name in "ab"]
    )
    if draws == "signs":
        draws = ed.sample_weights(model, [2], batch_size=5)
    if draws == "uneven":
        draws = ed.sample_weights(model, [2])
        draws["b/kernel"] = draws["b/kernel"][:1]
    with pytest.raises(ValueError, match=message):
        ed.predict(model, np.ones([5, 3]), draws)


@pytest.mark.parametrize("size", [0, -1, 2.5, None])
def test_a_batch_size_is_a_whole_number_above_zero(size):
    model, inputs = dense_on_sequences()
    with pytest.raises(ValueError, match="batch_size must be a whole number above 0, got"):
        ed.predict(model, inputs, 2, batch_size=size)


def test_whole_numbers_may_be_floats():
    model, inputs = dense_on_sequences()
    found = ed.predict(model, inputs, 2.0, seed=1, batch_size=2.0)
    np.testing.assert_array_equal(found, ed.predict(model, inputs, 2, seed=1, batch_size=2))


def test_stateful_layers_are_refused():
    layer = tf.keras.layers.LSTM(3, stateful=True, batch_input_shape=[4, 5, 2])
    model = tf.keras.Sequential([layer, ed.layers.DenseReparameterization(2)])
    with pytest.raises(ValueError, match="layer 'lstm.*' is stateful.*stateful=False"):
        ed.predict(model, np.ones([8, 5, 2]), 2, batch_size=4)


class OfFour(tf.keras.Model):
    """One output for all examples, and maybe one whose number of them is written down."""

    def __init__(self, is_fixed):
        super().__init__()
        self.dense, self.is_fixed = ed.layers.DenseReparameterization(2), is_fixed

    def call(self, inputs):
        outputs = self.dense(inputs)
        return tf.reshape(outputs, [4, 2]) if self.is_fixed else (outputs, tf.ones([4]))


def test_an_output_as_long_as_a_batch_is_of_examples_or_not():
    outputs, shared = ed.predict(OfFour(False), np.ones([8, 3]), 2, batch_size=4)
    assert (outputs.shape, shared.shape) == ((2, 8, 2), (2, 4))
    with pytest.raises(tf.errors.InvalidArgumentError, match="reshape"):
        ed.predict(OfFour(True), np.ones([8, 3]), 2, batch_size=4)


def test_no_inputs_are_an_error():
    model, _ = dense_on_sequences()
    with pytest.raises(ValueError, match="inputs have no examples"):
        ed.predict(model, np.ones([0, 7, 3]), 2)


def test_twenty_draws_cost_at_most_twenty_times_one():
    model, inputs = conv_net()
    model(inputs)

    def seconds(draws):
        start = time.perf_counter()
        ed.predict(model, inputs, draws)
        return time.perf_counter() - start

    assert min(seconds(20) for _ in range(3)) < 20 * min(seconds(1) for _ in range(3))


def test_draws_that_cannot_differ_are_told():
    plain = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=[3])])
    with pytest.warns(UserWarning, match="all 3 draws predict the same; ed.posteriors"):
        ed.predict(plain, tf.ones([4, 3]), 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ed.predict(plain, tf.ones([4, 3]), 1)


class Batches(tf.keras.utils.Sequence):
    def __init__(self, inputs, *targets):
        self.inputs, self.targets = inputs, targets

    def __len__(self):
        return 3

    def __getitem__(self, index):
        part = slice(2 * index, 2 * index + 2)
        inputs = tf.nest.map_structure(lambda x: x[part], self.inputs)
        return (inputs, *(x[part] for x in self.targets)) if self.targets else inputs


TARGETS, WEIGHTS = np.arange(5), np.ones(5)


@pytest.mark.parametrize(
    ("make", "kind", "targets"),
    [
        (conv_net, "sequence", []),
        (conv_net, "sequence", [TARGETS, WEIGHTS]),
        (two_inputs, "sequence", [TARGETS]),
        (two_inputs, "generator", []),
        (two_inputs, "generator", [TARGETS, WEIGHTS]),
        (conv_net, "iterator", [TARGETS]),
        (two_inputs, "iterator", []),
    ],
)
def test_batches_are_a_source_of_inputs(make, kind, targets):
    model, inputs = make()
    batches = Batches(inputs, *targets)
    model(tf.nest.map_structure(tf.constant, inputs))
    given = {
        "sequence": batches,
        "generator": (batches[index] for index in range(3)),
        "iterator": iter([batches[index] for index in range(3)]),
    }[kind]
    found = ed.predict(model, given, 2, seed=1)
    expected = ed.predict(model, inputs, 2, seed=1, batch_size=2)
    for one, other in zip(*map(tf.nest.flatten, (found, expected)), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_batches_may_differ_in_length():
    model = tf.keras.Sequential(
        [tf.keras.layers.GlobalMaxPooling1D(), ed.layers.DenseFlipout(4, name="out")]
    )
    parts = [tf.random.stateless_normal([2, length, 3], [0, length]) for length in (5, 7)]
    found = ed.predict(model, iter(parts), 3, seed=1)
    assert found.shape == (3, 4, 4)
    np.testing.assert_allclose(found[:, 2:], ed.predict(model, parts[1], 3, seed=1))


def test_a_generator_of_nothing_or_of_examples_is_an_error():
    model, _ = dense_on_sequences()
    with pytest.raises(ValueError, match="inputs have no examples"):
        ed.predict(model, iter([]), 2)
    with pytest.raises(ValueError, match=r"must be batches \[N, ...\], got one of shape"):
        ed.predict(model, iter([1.0, 2.0]), 2)


class Counted(tf.keras.Model):
    """A model that tells how often it is traced."""

    def __init__(self, calls):
        super().__init__()
        self.dense, self.count = ed.layers.DenseFlipout(2, name="out"), calls.append

    def call(self, inputs):
        self.count(inputs.shape)
        return self.dense(inputs)


def test_a_model_is_traced_once():
    calls = []
    model = Counted(calls)
    inputs = np.ones([5, 3], np.float32)
    model(inputs)
    del calls[:]
    first = ed.predict(model, inputs, 2, seed=1)
    for draws, count in [(2, 5), (7, 1), (3, 4)]:
        assert ed.predict(model, inputs[:count], draws).shape == (draws, count, 2)
    assert len(calls) == 1
    np.testing.assert_array_equal(ed.predict(model, inputs, 2, seed=1), first)
    model.dense.activation = tf.nn.relu
    np.testing.assert_allclose(ed.predict(model, inputs, 2, seed=1), np.maximum(first, 0.0))
    assert len(calls) == 2


def test_kept_functions_see_weights_as_they_are_and_no_tracer_of_before():
    model, inputs = dense_on_sequences()
    layer = model.layers[0]
    ed.predict(model, inputs, 2)
    layer.bias.assign_add(tf.ones([4]))
    found = ed.predict(model, inputs, ed.mean_weights(model))
    np.testing.assert_allclose(found, model_at_mean(model, inputs), rtol=1e-6)
    with ed.condition(**{f"{layer.name}/kernel": tf.zeros([3, 4])}):
        ed.predict(model, inputs, 2)
    assert np.any(ed.predict(model, inputs, 2) != 1.0)


def model_at_mean(model, inputs):
    with ed.hold(model, ed.mean_weights(model)):
        return model(inputs)


def test_a_model_that_has_predicted_is_copied_and_saved(tmp_path):
    model, inputs = dense_on_sequences()
    expected = ed.predict(model, inputs, 2, seed=1)
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    twin = copy.deepcopy(model.layers[0])
    for other in (loaded, twin):
        np.testing.assert_allclose(ed.predict(other, inputs, 2, seed=1), expected)
    tf.saved_model.save(model, str(tmp_path / "folder"))
    assert not [name for name in model._trackable_children() if "bayes_rl" in name]

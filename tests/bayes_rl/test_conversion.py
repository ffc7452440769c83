import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed
from bayes_rl.conversion import to_bayesian

keras = tf.keras
layers = tf.keras.layers
ESTIMATORS = ["reparameterization", "flipout"]
IMAGE, SEQUENCE, WORDS = [6, 6, 3], [5, 3], [5]
CASES = {
    "Dense": (lambda: layers.Dense(4, "relu", kernel_regularizer="l2"), [3]),
    "Conv1D": (lambda: layers.Conv1D(4, 3, padding="causal"), SEQUENCE),
    "Conv2D": (lambda: layers.Conv2D(4, 3, strides=2), IMAGE),
    "Conv3D": (lambda: layers.Conv3D(4, 2), [4, 4, 4, 2]),
    "Conv1DTranspose": (lambda: layers.Conv1DTranspose(4, 3, 2), SEQUENCE),
    "Conv2DTranspose": (lambda: layers.Conv2DTranspose(4, 3, 2), IMAGE),
    "Conv3DTranspose": (lambda: layers.Conv3DTranspose(4, 2), [2, 2, 2, 2]),
    "DepthwiseConv1D": (lambda: layers.DepthwiseConv1D(3), SEQUENCE),
    "DepthwiseConv2D": (lambda: layers.DepthwiseConv2D(3), IMAGE),
    "Embedding": (lambda: layers.Embedding(7, 4), WORDS),
    "LSTM": (lambda: layers.LSTM(4, return_sequences=True), SEQUENCE),
    "GRU": (lambda: layers.GRU(4), SEQUENCE),
    "RNN": (lambda: layers.RNN([layers.LSTMCell(4), layers.GRUCell(2)]), SEQUENCE),
    "Bidirectional": (lambda: layers.Bidirectional(layers.LSTM(4)), SEQUENCE),
    "TimeDistributed": (lambda: layers.TimeDistributed(layers.Dense(4)), SEQUENCE),
}


def inputs_of(shape, count=2):
    generator = np.random.default_rng(0)
    if shape is WORDS:
        return generator.integers(0, 7, size=[count, *shape])
    return generator.normal(size=[count, *shape]).astype(np.float32)


def with_random_weights(model):
    generator = np.random.default_rng(1)
    model.set_weights([generator.normal(0, 0.3, w.shape) for w in model.get_weights()])
    return model


@pytest.mark.parametrize(
    ("name", "estimator"),
    [
        *((name, "flipout") for name in CASES),
        *((name, "reparameterization") for name in ("Dense", "Conv2D", "Embedding", "RNN")),
    ],
)
def test_mean_function_is_the_trained_one(name, estimator):
    make, shape = CASES[name]
    layer = make()
    model = with_random_weights(keras.Sequential([keras.Input(shape), layer]))
    bayesian = to_bayesian(model, estimator)
    inputs = inputs_of(shape)
    posteriors = ed.posteriors(bayesian)
    assert len(posteriors) == {"LSTM": 2, "GRU": 2, "RNN": 4, "Bidirectional": 4}.get(
        name, 1
    )
    assert bayesian.layers[0].name == layer.name
    with ed.hold(bayesian, ed.mean_weights(bayesian)):
        outputs = bayesian(inputs)
    np.testing.assert_allclose(outputs, model(inputs), rtol=1e-4, atol=1e-5)
    assert not np.allclose(bayesian(inputs), bayesian(inputs))
    assert len(bayesian.losses) == len(posteriors)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_attention(estimator):
    query, value = keras.Input(SEQUENCE), keras.Input([7, 2])
    outputs = layers.MultiHeadAttention(2, 4)(query, value)
    model = with_random_weights(keras.Model([query, value], outputs))
    bayesian = to_bayesian(model, estimator)
    assert len(ed.posteriors(bayesian)) == 4
    inputs = [inputs_of(SEQUENCE), inputs_of([7, 2])]
    with ed.hold(bayesian, ed.mean_weights(bayesian)):
        np.testing.assert_allclose(bayesian(inputs), model(inputs), rtol=1e-4, atol=1e-5)


def two_branches():
    inputs = keras.Input([3])
    shared = layers.Dense(4, "tanh", name="shared")
    inner = keras.Sequential([keras.Input([4]), layers.Dense(2, name="inner")], "nested")
    hidden = layers.BatchNormalization(name="normalization")(shared(inputs))
    outputs = inner(hidden) + inner(layers.Dropout(0.5)(shared(-inputs)))
    return with_random_weights(keras.Model(inputs, outputs))


def test_shared_and_nested_layers_stay_so():
    model = two_branches()
    bayesian = to_bayesian(model)
    assert sorted(ed.posteriors(bayesian)) == ["inner/kernel", "shared/kernel"]
    assert not {id(v) for v in model.variables} & {id(v) for v in bayesian.variables}
    inputs = inputs_of([3])
    with ed.hold(bayesian, ed.mean_weights(bayesian)):
        np.testing.assert_allclose(bayesian(inputs), model(inputs), rtol=1e-5, atol=1e-6)


def test_only_selected_layers_become_bayesian():
    bayesian = to_bayesian(two_branches(), select=lambda layer: layer.name == "inner")
    assert sorted(ed.posteriors(bayesian)) == ["inner/kernel"]
    assert type(bayesian.get_layer("shared")) is layers.Dense


def test_options_are_those_of_each_layer():
    regularizer = ed.regularizers.NormalKLDivergence(stddev=0.5, scale_factor=0.1)
    initializer = ed.initializers.TrainableNormalFixedStddev(0.5)
    bayesian = to_bayesian(two_branches(), initializer=initializer, regularizer=regularizer)
    mean = bayesian.get_layer("shared").kernel.mean()
    # KL(N(m, 1/2) || N(0, 1/2)) = 2 m^2
    np.testing.assert_allclose(
        ed.kl_divergences(bayesian)["shared/kernel"], 0.2 * np.sum(mean**2), rtol=1e-5
    )


def test_one_layer():
    layer = layers.Conv2D(4, 3)
    layer(inputs_of(IMAGE))
    twin = to_bayesian(layer, "flipout")
    np.testing.assert_array_equal(twin.kernel.mean(), layer.kernel)


def test_saved_twin_is_the_twin(tmp_path):
    bayesian = to_bayesian(two_branches(), "flipout")
    ed.start_at_means(bayesian, delta=0.2)
    bayesian.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    for ours, theirs in zip(bayesian.losses, loaded.losses, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


class Subclass(keras.Model):
    def call(self, inputs):
        return inputs


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (layers.Dense(4, name="a"), {}, "'a' must be built first"),
        (layers.Dense(4), {"estimator": "flip"}, "one of .* got 'flip'"),
    ],
)
def test_wrong_arguments_are_errors(model, options, message):
    with pytest.raises(ValueError, match=message):
        to_bayesian(model, **options)


def test_subclassed_models_are_an_error():
    model = Subclass(name="mine")
    model(inputs_of([3]))
    with pytest.raises(ValueError, match="model 'mine' is a subclass of Model"):
        to_bayesian(model)


def shared_in_sub_models():
    dense, inputs = layers.Dense(3, name="dense"), keras.Input([3])
    models = [keras.Sequential([dense], name) for name in ("first", "second")]
    return keras.Model(inputs, models[1](models[0](inputs)))


def shared_with_a_wrapper():
    dense, inputs = layers.Dense(3, name="dense"), keras.Input([4, 3])
    return keras.Model(inputs, dense(layers.TimeDistributed(dense)(inputs)))


@pytest.mark.parametrize("make", [shared_in_sub_models, shared_with_a_wrapper])
def test_layers_shared_by_parts_of_a_model_stay_shared(make):
    model = with_random_weights(make())
    bayesian = to_bayesian(model)
    assert list(ed.posteriors(bayesian)) == ["dense/kernel"]
    inputs = inputs_of(model.input_shape[1:])
    with ed.hold(bayesian, ed.mean_weights(bayesian)):
        np.testing.assert_allclose(bayesian(inputs), model(inputs), rtol=1e-4, atol=1e-5)


@keras.saving.register_keras_serializable("test")
class Block(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = layers.Dense(3)

    def build(self, shape):
        self.dense.build(shape)
        super().build(shape)

    def call(self, inputs):
        return self.dense(inputs)


LEFT = {
    "SpectralNormalization": lambda: layers.SpectralNormalization(layers.Dense(3)),
    "SeparableConv1D": lambda: layers.SeparableConv1D(3, 2),
    "SimpleRNN": lambda: layers.SimpleRNN(3, return_sequences=True),
    "Block": Block,
}


@pytest.mark.parametrize("kind", LEFT)
def test_layers_that_stay_deterministic_are_listed(kind):
    part = LEFT[kind]()
    model = keras.Sequential([keras.Input([5, 3]), part, layers.Dense(2)])
    with_random_weights(model)
    with pytest.warns(UserWarning, match=f"deterministic: '{part.name}' \\({kind}\\)$"):
        bayesian = to_bayesian(model)
    assert len(ed.posteriors(bayesian)) == 1
    inputs = inputs_of([5, 3])
    with ed.hold(bayesian, ed.mean_weights(bayesian)):
        np.testing.assert_allclose(bayesian(inputs), model(inputs), rtol=1e-4, atol=1e-5)


CONV_LSTM = {
    "ConvLSTM1D": (lambda: layers.ConvLSTM1D(2, 2), [3, 4, 2]),
    "ConvLSTM2D": (lambda: layers.ConvLSTM2D(2, 2), [3, 4, 4, 2]),
    "ConvLSTM3D": (lambda: layers.ConvLSTM3D(2, 2), [3, 4, 4, 4, 2]),
    "Bidirectional": (lambda: layers.Bidirectional(layers.ConvLSTM1D(2, 2)), [3, 4, 2]),
    "both ways": (lambda: layers.Bidirectional(layers.SimpleRNN(2)), [3, 2]),
    "TimeDistributed": (
        lambda: layers.TimeDistributed(layers.ConvLSTM1D(2, 2)),
        [2, 3, 4, 2],
    ),
}


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(
            kind, marks=[pytest.mark.slow] * (kind in ("ConvLSTM2D", "ConvLSTM3D"))
        )
        for kind in CONV_LSTM
    ],
)
def test_layers_that_make_their_cell_are_copied_and_listed(kind):
    make, shape = CONV_LSTM[kind]
    model = keras.Sequential([keras.Input(shape), make(), layers.Dense(2)])
    with_random_weights(model)
    with pytest.warns(UserWarning, match=r"deterministic: '.*' \((ConvLSTM|SimpleRNN)"):
        bayesian = to_bayesian(model)
    inputs = inputs_of(shape)
    with ed.hold(bayesian, ed.mean_weights(bayesian)):
        np.testing.assert_allclose(bayesian(inputs), model(inputs), rtol=1e-4, atol=1e-5)


def test_bayesian_layers_are_not_listed_as_deterministic(recwarn):
    parts = [ed.layers.DenseFlipout(3, name="first"), layers.Dense(2)]
    bayesian = to_bayesian(keras.Sequential([keras.Input([3]), *parts]))
    assert len(ed.posteriors(bayesian)) == 2
    assert not [w for w in recwarn if "deterministic" in str(w.message)]


def test_layers_without_kernels_and_those_not_selected_are_not_listed(recwarn):
    parts = [layers.Dense(3), layers.BatchNormalization(), layers.LSTM(2)]
    model = keras.Sequential([keras.Input([5, 3]), *parts])
    to_bayesian(model, select=lambda layer: not isinstance(layer, layers.Dense))
    assert not [w for w in recwarn if "deterministic" in str(w.message)]


@pytest.mark.parametrize("kind", ["log_normal", "half_cauchy", "mixture_of_deltas"])
def test_posteriors_that_cannot_have_the_weights_as_means_are_refused(kind):
    model = with_random_weights(keras.Sequential([keras.Input([3]), layers.Dense(2)]))
    with pytest.raises(ValueError, match="cannot have the weights .* as its mean; use"):
        to_bayesian(model, initializer=f"trainable_{kind}", regularizer=None)


@pytest.mark.parametrize("name", ["TimeDistributed", "Bidirectional", "LSTM", "Conv2D"])
def test_converted_model_is_loaded_from_a_file(name, tmp_path):
    make, shape = CASES[name]
    model = with_random_weights(keras.Sequential([keras.Input(shape), make()]))
    bayesian = to_bayesian(model)
    bayesian.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    inputs = inputs_of(shape)
    with ed.hold(loaded, ed.mean_weights(bayesian)):
        np.testing.assert_allclose(loaded(inputs), model(inputs), rtol=1e-4, atol=1e-5)

"""Ten kinds of Keras models go through all posteriors, or are told what to do."""

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

pytestmark = pytest.mark.slow
keras = tf.keras.layers
COUNT, CLASSES = 12, 3
LABELS = np.arange(COUNT) % CLASSES


def numbers(*shape):
    return tf.random.stateless_normal([COUNT, *shape], [0, 1]).numpy()


def words():
    return tf.random.stateless_uniform([COUNT, 5], [0, 1], 0, 7, tf.int32).numpy()


def sequential():
    return tf.keras.Sequential([keras.Dense(4, "tanh", input_shape=[3]), keras.Dense(3)])


def functional():
    one, other = tf.keras.Input([3], name="one"), tf.keras.Input([3], name="other")
    hidden = keras.Concatenate()([keras.Dense(4, "relu")(one), other])
    return tf.keras.Model({"one": one, "other": other}, keras.Dense(3)(hidden))


class Subclass(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = [keras.Dense(4, "tanh"), keras.Dense(4, "tanh")]
        self.last = keras.Dense(CLASSES)

    def call(self, inputs):
        for layer in self.hidden:
            inputs = layer(inputs)
        return self.last(inputs)


def convolutional():
    return tf.keras.Sequential(
        [
            *(keras.Conv2D(4, 3, input_shape=[6, 6, 2]), keras.BatchNormalization()),
            *(keras.ReLU(), keras.MaxPooling2D(), keras.Flatten(), keras.Dense(3)),
        ]
    )


def recurrent():
    return tf.keras.Sequential([keras.LSTM(4, input_shape=[5, 2]), keras.Dense(3)])


def embedding():
    mean = keras.GlobalAveragePooling1D()
    return tf.keras.Sequential(
        [keras.Embedding(7, 4, input_length=5), mean, keras.Dense(3)]
    )


def attention():
    inputs = tf.keras.Input([5, 4])
    hidden = inputs + keras.MultiHeadAttention(2, 2)(inputs, inputs)
    hidden = keras.LayerNormalization()(hidden)
    return tf.keras.Model(inputs, keras.Dense(3)(keras.Flatten()(hidden)))


def two_outputs():
    inputs = tf.keras.Input([3])
    hidden = keras.Dense(4, "tanh")(inputs)
    return tf.keras.Model(inputs, [keras.Dense(3)(hidden), keras.Dense(3)(hidden)])


def shared():
    inputs, layer = tf.keras.Input([3]), keras.Dense(3, "tanh")
    return tf.keras.Model(inputs, keras.Dense(3)(layer(layer(inputs))))


def mixed():
    options = {"dtype": "mixed_bfloat16"}
    first = keras.Dense(4, "tanh", input_shape=[3], **options)
    return tf.keras.Sequential([first, keras.Dense(3, **options)])


MODELS = {
    sequential: lambda: numbers(3),
    functional: lambda: {"one": numbers(3), "other": numbers(3)},
    Subclass: lambda: numbers(3),
    convolutional: lambda: numbers(6, 6, 2),
    recurrent: lambda: numbers(5, 2),
    embedding: words,
    attention: lambda: numbers(5, 4),
    two_outputs: lambda: numbers(3),
    shared: lambda: numbers(3),
    mixed: lambda: numbers(3),
}


def nats(labels, logits):
    logits = tf.cast(logits, tf.float32)
    return tf.keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True)


def compiled(make, optimizer="sgd"):
    model = make()
    model.compile(optimizer, nats)
    return model


@pytest.fixture(params=MODELS, ids=lambda make: make.__name__)
def case(request):
    """A function to new models, inputs, and targets as `fit` takes them."""
    tf.keras.utils.set_random_seed(1)
    targets = [LABELS, LABELS] if request.param is two_outputs else LABELS
    return request.param, MODELS[request.param](), targets


def check(posterior, inputs, path, data=None):
    """A posterior draws, predicts, is held, and is the same after saving."""
    model = posterior.model
    draws = posterior.sample([2], seed=1)
    predicted = ed.predict(model, inputs, draws, batch_size=5, verbose=0)
    for number, outputs in enumerate(tf.nest.flatten(predicted)):
        assert outputs.shape == (2, COUNT, CLASSES), number
        assert np.all(np.isfinite(outputs))
    with ed.hold(model, {name: value[0] for name, value in draws.items()}):
        first = tf.nest.flatten(model(inputs, training=False))[0]
    tolerance = 0.05 if first.dtype == tf.bfloat16 else 1e-4
    found = np.asarray(tf.nest.flatten(predicted)[0][0], np.float32)
    np.testing.assert_allclose(found, tf.cast(first, tf.float32), tolerance, tolerance)
    posterior.save(path / "posterior.npz")
    again = ed.inference.load(path / "posterior.npz", model, data)
    one, other = (x.predict(inputs, 2, 1, verbose=0) for x in (posterior, again))
    for a, b in zip(*map(tf.nest.flatten, (one, other)), strict=True):
        np.testing.assert_allclose(
            np.asarray(a, np.float32), np.asarray(b, np.float32), 1e-4, 1e-4
        )


def test_ivon(case, tmp_path):
    make, inputs, targets = case
    optimizer = ed.optimizers.IVON(0.01, COUNT, weight_decay=0.1, seed=1)
    model = compiled(make, optimizer)
    model.fit(inputs, targets, batch_size=6, verbose=0)
    check(ed.inference.posterior(model), inputs, tmp_path)


@pytest.mark.parametrize(
    ("subset", "structure"),
    [("last_layer", "full"), ("all", "kronecker"), ("all", "diagonal")],
)
def test_laplace(case, subset, structure, tmp_path):
    make, inputs, _ = case
    model = compiled(make)
    model(inputs)
    arguments = (model, (inputs, LABELS), "categorical", subset, structure)
    if make is two_outputs:
        with pytest.raises(
            ValueError, match=r"one output, got list; make a tf.keras.Model"
        ):
            ed.inference.laplace(*arguments)
        return
    check(ed.inference.laplace(*arguments, batch_size=6), inputs, tmp_path)


def test_swag(case, tmp_path):
    make, inputs, targets = case
    targets = tuple(targets) if isinstance(targets, list) else targets
    model = compiled(make)
    model(inputs)
    data = inputs, targets
    posterior = ed.inference.swag(model, data, epochs=2, rank=2, batch_size=6, seed=1)
    posterior.sample(seed=1)
    # Batches of another order have other statistics.
    posterior.data = again = tf.data.Dataset.from_tensor_slices(data).batch(6)
    check(posterior, inputs, tmp_path, again)


def test_ensemble(case, tmp_path):
    make, inputs, targets = case
    options = {"batch_size": 6, "verbose": 0}
    posterior = ed.inference.ensemble(lambda: compiled(make), 2, inputs, targets, **options)
    check(posterior, inputs, tmp_path)

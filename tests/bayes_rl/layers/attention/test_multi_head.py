import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

LAYERS = [
    ed.layers.MultiHeadAttentionReparameterization,
    ed.layers.MultiHeadAttentionFlipout,
]
HEADS, KEY_DIM, VALUE_DIM = 2, 3, 4
QUERY = tf.random.stateless_normal([5, 6, 3], [0, 1])
VALUE = tf.random.stateless_normal([5, 7, 2], [0, 2])
KEY = tf.random.stateless_normal([5, 7, 4], [0, 3])


def wide_posterior():
    return ed.initializers.TrainableNormal(
        mean_initializer="random_normal", stddev_initializer="zeros"
    )


def make(layer_class, *inputs, **kwargs):
    layer = layer_class(
        HEADS,
        KEY_DIM,
        value_dim=VALUE_DIM,
        kernel_initializer=wide_posterior(),
        name="attention",
        **kwargs,
    )
    layer(*inputs)
    return layer


@pytest.mark.parametrize("shared", ["he_normal", wide_posterior()])
def test_projections_start_at_different_values(shared):
    layer = ed.layers.MultiHeadAttentionReparameterization(
        HEADS, KEY_DIM, kernel_initializer=shared, kernel_regularizer=None
    )
    layer(QUERY, QUERY)
    kernels = [w.numpy() for w in layer.weights if "kernel" in w.name and w.shape.rank == 2]
    kernels = [x for x in kernels if x.shape == (3, HEADS * KEY_DIM) and np.ptp(x) > 0]
    assert len(kernels) == 3
    assert len({x.tobytes() for x in kernels}) == 3


def keras_twin(layer, *inputs, **kwargs):
    twin = tf.keras.layers.MultiHeadAttention(HEADS, KEY_DIM, value_dim=VALUE_DIM, **kwargs)
    twin(*inputs)
    means = ed.mean_weights(layer)
    for name in ("query", "key", "value", "attention_output"):
        part = getattr(twin, "_output_dense" if "output" in name else f"_{name}_dense")
        kernel = means[f"attention/{name}/kernel"].numpy().reshape(part.kernel.shape)
        part.set_weights([kernel, *part.get_weights()[1:]])
    return twin


@pytest.mark.parametrize(
    "call",
    [
        {},
        {"use_causal_mask": True},
        {"attention_mask": np.tri(6, 7, 2, bool)[np.newaxis].repeat(5, 0)},
        {"return_attention_scores": True},
    ],
)
@pytest.mark.parametrize("layer_class", LAYERS)
def test_equals_keras_at_the_mean(layer_class, call):
    inputs = (QUERY, VALUE, KEY)
    layer = make(layer_class, *inputs)
    with ed.hold(layer, ed.mean_weights(layer)):
        ours = layer(*inputs, **call)
    expected = keras_twin(layer, *inputs)(*inputs, **call)
    for one, other in zip(tf.nest.flatten(ours), tf.nest.flatten(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "options",
    [
        {"output_shape": 5},
        {"output_shape": (2, 3)},
        {"attention_axes": (2,)},
        {"use_bias": False, "attention_axes": 1},
    ],
)
def test_equals_keras_in_every_shape(options):
    inputs = tf.random.stateless_normal([2, 3, 4, 6], [0, 1])
    layer = make(LAYERS[0], inputs, inputs, **options)
    expected = keras_twin(layer, inputs, inputs, **options)(inputs, inputs)
    with ed.hold(layer, ed.mean_weights(layer)):
        np.testing.assert_allclose(layer(inputs, inputs), expected, rtol=1e-5, atol=1e-6)


def test_keras_masks_are_used():
    words = tf.constant([[1, 2, 3, 0, 0]] * 2)
    embedded = tf.keras.layers.Embedding(4, 6, mask_zero=True)(words)
    layer = make(LAYERS[0], embedded, embedded)
    with ed.hold(layer, ed.mean_weights(layer)):
        _, scores = layer(embedded, embedded, return_attention_scores=True)
    np.testing.assert_allclose(scores[:, :, :3, 3:], 0.0)


@pytest.mark.parametrize("layer_class", LAYERS)
def test_mean_and_variance_are_those_of_two_projections(layer_class):
    # With one key, all attention is on it: outputs = (value @ kernel) @ output kernel.
    tf.keras.utils.set_random_seed(1)
    query, value = QUERY[:2, :1], VALUE[:2, :1]
    layer = make(layer_class, query, value)
    count = 5_000
    calls = tf.function(
        lambda: tf.map_fn(lambda _: layer(query, value), tf.zeros([count])), autograph=False
    )
    outputs = calls().numpy()[:, :, 0]
    posteriors = ed.posteriors(layer)
    (mean, stddev), (mean_out, stddev_out) = (
        (posterior.mean().numpy(), posterior.stddev().numpy())
        for posterior in (
            posteriors["attention/value/kernel"],
            posteriors["attention/attention_output/kernel"],
        )
    )
    value = value[:, 0].numpy()
    hidden, hidden_variance = value @ mean, value**2 @ stddev**2
    expected = hidden @ mean_out
    variance = hidden**2 @ stddev_out**2
    variance += hidden_variance @ (mean_out**2 + stddev_out**2)
    assert np.all(abs(outputs.mean(0) - expected) < 5 * np.sqrt(variance / count))
    np.testing.assert_allclose((outputs.var(0) / variance).mean(), 1.0, atol=0.08)


@pytest.mark.parametrize(
    ("layer_class", "expected"), list(zip(LAYERS, [1.0, 0.0], strict=True))
)
def test_equal_examples_share_noise_only_without_flipout(layer_class, expected):
    tf.keras.utils.set_random_seed(1)
    value, count = tf.ones([2, 1, 2]), 2_000
    layer = make(layer_class, value, value)
    calls = tf.function(
        lambda: tf.map_fn(lambda _: layer(value, value), tf.zeros([count])), autograph=False
    )
    outputs = calls().numpy()[:, :, 0, 0]
    assert abs(np.corrcoef(outputs.T)[0, 1] - expected) < 6 / np.sqrt(count)


@pytest.mark.parametrize("call", [{}, {"use_causal_mask": True}, {"attention_mask": True}])
@pytest.mark.parametrize("layer_class", LAYERS)
def test_many_held_draws_equal_separate_holds(layer_class, call):
    if "attention_mask" in call:
        call = {"attention_mask": np.tri(6, 7, 2, bool)[np.newaxis].repeat(5, 0)}
    layer = make(layer_class, QUERY, VALUE)
    weights = ed.sample_weights(layer, [3], seed=1, batch_size=5)
    query, value = (
        tf.random.stateless_normal([3, *x.shape], [0, 4]) for x in (QUERY, VALUE)
    )
    with ed.hold(layer, weights):
        together = layer(query, value, **call)
    for draw in range(3):
        with ed.hold(layer, {name: value[draw] for name, value in weights.items()}):
            alone = layer(query[draw], value[draw], **call)
        np.testing.assert_allclose(together[draw], alone, atol=1e-5)


def test_two_layers_of_a_model_have_names_of_their_own():
    inputs = tf.keras.Input([6, 4])
    hidden = LAYERS[1](2, 4)(inputs, inputs)
    model = tf.keras.Model(inputs, LAYERS[1](2, 4)(hidden, hidden))
    assert len(ed.posteriors(model)) == 8
    assert len(model.losses) == 8


def test_variables_are_named_by_role():
    layer = make(LAYERS[0], QUERY, VALUE)
    names = {variable.name for variable in layer.trainable_weights}
    assert "attention/query/kernel/mean:0" in names
    assert "attention/attention_output/bias:0" in names
    assert len(names) == 12

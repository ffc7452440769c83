"""What convolutions of every kind, rank and estimator share; the oracle is Keras."""

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

KINDS = (
    *(f"Conv{rank}D{kind}" for rank in (1, 2, 3) for kind in ("", "Transpose")),
    *(f"DepthwiseConv{rank}D" for rank in (1, 2)),
)
ESTIMATORS = ("Reparameterization", "Flipout")
SIZE, CHANNELS, FILTERS = 5, 3, 4


def wide_posterior():
    return ed.initializers.TrainableNormal(
        mean_initializer="random_normal", stddev_initializer="zeros"
    )


def rank_of(kind):
    return int(kind.removesuffix("Transpose")[-2])


def input_shape(kind, *batch):
    return [*batch, *[SIZE] * rank_of(kind), CHANNELS]


def arguments(kind, options):
    options = {"kernel_size": 3, **options}
    filters = [] if kind.startswith("Depthwise") else [options.pop("filters", FILTERS)]
    return filters, options


def make(kind, estimator, **options):
    tf.keras.utils.set_random_seed(1)
    filters, options = arguments(kind, options)
    prefix = "depthwise" if kind.startswith("Depthwise") else "kernel"
    options.setdefault(f"{prefix}_initializer", wide_posterior())
    layer = getattr(ed.layers, kind + estimator)(*filters, **options)
    layer.build(input_shape(kind, None))
    return layer


def twin(kind, weights, **options):
    """The Keras layer with these weights."""
    filters, options = arguments(kind, options)
    layer = getattr(tf.keras.layers, kind)(*filters, **options)
    layer.build(input_shape(kind, None))
    layer.set_weights(weights)
    return layer


def posterior(layer):
    return getattr(layer, layer.kernel_key).distribution


def inputs_of(kind, *batch):
    return tf.random.stateless_normal(input_shape(kind, *batch), [0, 1])


def errors(kind, estimator, inputs):
    """Outputs less their mean, in stddevs, of many filters: each has a draw of its own."""
    count = 1000 // (CHANNELS if kind.startswith("Depthwise") else 1)
    many = "depth_multiplier" if kind.startswith("Depthwise") else "filters"
    layer = make(kind, estimator, **{many: count})
    mean = twin(kind, [posterior(layer).mean()], use_bias=False, **{many: count})
    variance = twin(kind, [posterior(layer).variance()], use_bias=False, **{many: count})
    return ((layer(inputs) - mean(inputs)) / tf.sqrt(variance(inputs**2))).numpy()


@pytest.mark.parametrize(
    ("kind", "estimator"),
    [*((kind, "Flipout") for kind in KINDS), ("Conv2D", "Reparameterization")],
)
def test_mean_and_variance_of_outputs_are_those_of_the_posterior(kind, estimator):
    error = errors(kind, estimator, inputs_of(kind, 2))
    count = error.shape[-1]
    assert np.all(abs(error.mean(-1)) < 6 / np.sqrt(count))
    np.testing.assert_allclose(error.var(-1), 1.0, atol=6 * np.sqrt(2 / count))
    np.testing.assert_allclose(error.var(), 1.0, atol=0.06)


@pytest.mark.parametrize(
    ("estimator", "expected"), list(zip(ESTIMATORS, [1.0, 0.0], strict=True))
)
@pytest.mark.parametrize("kind", ["Conv2D", "Conv2DTranspose", "DepthwiseConv2D"])
def test_examples_share_the_draw_only_without_flipout(kind, estimator, expected):
    error = errors(kind, estimator, tf.repeat(inputs_of(kind, 1), 2, axis=0))
    first, second = error[:, 2, 2]
    assert abs(np.corrcoef(first, second)[0, 1] - expected) < 5 / np.sqrt(first.size)


OPTIONS = (
    {"padding": "same", "activation": "tanh", "bias_initializer": "ones"},
    {"strides": 2},
    {"dilation_rate": 2, "padding": "same"},
)
# On a CPU Keras dilates neither of these.
UNDILATED = ("Conv1DTranspose", "Conv3DTranspose")
SETTINGS = [
    (kind, options)
    for kind in KINDS
    for options in OPTIONS
    if not (kind in UNDILATED and "dilation_rate" in options)
]


@pytest.mark.parametrize(("kind", "options"), SETTINGS, ids=str)
def test_equals_keras_at_the_mean(kind, options):
    layer = make(kind, "Flipout", **options)
    bias = layer.bias.numpy()
    reference = twin(kind, [posterior(layer).mean(), bias], **options)
    inputs = inputs_of(kind, 2)
    with ed.hold(layer, ed.mean_weights(layer)):
        outputs = layer(inputs)
    assert outputs.shape == layer.compute_output_shape(inputs.shape)
    np.testing.assert_allclose(outputs, reference(inputs), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("time", "batch_size"), [([], 2), ([3], None)])
@pytest.mark.parametrize("kind", KINDS)
def test_many_held_draws_equal_separate_holds(kind, time, batch_size):
    bias = {"bias_initializer": "trainable_normal"}
    layer = make(kind, "Flipout", **bias)
    weights = ed.sample_weights(layer, [3], seed=1, batch_size=batch_size)
    inputs = inputs_of(kind, 3, 2, *time)
    with ed.hold(layer, weights):
        together = layer(inputs)
    for draw in range(3):
        with ed.hold(layer, {name: value[draw] for name, value in weights.items()}):
            np.testing.assert_allclose(together[draw], layer(inputs[draw]), atol=1e-5)


@pytest.mark.parametrize("batch_size", [None, 2])
@pytest.mark.parametrize("kind", ["Conv2D", "Conv2DTranspose", "DepthwiseConv2D"])
def test_many_held_draws_take_shared_inputs(kind, batch_size):
    layer = make(kind, "Flipout")
    inputs = inputs_of(kind, 2)
    with ed.hold(layer, ed.sample_weights(layer, [3], seed=1, batch_size=batch_size)):
        repeated = layer(tf.stack([inputs] * 3))
        np.testing.assert_allclose(layer(inputs), repeated, atol=1e-5)


def test_held_draws_of_unknown_number_are_as_many_as_come():
    layer = make("Conv1D", "Reparameterization")
    name = f"{layer.name}/kernel"

    @tf.function(input_signature=[tf.TensorSpec([None, 3, CHANNELS, FILTERS])])
    def call(kernels):
        with ed.hold(layer, {name: kernels}):
            return layer(tf.ones(input_shape("Conv1D", 2)))

    weights = ed.sample_weights(layer, [3], seed=1)
    with ed.hold(layer, weights):
        expected = layer(tf.ones(input_shape("Conv1D", 2)))
    np.testing.assert_allclose(call(weights[name]), expected, atol=1e-6)


def test_wrong_number_of_inputs_for_the_held_draws_is_an_error():
    layer = make("Conv1D", "Flipout")
    with (
        ed.hold(layer, ed.sample_weights(layer, [3], seed=1)),
        pytest.raises(ValueError, match=r"3 draws .* shape \[3, ...\], got \(2, 7, 5, 3\)"),
    ):
        layer(tf.ones([2, 7, 5, 3]))


@pytest.mark.parametrize("kind", ["Conv2D", "Conv2DTranspose"])
def test_held_signs_give_the_flipout_formula(kind):
    layer = make(kind, "Flipout")
    weights = ed.sample_weights(layer, seed=3, batch_size=2)
    inputs = inputs_of(kind, 2)
    with ed.hold(layer, weights):
        outputs = layer(inputs)
    kernel, sign_input, sign_output = (
        weights[f"{layer.name}/kernel{suffix}"].numpy()
        for suffix in ("", "/sign_input", "/sign_output")
    )
    mean = posterior(layer).mean().numpy()
    for example in range(2):
        flips = np.outer(sign_input[example], sign_output[example])
        flips = flips.T if "Transpose" in kind else flips
        own = twin(kind, [mean + flips * (kernel - mean)], use_bias=False)
        expected = own(inputs[example : example + 1])[0]
        np.testing.assert_allclose(outputs[example], expected, atol=1e-5)


@pytest.mark.parametrize("kind", ["Conv2D", "Conv2DTranspose", "DepthwiseConv2D"])
def test_channels_first_equals_channels_last(kind):
    options = {"bias_initializer": "trainable_normal", "padding": "same"}
    last = make(kind, "Flipout", **options)
    filters, options = arguments(kind, options)
    first = type(last)(*filters, **options, data_format="channels_first", name=last.name)
    first.build([None, CHANNELS, SIZE, SIZE])
    weights = ed.sample_weights(last, [3], seed=1, batch_size=2)
    inputs = inputs_of(kind, 3, 2)

    @tf.function(jit_compile=True)
    def call(layer, inputs):
        with ed.hold(layer, weights):
            return layer(inputs)

    first.set_weights(last.get_weights())
    outputs = call(first, tf.transpose(inputs, [0, 1, 4, 2, 3]))
    np.testing.assert_allclose(
        tf.transpose(outputs, [0, 1, 3, 4, 2]), call(last, inputs), atol=1e-5
    )


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("kind", ["Conv2D", "Conv2DTranspose", "DepthwiseConv2D"])
def test_deterministic_kernel_has_minus_log_prior_as_cost(kind, estimator):
    prefix = "depthwise" if kind.startswith("Depthwise") else "kernel"
    layer = make(kind, estimator, **{f"{prefix}_initializer": "he_normal"})
    kernel = getattr(layer, layer.kernel_key).numpy()
    inputs = inputs_of(kind, 2)
    assert np.all(layer(inputs) == layer(inputs))
    expected = 0.5 * np.sum(kernel**2) + kernel.size * 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(layer.losses[0], expected, rtol=1e-5)


def test_kl_is_once_for_many_calls_and_needs_no_random_operation():
    layer = make("Conv2D", "Flipout")
    for _ in range(3):
        layer(inputs_of("Conv2D", 2))
    mean, stddev = posterior(layer).mean().numpy(), posterior(layer).stddev().numpy()
    (loss,) = layer.losses
    expected = np.sum(0.5 * (mean**2 + stddev**2) - 0.5 - np.log(stddev))
    np.testing.assert_allclose(loss, expected, rtol=1e-5)
    graph = tf.function(lambda: layer.losses).get_concrete_function().graph
    assert not [op.type for op in graph.get_operations() if "Random" in op.type]

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed
from tests.bayes_rl.layers.jacobians import log_det_of_inverse, randomize

LAYERS = ed.layers
MASK = [1, 0, 1]


def network(units):
    dense = tf.keras.layers.Dense
    return tf.keras.Sequential([dense(8, "tanh"), dense(units)])


def made(**options):
    return LAYERS.MADE(hidden_dims=[16, 16], activation="tanh", **options)


FLOWS = {
    "RealNVP of MADE": (lambda: LAYERS.RealNVP(made()), [4, 3]),
    "RealNVP of MADE backwards": (
        lambda: LAYERS.RealNVP(made(order="right-to-left")),
        [4, 3],
    ),
    "RealNVP of MADE at random": (lambda: LAYERS.RealNVP(made(order="random")), [4, 3]),
    "RealNVP of MADE of sequences": (
        lambda: LAYERS.RealNVP(LAYERS.MADE(4, [16], activation="tanh")),
        [4, 3, 2],
    ),
    "RealNVP of mask": (lambda: LAYERS.RealNVP(network(6), mask=MASK), [4, 3]),
    "RealNVP of mask of images": (
        lambda: LAYERS.RealNVP(
            tf.keras.layers.Conv2D(4, 3, padding="same"),
            mask=np.indices([3, 2, 2]).sum(0) % 2,
        ),
        [4, 3, 2, 2],
    ),
    "RealNVP of mask of two": (lambda: LAYERS.RealNVP(network(4), mask=[0, 1]), [4, 2]),
    "NICE of MADE": (lambda: LAYERS.NICE(made(params=1)), [4, 3]),
    "NICE of mask": (lambda: LAYERS.NICE(network(3), mask=MASK), [4, 3]),
    "Reverse": (lambda: LAYERS.Reverse(LAYERS.RealNVP(made())), [4, 3]),
}

ONE_OF_EACH = ("RealNVP of MADE", "RealNVP of mask of images", "NICE of MADE")


def make(name, dtype="float64"):
    previous = tf.keras.backend.floatx()
    tf.keras.backend.set_floatx(dtype)
    try:
        build, shape = FLOWS[name]
        layer = build()
        inputs = tf.random.stateless_normal(shape, [0, 1], dtype=dtype)
        layer(inputs)
    finally:
        tf.keras.backend.set_floatx(previous)
    randomize(layer)
    return layer, inputs


@pytest.fixture(scope="module", params=FLOWS)
def flow(request):
    return make(request.param)


def test_reverse_undoes_call_and_call_undoes_reverse(flow):
    layer, inputs = flow
    np.testing.assert_allclose(layer.reverse(layer(inputs)), inputs, atol=1e-10)
    np.testing.assert_allclose(layer(layer.reverse(inputs)), inputs, atol=1e-10)
    assert np.max(abs(layer(inputs) - inputs)) > 0.1


def test_log_determinant_is_that_of_the_jacobian(flow):
    layer, inputs = flow
    ours = layer.log_det_jacobian(layer(inputs))
    assert ours.shape == [4]
    np.testing.assert_allclose(ours, log_det_of_inverse(layer, inputs), atol=1e-10)


@pytest.mark.parametrize(
    "flow",
    [
        name if name in ONE_OF_EACH else pytest.param(name, marks=pytest.mark.slow)
        for name in FLOWS
    ],
    indirect=True,
)
def test_function_compiles_to_the_same_density(flow):
    layer, inputs = flow

    @tf.function(jit_compile=True)
    def density(y):
        return layer.reverse(y), layer.log_det_jacobian(y)

    for ours, expected in zip(
        density(inputs),
        (layer.reverse(inputs), layer.log_det_jacobian(inputs)),
        strict=True,
    ):
        np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-8)


def stack():
    return tf.keras.Sequential(
        [
            LAYERS.RealNVP(made()),
            LAYERS.RealNVP(made(order="right-to-left")),
            LAYERS.ActNorm(),
            LAYERS.RealNVP(made()),
        ]
    )


@pytest.mark.parametrize("size", [1, 2])
def test_density_of_a_stack_integrates_to_one(size):
    model = stack()
    outputs = model(ed.Normal(tf.zeros([size]), 1.0))
    randomize(model, stddev=0.4)
    axis = np.linspace(-25.0, 25.0, 1001)
    grid = np.stack(np.meshgrid(*[axis] * size), axis=-1).reshape(-1, size)
    density = tf.exp(outputs.distribution.log_prob(tf.constant(grid, tf.float32)))
    integral = tf.reduce_sum(density) * (axis[1] - axis[0]) ** size
    np.testing.assert_allclose(integral, 1.0, atol=1e-3)


def test_sampled_moments_are_those_of_the_density():
    layer, _ = make("RealNVP of mask of two", "float32")
    count = 40_000
    draws = tf.random.stateless_normal([count, 2], [0, 2])
    samples = layer(draws).numpy()
    axis = np.linspace(-30.0, 30.0, 1201, dtype=np.float32)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    density = layer(ed.Normal(tf.zeros([2]), 1.0)).distribution.prob(grid).numpy()
    density /= density.sum()
    mean = density @ grid
    variance = density @ (grid - mean) ** 2
    error = np.sqrt(variance / count)
    assert np.all(abs(samples.mean(0) - mean) < 5 * error)
    fourth = density @ (grid - mean) ** 4
    assert np.all(
        abs(samples.var(0) - variance) < 5 * np.sqrt((fourth - variance**2) / count)
    )


def test_order_of_random_variable_costs_no_sampling():
    """Density and construction take one pass of the network each, not one a position."""
    layer, _ = make("RealNVP of MADE", "float32")

    def log_prob(y):
        return layer(ed.Normal(tf.zeros([4, 3]), 1.0)).log_prob(y)

    graph = tf.function(log_prob).get_concrete_function(tf.TensorSpec([4, 3])).graph
    kinds = {operation.type for operation in graph.get_operations()}
    assert not kinds & {"While", "StatelessWhile", "RandomStandardNormal"}


def test_call_is_finite_where_unsettled_positions_would_overflow():
    layer, inputs = make("RealNVP of MADE", "float32")
    randomize(layer, stddev=8.0)
    outputs = layer(1e-3 * inputs)
    assert np.all(np.isfinite(outputs[:, 0]))
    assert not np.any(np.isnan(outputs[:, :2]))


def test_held_network_is_one_function():
    layer = LAYERS.RealNVP(LAYERS.DenseReparameterization(6), mask=MASK)
    inputs = tf.random.stateless_normal([4, 3], [0, 1])
    layer(inputs)
    with ed.hold(layer, ed.sample_weights(layer, [5], seed=1)):
        outputs = layer(tf.stack([inputs] * 5))
        np.testing.assert_allclose(layer.reverse(outputs), [inputs] * 5, atol=1e-5)
        assert layer.log_det_jacobian(outputs).shape == [5, 4]


def test_scale_is_that_of_the_formula():
    bias = tf.constant_initializer([0.0, 0.0, 4.0, -0.1])
    network = tf.keras.layers.Dense(4, bias_initializer=bias)
    layer = LAYERS.RealNVP(
        network, [0, 0], rescale_initializer=tf.constant_initializer([2.0, 3.0])
    )
    log_scale = np.log(layer(tf.ones([1, 2])))[0]
    np.testing.assert_allclose(log_scale, [2, 3] * np.tanh([4.0, -0.1]), rtol=1e-5)


def test_starts_volume_preserving():
    layer = LAYERS.RealNVP(network(6), mask=MASK)
    assert not np.any(layer.log_det_jacobian(tf.ones([4, 3])))
    assert layer.built


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: LAYERS.RealNVP(tf.keras.layers.Dense(6)),
            "RealNVP without a mask needs an autoregressive .* got Dense: give it a mask",
        ),
        (
            lambda: LAYERS.RealNVP(tf.keras.layers.Dense(5), MASK)(tf.ones([4, 3])),
            r"a shift and a log scale for each of \(4, 3\), got \(4, 5\)",
        ),
        (
            lambda: LAYERS.NICE(tf.keras.layers.Dense(5), MASK)(tf.ones([4, 3])),
            r"a shift for each of \(4, 3\), got \(4, 5\)",
        ),
    ],
)
def test_wrong_networks_are_errors(build, message):
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize("is_built", [False, True])
def test_positions_in_order_need_a_known_length(is_built):
    layer = LAYERS.RealNVP(made())
    if is_built:
        layer(tf.ones([4, 3]))
    function = tf.function(layer, input_signature=[tf.TensorSpec([None, None])])
    with pytest.raises(ValueError, match=r"needs a known length, got .*\(None, None\)"):
        function.get_concrete_function()


def test_a_mask_of_another_size_is_named():
    flow = ed.layers.RealNVP(tf.keras.layers.Dense(6), mask=[1, 0], name="flow")
    message = r"mask of RealNVP 'flow' has shape \[2\], which .* of the inputs \(5, 3\)"
    with pytest.raises(ValueError, match=message):
        flow(tf.ones([5, 3]))

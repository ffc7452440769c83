import itertools

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed
from tests.bayes_rl.layers.jacobians import randomize

LENGTH, VOCAB = 2, 6  # 6 is not prime: 2, 3 and 4 have no inverse
ALL = np.eye(VOCAB, dtype=np.float32)[list(itertools.product(range(VOCAB), repeat=LENGTH))]


def made(units, order="left-to-right"):
    return ed.layers.MADE(units, [16], order, activation="tanh")


def bipartite():
    return ed.layers.DiscreteBipartiteFlow(made(2 * VOCAB), [1, 0], 0.5)


FLOWS = {
    "shift": lambda: ed.layers.DiscreteAutoregressiveFlow(made(VOCAB), 0.5),
    "shift and scale": lambda: ed.layers.DiscreteAutoregressiveFlow(made(2 * VOCAB), 0.5),
    "right to left": lambda: ed.layers.DiscreteAutoregressiveFlow(
        made(2 * VOCAB, "right-to-left"), 0.5
    ),
    "bipartite": bipartite,
    "Sinkhorn": lambda: ed.layers.SinkhornAutoregressiveFlow(made(VOCAB**2), 0.5),
}


@pytest.fixture(scope="module", params=FLOWS)
def flow(request):
    layer = FLOWS[request.param]()
    layer(ALL)
    randomize(layer, stddev=2.0)
    return layer


def test_is_a_bijection_of_all_one_hot_sequences(flow):
    outputs = flow(ALL).numpy()
    np.testing.assert_allclose(np.sort(outputs, axis=-1)[..., :-1], 0.0, atol=1e-6)
    np.testing.assert_allclose(outputs.max(-1), 1.0, atol=1e-6)
    codes = {tuple(x) for x in outputs.argmax(-1).tolist()}
    assert len(codes) == VOCAB**LENGTH
    assert not np.array_equal(outputs.argmax(-1), ALL.argmax(-1))
    np.testing.assert_allclose(flow.reverse(outputs), ALL, atol=1e-5)
    np.testing.assert_allclose(flow(flow.reverse(ALL)), ALL, atol=1e-5)


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_probabilities_sum_to_one_and_follow_the_bijection(flow, dtype):
    logits = tf.random.stateless_normal([LENGTH, VOCAB], [0, 1])
    base = ed.OneHotCategorical(logits, dtype=tf.as_dtype(dtype))
    outputs = flow(base)
    values = tf.cast(ALL, dtype)
    log_prob = outputs.log_prob(values)
    assert log_prob.shape == [VOCAB**LENGTH]
    np.testing.assert_allclose(tf.reduce_sum(tf.exp(log_prob)), 1.0, atol=1e-5)
    expected = tf.reduce_sum(base.log_prob(values), -1)
    np.testing.assert_allclose(outputs.log_prob(flow(values)), expected, atol=1e-4)
    assert outputs.value.dtype == dtype


def test_gradients_reach_the_network_through_both_directions(flow):
    weights = tf.random.stateless_normal(ALL.shape, [0, 2])
    for direction in (flow, flow.reverse):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(weights * direction(tf.constant(ALL)))
        gradients = tape.gradient(loss, flow.trainable_variables)
        assert all(np.all(np.isfinite(x)) for x in gradients)
        assert any(np.any(x != 0) for x in gradients)


def test_learns_dependent_categories():
    """The second category is the first plus one: a flow makes them independent."""
    tf.keras.utils.set_random_seed(0)
    first = tf.random.stateless_uniform([256], [0, 1], 0, VOCAB, tf.int32)
    data = tf.one_hot(tf.stack([first, (first + 1) % VOCAB], axis=1), VOCAB)
    layer = ed.layers.DiscreteAutoregressiveFlow(ed.layers.MADE(VOCAB, []), 1.0)
    layer(data)
    logits = tf.Variable(tf.random.stateless_normal([2, VOCAB], [0, 2]))
    optimizer = tf.keras.optimizers.Adam(0.1)

    @tf.function(autograph=False)
    def step():
        with tf.GradientTape() as tape:
            log_probs = layer.reverse(data) * tf.nn.log_softmax(logits)
            loss = -tf.reduce_mean(tf.reduce_sum(log_probs, [1, 2]))
        variables = [logits, *layer.trainable_variables]
        optimizer.apply_gradients(
            zip(tape.gradient(loss, variables), variables, strict=True)
        )
        return loss

    losses = [float(step()) for _ in range(300)]
    # Independent categories cost 2 log 6 = 3.58 nats, dependent ones log 6 = 1.79.
    assert min(losses) < 1.5 * np.log(VOCAB) < 2 * np.log(VOCAB) < losses[0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: ed.layers.DiscreteAutoregressiveFlow(made(5), 1.0),
            "must give 6 logits of a shift, or also 6 of a scale, got 5",
        ),
        (
            lambda: ed.layers.SinkhornAutoregressiveFlow(made(5), 1.0),
            r"must give 6 \* 6 units, got 5",
        ),
    ],
)
def test_wrong_networks_are_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()(ALL)


@pytest.mark.parametrize("temperature", [0, -1.0])
@pytest.mark.parametrize(
    "make",
    [
        ed.layers.DiscreteAutoregressiveFlow,
        ed.layers.SinkhornAutoregressiveFlow,
        lambda layer, value: ed.layers.DiscreteBipartiteFlow(layer, [1, 0], value),
    ],
)
def test_temperatures_that_are_not_above_zero_are_errors(make, temperature):
    with pytest.raises(ValueError, match=f"temperature must be above 0, got {temperature}"):
        make(made(VOCAB), temperature)

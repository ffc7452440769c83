import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import distributions as tfd

import bayes_rl as ed

INPUTS = tf.random.stateless_normal([5, 3], [0, 1])


@pytest.fixture(autouse=True)
def same_initial_values():
    tf.keras.utils.set_random_seed(0)


def projected(layer):
    return INPUTS @ layer.projection.kernel + layer.projection.bias


def test_normal_keeps_inputs_as_mean_and_starts_with_stddev_one():
    code = ed.layers.Normal()(INPUTS)
    np.testing.assert_array_equal(code.mean(), INPUTS)
    np.testing.assert_allclose(code.stddev(), np.ones([5, 3]), rtol=1e-5)


@pytest.mark.parametrize("constraint", ["softplus", "exp", "positive", "non_neg", None])
def test_normal_starts_with_stddev_one_under_any_constraint(constraint):
    code = ed.layers.Normal(stddev_constraint=constraint)(INPUTS)
    np.testing.assert_allclose(code.stddev(), np.ones([5, 3]), rtol=1e-5)


def test_normal_cannot_start_under_a_constraint_without_inverse():
    layer = ed.layers.Normal(stddev_constraint=tf.nn.softplus)
    with pytest.raises(ValueError, match=r"stddev cannot be 1 .*softplus.* gives 1.31"):
        layer(INPUTS)


def test_normal_with_units_projects_to_mean_and_stddev():
    layer = ed.layers.Normal(2)
    code = layer(INPUTS)
    mean, raw = np.split(projected(layer).numpy(), 2, axis=-1)
    expected = tfd.Normal(mean, np.log1p(np.exp(raw)))
    np.testing.assert_allclose(code.log_prob(1.5), expected.log_prob(1.5), rtol=1e-5)


@pytest.mark.parametrize("units", [None, 2])
def test_normal_has_the_stddev_it_is_given(units):
    layer = ed.layers.Normal(units, stddev=0.25)
    code = layer(INPUTS)
    np.testing.assert_array_equal(code.stddev(), np.full(code.shape, 0.25))
    assert len(layer.trainable_variables) == (0 if units is None else 2)


def test_draw_of_a_normal_carries_gradients_to_mean_and_stddev():
    layer = ed.layers.Normal(stddev=None)
    with tf.GradientTape() as tape:
        tape.watch(INPUTS)
        code = layer(INPUTS)
        total = tf.reduce_sum(code)
    to_mean, to_stddev = tape.gradient(total, [INPUTS, layer.raw_stddev])
    noise = (code.value - INPUTS) / code.stddev()
    np.testing.assert_array_equal(to_mean, tf.ones([5, 3]))
    slope = tf.sigmoid(layer.raw_stddev)
    np.testing.assert_allclose(to_stddev, tf.reduce_sum(noise, 0) * slope, rtol=1e-4)


def test_kl_of_a_normal_code_takes_a_random_variable():
    code = ed.layers.Normal(stddev=0.5)(INPUTS)
    kl = np.log(1 / 0.5) + (0.5**2 + np.square(INPUTS)) / 2 - 0.5
    prior = ed.Normal(0.0, 1.0)
    np.testing.assert_allclose(code.kl_divergence(prior), kl, rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("Bernoulli", lambda logits: tfd.Bernoulli(logits=logits)),
        ("Categorical", lambda logits: tfd.Categorical(logits=logits)),
        ("OneHotCategorical", lambda logits: tfd.OneHotCategorical(logits=logits)),
    ],
)
@pytest.mark.parametrize("units", [None, 4])
def test_discrete_outputs_have_the_inputs_as_logits(name, make, units):
    layer = getattr(ed.layers, name)(units)
    output = layer(INPUTS)
    expected = make(INPUTS if units is None else projected(layer))
    value = output.value
    np.testing.assert_allclose(output.log_prob(value), expected.log_prob(value), rtol=1e-5)
    np.testing.assert_allclose(output.entropy(), expected.entropy(), rtol=1e-5)
    assert output.shape == layer.compute_output_shape(INPUTS.shape)


def test_layers_can_follow_a_stochastic_output():
    model = tf.keras.Sequential(
        [
            ed.layers.OneHotCategorical(4),
            tf.keras.layers.Dense(3),
            ed.layers.Bernoulli(2),
            ed.layers.Normal(1, name="reward"),
        ]
    )
    assert model(INPUTS).log_prob(0.0).shape == [5, 1]


def test_output_is_known_by_the_name_of_its_layer():
    layer = ed.layers.Normal(name="code")
    with ed.tape() as draws:
        layer(INPUTS)
    assert list(draws) == ["code"]
    with ed.condition(code=tf.zeros([5, 3])):
        assert float(tf.reduce_sum(layer(INPUTS))) == 0.0


def test_fit_learns_mean_and_stddev_of_the_data():
    layer = ed.layers.Normal(1, kernel_initializer="zeros")
    inputs = tf.keras.Input([1])
    model = tf.keras.Model(inputs, layer(inputs))
    model.compile(
        tf.keras.optimizers.Adam(0.05),
        loss=lambda y, rv: -rv.log_prob(y),
        jit_compile=False,
        steps_per_execution=250,
    )
    labels = 2.0 + 0.5 * tf.random.stateless_normal([256, 1], [0, 1])
    inputs = tf.ones([256, 1])
    data = tf.data.Dataset.from_tensors((inputs, labels)).repeat(250)
    model.fit(data, verbose=0)
    output = model(inputs[:1])
    np.testing.assert_allclose(output.mean(), [[np.mean(labels)]], atol=0.03)
    np.testing.assert_allclose(output.stddev(), [[np.std(labels)]], atol=0.03)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="units must be at least 1 or None, got 0"):
        ed.layers.Bernoulli(0)
    with pytest.raises(ValueError, match="stddev must be above 0 or None, got -1"):
        ed.layers.Normal(stddev=-1)

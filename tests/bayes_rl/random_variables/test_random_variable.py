import copy
import pickle

import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import distributions as tfd

import bayes_rl as ed
from bayes_rl.random_variables.random_variable import RandomVariable


class Counting(tfd.Normal):
    draws = 0

    def _sample_n(self, n, seed=None):
        type(self).draws += 1
        return super()._sample_n(n, seed)


def test_value_is_drawn_once_and_only_when_asked_for():
    Counting.draws = 0
    x = RandomVariable(Counting(0.0, 1.0), sample_shape=[2])
    assert x.shape == [2]
    assert x.dtype == tf.float32
    assert float(x.mean()) == 0.0
    assert Counting.draws == 0
    np.testing.assert_array_equal(x.value, x.value)
    assert Counting.draws == 1


def test_operators_are_those_of_the_value():
    x = ed.Normal(0.0, 1.0, value=3.0)
    assert float(x + 1.0) == 4.0
    assert float(1.0 - x) == -2.0
    assert float(x * x) == 9.0
    assert float(-x) == -3.0
    assert bool(x > 2.0)
    np.testing.assert_array_equal(np.ones(2, np.float32) + x, [4.0, 4.0])


def test_stands_where_a_tensor_can():
    x = ed.Normal(tf.zeros([2, 3]), 1.0)
    np.testing.assert_array_equal(tf.convert_to_tensor(x), x.value)
    np.testing.assert_array_equal(np.asarray(x), x.value)
    np.testing.assert_array_equal(tf.exp(x), tf.exp(x.value))
    assert len(x) == 2
    assert x.ndim == 2
    assert [row.shape for row in x] == [[3], [3]]
    assert tf.keras.layers.Dense(4)(x).shape == [2, 4]


def test_slice_slices_the_distribution_and_the_value():
    x = ed.Normal([0.0, 1.0], 1.0)
    assert float(x[1].mean()) == 1.0
    np.testing.assert_array_equal(x[1].value, x.value[1])


@pytest.mark.parametrize("kind", [tf.constant, np.array])
def test_mask_takes_values(kind):
    x = ed.Normal([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], 1.0)
    for mask in (kind([True, False, True]), kind([[True, False]] * 3)):
        np.testing.assert_array_equal(x[mask], x.value[mask])


def test_slice_within_the_batch_keeps_the_distribution_and_is_lazy():
    x = ed.MultivariateNormalDiag([[0.0, 1.0], [2.0, 3.0]])
    row = x[1]
    np.testing.assert_array_equal(row.mean(), [2.0, 3.0])
    np.testing.assert_array_equal(row, x.value[1])
    assert isinstance(x[1, 0], tf.Tensor)
    assert isinstance(x[..., 0], tf.Tensor)
    assert isinstance(ed.Normal(0.0, 1.0, sample_shape=3)[0], tf.Tensor)


def test_integer_variable_is_an_index():
    assert [10, 20][ed.Bernoulli(0.5, value=1)] == 20


def test_methods_of_the_distribution_take_random_variables():
    x, y = ed.Normal(0.0, 1.0), ed.Normal(1.0, 1.0)
    assert float(x.kl_divergence(y)) == 0.5
    assert float(x.kl_divergence(y.distribution)) == 0.5
    assert float(x.distribution.kl_divergence(y)) == 0.5
    for pair in ((x, y), (x.distribution, y), (x, y.distribution)):
        assert float(tfd.kl_divergence(*pair)) == 0.5
    np.testing.assert_allclose(x.cross_entropy(y), 0.5 + x.entropy())
    np.testing.assert_allclose(x.log_prob(x), x.distribution.log_prob(x.value))


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copy_has_the_same_value(duplicate):
    x = ed.Normal(0.0, 1.0, name="x")
    other = duplicate(x)
    assert float(other) == float(x)
    assert other.name == "x"
    assert float(other.stddev()) == 1.0


def test_hierarchical_variable_draws_from_the_drawn_mean():
    mean = ed.Normal(0.0, 1.0)
    x = ed.Normal(mean, 1e-6)
    np.testing.assert_allclose(x, mean, atol=1e-4)


def test_variable_of_eager_mode_keeps_its_value_when_a_function_asks_first():
    x = ed.Normal(0.0, 1.0)
    inside = tf.function(lambda: x + 0.0)()
    assert float(inside) == float(x)


def test_variable_made_in_a_function_is_drawn_anew_at_every_call():
    draw = tf.function(lambda: tf.convert_to_tensor(ed.Normal(0.0, 1.0)))
    assert float(draw()) != float(draw())


def test_variable_first_asked_for_in_a_branch_keeps_its_value_outside():
    @tf.function
    def call(chooses):
        x = ed.Normal(0.0, 1.0)
        return tf.cond(chooses, lambda: x + 0.0, lambda: x - 0.0), x

    inside, outside = call(tf.constant(True))
    assert float(inside) == float(outside)


def test_function_takes_the_distribution_and_is_traced_once():
    function = tf.function(lambda x: (x + 0.0, x.mean(), x.log_prob(x)))
    for mean in (1.0, 2.0):
        x = ed.Normal(mean, 1.0)
        expected = float(x), mean, float(x.log_prob(x.value))
        np.testing.assert_allclose([float(y) for y in function(x)], expected, rtol=1e-6)
    assert function.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("jit_compile", [False, True])
def test_function_returns_a_random_variable(jit_compile):
    @tf.function(jit_compile=jit_compile)
    def call(mean):
        return ed.Independent(tfd.Normal(mean, 2.0), 1, name="x", sample_shape=[3])

    x = call(tf.constant([1.0, 5.0]))
    assert isinstance(x, ed.RandomVariable)
    assert (x.name, x.is_given, x.sample_shape, x.shape) == ("x", False, [3], [3, 2])
    np.testing.assert_array_equal(x.mean(), [1.0, 5.0])
    np.testing.assert_allclose(
        x.log_prob(x),
        tfd.Normal(x.mean(), 2.0).log_prob(x.value).numpy().sum(-1),
        rtol=1e-5,
    )


def test_returned_distribution_of_a_variable_keeps_the_values_it_had():
    mean = tf.Variable(2.0)
    call = tf.function(lambda: ed.Normal(mean, 1.0))
    x = call()
    mean.assign(5.0)
    assert float(x.mean()) == 2.0
    assert float(call().mean()) == 5.0


def test_without_a_specification_the_value_alone_crosses():
    class Layer:
        name, event_ndims = "layer", 0

        def __call__(self, x):
            return -x

    call = tf.function(
        lambda x: ed.TransformedRandomVariable(ed.Normal(x, 1.0), Layer(), value=x)
    )
    assert type(call(tf.constant(3.0))) is type(tf.constant(3.0))


def test_program_is_vectorised_over_its_arguments():
    means = tf.constant([1.0, 2.0])
    x = tf.vectorized_map(lambda mean: ed.Normal(mean, 1.0), means)
    np.testing.assert_array_equal(x.mean(), means)
    assert x.shape == [2]
    stacked = tf.vectorized_map(lambda m: ed.Normal(m, 1.0, sample_shape=3), means)
    assert tf.convert_to_tensor(stacked).shape == [2, 3]


def test_loop_carries_a_random_variable():
    (x,) = tf.while_loop(
        lambda x: x.mean() < 4.5,
        lambda x: [ed.Normal(x.mean() + 1.0, 1.0)],
        [ed.Normal(0.0, 1.0)],
    )
    assert float(x.mean()) == 5.0


def test_gradients_with_respect_to_and_of_a_random_variable():
    mean = tf.constant(1.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(mean)
        x = ed.Normal(mean, 1.0)
        y = 3.0 * x
    assert float(tape.gradient(x, mean)) == 1.0
    assert float(tape.gradient(y, x)) == 3.0


def test_saved_function_returns_a_random_variable(tmp_path):
    module = tf.Module()
    module.call = tf.function(lambda x: ed.Normal(x, 1.0))
    module.call.get_concrete_function(tf.TensorSpec([2]))
    tf.saved_model.save(module, str(tmp_path))
    x = tf.saved_model.load(str(tmp_path)).call(tf.constant([1.0, 2.0]))
    np.testing.assert_array_equal(x.mean(), [1.0, 2.0])


@pytest.mark.slow
def test_keras_model_with_a_random_output_is_trained():
    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(2), tf.keras.layers.Lambda(lambda z: ed.Normal(z, 1.0))]
    )
    model.compile("sgd", loss=lambda y, x: -x.distribution.log_prob(y))
    losses = model.fit(tf.ones([8, 3]), tf.ones([8, 2]), epochs=3, verbose=0).history[
        "loss"
    ]
    assert losses[-1] < losses[0]
    assert isinstance(model(tf.ones([1, 3])), ed.RandomVariable)
    assert np.shape(model.predict(tf.ones([5, 3]), verbose=0)) == (5, 2)


def test_wrong_shape_of_value_is_an_error():
    with pytest.raises(
        ValueError, match=r"value of .*'x' must have shape \(\), got \(2,\)"
    ):
        ed.Normal(0.0, 1.0, value=[1.0, 2.0], name="x")


def test_wrong_dtype_is_an_error():
    with pytest.raises(ValueError, match="has dtype float32, asked for int32"):
        tf.convert_to_tensor(ed.Normal(0.0, 1.0), tf.int32)


def test_string_shows_the_value():
    x = ed.Normal(0.0, 1.0, value=1.5)
    assert str(x) == 'RandomVariable("1.5", shape=(), dtype=float32)'
    assert repr(x) == "<ed.RandomVariable 'Normal' shape=() dtype=float32 numpy=1.5>"


def variables_of_narrow_parameters():
    covariance = tf.linalg.diag([1.0, 4.0, 9.0])
    normal = tfd.Normal(tf.zeros([4, 3]), [1.0, 2.0, 3.0])
    return [
        ed.Normal(tf.zeros([4]), 1.0),
        ed.Normal(tf.zeros([4, 3]), [1.0, 2.0, 3.0]),
        ed.Normal(tf.zeros([4, 1]), tf.ones([1, 3])),
        ed.Independent(normal, 1),
        ed.MultivariateNormalTriL(tf.zeros([4, 3]), tf.linalg.cholesky(covariance)),
    ]


@pytest.mark.parametrize("x", variables_of_narrow_parameters())
def test_items_of_a_variable_have_their_part_of_its_distribution(x):
    def log_prob(item):
        return item.log_prob(item.value)

    expected = x.log_prob(x.value)
    mapped = tf.map_fn(log_prob, x, fn_output_signature=tf.float32)
    np.testing.assert_allclose(mapped, expected, rtol=1e-6)
    np.testing.assert_allclose(tf.vectorized_map(log_prob, x), expected, rtol=1e-6)
    items = list(tf.data.Dataset.from_tensor_slices(x))
    np.testing.assert_allclose([log_prob(i) for i in items], expected, rtol=1e-6)


def test_items_of_a_sample_are_values():
    x = ed.Normal(0.0, 1.0, sample_shape=[4])
    doubled = tf.map_fn(lambda item: 2.0 * item, x, fn_output_signature=tf.float32)
    np.testing.assert_array_equal(doubled, 2.0 * x)
    np.testing.assert_array_equal(list(tf.data.Dataset.from_tensor_slices(x)), x)


def test_keras_fits_and_predicts_a_random_variable():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[3])])
    model.compile("sgd", "mse")
    x = ed.Normal(tf.zeros([8, 3]), 1.0)
    history = model.fit(x, ed.Normal(tf.zeros([8, 1]), 1.0), batch_size=4, verbose=0)
    assert np.isfinite(history.history["loss"]).all()
    np.testing.assert_allclose(model.predict(x, verbose=0), model(x.value), rtol=1e-5)


def test_numpy_reduces_the_value():
    x = ed.Normal(tf.zeros([4, 3]), 1.0)
    for reduce in (np.mean, np.var, np.std, np.sum, np.max, np.prod):
        np.testing.assert_allclose(reduce(x, axis=0), reduce(x.numpy(), axis=0))
    assert np.mean(x) == x.numpy().mean()
    assert np.all(x.mean() == 0.0)


@pytest.mark.parametrize("parts", [[tfd.Normal(0.0, 1.0)], {"a": tfd.Normal(0.0, 1.0)}])
def test_joint_variables_are_printed(parts):
    joint = tfd.JointDistributionSequential
    joint = joint if isinstance(parts, list) else tfd.JointDistributionNamed
    assert "shape=" in str(RandomVariable(joint(parts)))

import numpy as np
import pytest
import tensorflow as tf

from bayes_rl import constraints

VALUES = tf.constant([0.01, 1.0, 20.0])


@pytest.mark.parametrize("name", ["exp", "positive", "softplus"])
def test_inverse_undoes_the_constraint(name):
    constraint = constraints.get(name)
    np.testing.assert_allclose(constraint(constraint.inverse(VALUES)), VALUES, rtol=1e-5)


@pytest.mark.parametrize("name", ["exp", "positive", "softplus"])
def test_least_value_is_epsilon(name):
    constraint = type(constraints.get(name))(epsilon=0.1)
    np.testing.assert_allclose(constraint(tf.constant([-200.0])), [0.1])
    copy = constraints.deserialize(constraints.serialize(constraint))
    assert copy.get_config() == {"epsilon": 0.1}


def test_gradient_of_the_least_value_lets_a_variable_rise_and_not_sink():
    w = tf.Variable([-1.0, 0.05, 2.0])
    for sign, expected in ((-1.0, [-1.0, -1.0, -1.0]), (1.0, [0.0, 0.0, 1.0])):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(sign * constraints.Positive(0.1)(w))
        np.testing.assert_array_equal(tape.gradient(loss, w), expected)


def test_other_names_are_those_of_keras():
    assert isinstance(constraints.get("non_neg"), tf.keras.constraints.NonNeg)


def test_unknown_name_names_the_nearest():
    with pytest.raises(ValueError, match="'sofplus' .* did you mean 'softplus'"):
        constraints.get("sofplus")


@pytest.mark.parametrize("name", ["exp", "positive", "softplus"])
def test_classes_have_both_names(name):
    found = getattr(constraints, name)
    assert found is getattr(constraints, name.title())
    assert type(constraints.get(found.__name__)) is found


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("name", ["exp", "positive", "softplus"])
def test_keeps_the_type(name, dtype):
    assert constraints.get(name)(tf.ones([2], dtype)).dtype == dtype

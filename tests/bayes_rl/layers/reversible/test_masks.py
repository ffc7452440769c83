import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed


def test_left_to_right_degrees():
    degrees = ed.layers.create_degrees(4, [5, 6])
    expected = [[1, 2, 3, 4], [1, 2, 3, 1, 2], [1, 2, 3, 1, 2, 3]]
    assert [x.tolist() for x in degrees] == expected


@pytest.mark.parametrize("input_order", ["left-to-right", "right-to-left", "random"])
@pytest.mark.parametrize("hidden_order", ["left-to-right", "random"])
@pytest.mark.parametrize("length", [1, 5])
def test_paths_through_masks_lead_to_later_outputs_alone(input_order, hidden_order, length):
    orders = input_order, hidden_order
    degrees = ed.layers.create_degrees(length, [8, 7], *orders, seed=1)
    product = np.linalg.multi_dot(
        [x.numpy() for x in ed.layers.create_masks(length, [8, 7], *orders, seed=1)]
    )
    assert np.all((product > 0) <= (degrees[0][:, None] < degrees[0]))


def test_without_choice_of_degrees_every_earlier_input_counts():
    product = np.linalg.multi_dot(
        [x.numpy() for x in ed.layers.create_masks(4, [6, 6], "right-to-left")]
    )
    np.testing.assert_array_equal(product > 0, np.tri(4, k=-1, dtype=bool))


def test_random_order_follows_the_seed():
    def orders(seed):
        return [
            x.tolist()
            for x in ed.layers.create_degrees(9, [9], "random", "random", seed=seed)
        ]

    assert orders(1) == orders(1)
    assert orders(1) != orders(2)
    assert sorted(orders(1)[0]) == list(range(1, 10))


def test_degrees_may_be_given():
    assert ed.layers.create_degrees(3, [], [2, 3, 1])[0].tolist() == [2, 3, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"input_order": "up"}, "input_order must be one of .* got 'up'"),
        ({"input_order": [1, 1, 2]}, r"each of 1 to 3 once, got \[1, 1, 2\]"),
        ({"hidden_order": "up"}, "'left-to-right' or 'random', got 'up'"),
    ],
)
def test_wrong_orders_are_errors(options, message):
    with pytest.raises(ValueError, match=message):
        ed.layers.create_degrees(3, [4], **options)


def test_masked_initializer_and_constraint():
    mask = tf.constant([[1.0, 0.0], [0.0, 1.0]])
    weight = ed.layers.make_masked_initializer(mask)([2, 2], dtype=tf.float64)
    assert weight.dtype == tf.float64
    np.testing.assert_array_equal(weight.numpy() != 0, np.eye(2))
    ones = ed.layers.make_masked_constraint(mask)(tf.ones([2, 2]))
    np.testing.assert_array_equal(ones, np.eye(2))

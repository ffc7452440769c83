import pytest
import tensorflow as tf

from bayes_rl.layers.products import Layout, align


@pytest.mark.parametrize(
    ("factors", "layout", "expected"),
    [
        ([7, 3], Layout(), [7, 1, 1, 3]),
        ([7, 3], Layout(2), [7, 1, 1, 3]),
        ([7, 9, 3], Layout(1), [7, 9, 1, 3]),
        ([7, 9], Layout(2, channels_first=True), [7, 9, 1, 1]),
        ([7, 9], Layout(1, channels_first=True), [7, 1, 9, 1]),
        ([2, 7, 3], Layout(2), [2, 7, 1, 1, 3]),
    ],
)
def test_leading_axes_meet_and_channels_meet(factors, layout, expected):
    assert align(tf.ones(factors), tf.ones([7, 9, 9, 3]), layout).shape == expected


def test_batch_and_channels_are_what_is_not_space():
    assert Layout(2).without_space([5, 7, 32, 33, 3]) == [5, 7, 3]
    assert Layout(2, channels_first=True).without_space([5, 7, 3, 32, 33]) == [5, 7, 3]
    assert Layout().without_space([5, 7, 3]) == [5, 7, 3]

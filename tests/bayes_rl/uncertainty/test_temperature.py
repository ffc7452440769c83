import numpy as np
import pytest
from scipy import special

import bayes_rl as ed


def sampled_labels(logits, seed):
    probabilities = special.softmax(logits, axis=-1)
    shares = np.random.default_rng(seed).random([len(logits), 1])
    return (shares > np.cumsum(probabilities, axis=1)).sum(axis=1)


@pytest.mark.parametrize("truth", [0.3, 1.0, 4.0])
def test_it_finds_what_logits_were_multiplied_by(truth):
    logits = np.random.default_rng(0).normal(size=[20_000, 4]) * 2.0
    labels = sampled_labels(logits, 1)
    assert ed.uncertainty.temperature(labels, truth * logits) == pytest.approx(
        truth, rel=0.05
    )


def test_its_derivative_is_zero():
    generator = np.random.default_rng(2)
    logits, labels = generator.normal(size=[3, 50, 4]), generator.integers(4, size=[50, 1])
    found = ed.uncertainty.temperature(labels, logits)

    def nats(temperature):
        probabilities = special.softmax(logits / temperature, axis=-1).mean(axis=0)
        return -np.log(np.take_along_axis(probabilities, labels, axis=1)).mean()

    assert all(nats(found) <= nats(x) for x in (0.99 * found, 1.01 * found))


def test_other_shapes_are_errors():
    with pytest.raises(ValueError, match=r"got \(2,\) and \(3, 4\)"):
        ed.uncertainty.temperature([0, 1], np.zeros([3, 4]))


@pytest.mark.parametrize(("label", "found"), [(-1, "-1"), (4, "4"), (0.5, "0.5")])
def test_labels_of_no_class_are_errors(label, found):
    message = f"labels must be whole numbers from 0 to 3, got {found}"
    with pytest.raises(ValueError, match=message):
        ed.uncertainty.temperature([0, label, 1], np.zeros([3, 4]))


def test_it_scales_what_tensors_hold():
    import tensorflow as tf

    logits = tf.math.log([[0.9, 0.1]] * 4)
    assert ed.uncertainty.temperature(tf.constant([0, 0, 0, 1]), logits) == pytest.approx(
        2.0, rel=1e-3
    )

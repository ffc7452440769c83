import numpy as np
import pytest
import scipy.stats
import tensorflow as tf

from bayes_rl.losses import uce_loss

ALPHA = np.array([[1.2, 3.0, 0.7], [40.0, 2.0, 9.0], [1.0, 1.0, 1.0]], np.float32)
LABELS = np.array([1, 0, 2])


def test_terms_are_those_of_the_dirichlet():
    loss, cross_entropy, entropy = uce_loss(0.1, True, True, 3)(LABELS, ALPHA)
    draws = np.stack([scipy.stats.dirichlet(a).rvs(200_000, random_state=0) for a in ALPHA])
    surprise = -np.log(draws[np.arange(3), :, LABELS])
    error = np.sqrt(np.sum(surprise.var(1) / 200_000)) / 3
    assert abs(cross_entropy - surprise.mean()) < 5 * error
    expected = np.mean([scipy.stats.dirichlet(a).entropy() for a in ALPHA])
    np.testing.assert_allclose(entropy, -0.1 * expected, rtol=1e-5)
    np.testing.assert_allclose(loss, cross_entropy + entropy, rtol=1e-6)


def test_sparse_and_dense_labels_cost_the_same():
    dense = uce_loss(sparse=False)(np.eye(3)[LABELS], ALPHA)
    for labels in (LABELS, LABELS[:, None]):
        np.testing.assert_allclose(uce_loss(num_classes=3)(labels, ALPHA), dense)


@pytest.mark.parametrize("evidence", [1e3, 1e6, 1e12])
def test_entropy_of_much_evidence_has_no_rounding_errors(evidence):
    alpha = evidence * np.array([[0.2, 0.3, 0.5]])
    _, _, entropy = uce_loss(1.0, True, True, 3)([0], alpha.astype(np.float32))
    # The limit is a normal distribution of the first two probabilities.
    covariance = np.diag([0.2, 0.3]) - np.outer([0.2, 0.3], [0.2, 0.3])
    normal = 0.5 * np.linalg.slogdet(2 * np.pi * np.e * covariance / evidence)[1]
    np.testing.assert_allclose(-entropy, normal, rtol=1e-5, atol=5 / evidence)


def test_gradients_are_finite_differences():
    def loss(alpha):
        return uce_loss(0.1, num_classes=3)(LABELS, alpha)

    alpha = tf.Variable(ALPHA.astype(np.float64))
    with tf.GradientTape() as tape:
        value = loss(alpha)
    gradient = tape.gradient(value, alpha).numpy()
    for index in np.ndindex(3, 3):
        step = np.zeros([3, 3])
        step[index] = 1e-5
        slope = (loss(alpha + step) - loss(alpha - step)) / 2e-5
        np.testing.assert_allclose(gradient[index], slope, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("num_classes", [2, 4])
def test_another_number_of_classes_than_concentrations_is_an_error(num_classes):
    with pytest.raises(ValueError, match=rf"\[B, {num_classes}\], got .*\(3, 3\)"):
        uce_loss(num_classes=num_classes)(LABELS, ALPHA)


def test_sparse_labels_without_number_of_classes_are_an_error():
    with pytest.raises(ValueError, match="num_classes must be given for sparse labels"):
        uce_loss()

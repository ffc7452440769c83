"""Losses of classifiers whose output is a Dirichlet distribution."""

import functools
import math

import tensorflow as tf

__all__ = ["uce_loss"]


def uce_loss(entropy_reg=1e-5, sparse=True, return_all_loss_terms=False, num_classes=None):
    """Uncertain cross-entropy: the cross-entropy that a Dirichlet expects.

        loss = mean over examples of digamma(sum(alpha)) - digamma(alpha[label])
               - entropy_reg * entropy(Dirichlet(alpha))

    Source: Charpentier et al., 2020, Posterior Network: Uncertainty Estimation without OOD
    Samples via Density-Based Pseudo-Counts, equation 10; Bilos et al., 2019, Uncertainty on
    Asynchronous Time Event Prediction, section 4.

    Args:
        entropy_reg: weight of the entropy.
        sparse: whether labels are ints [B], else probabilities [B, num_classes].
        return_all_loss_terms: whether to return the loss, its cross-entropy and its entropy
            term, of which it is the sum.
        num_classes: needed where `sparse`.

    Returns:
        Function `(labels, alpha)` of labels and concentrations [B, num_classes], above 0;
        it raises a ValueError where these are of another number of classes.

    Raises:
        ValueError: labels are sparse and `num_classes` is missing.

    Example:
        >>> loss = uce_loss(entropy_reg=0.0, num_classes=2)
        >>> cost = loss(tf.constant([0]), tf.constant([[1.0, 1.0]]))
        >>> round(float(cost), 4)  # E[-log U] of U uniform from 0 to 1
        1.0
    """
    if sparse and num_classes is None:
        raise ValueError("num_classes must be given for sparse labels, got None")
    return functools.partial(
        _loss,
        entropy_reg=entropy_reg,
        num_classes=num_classes if sparse else None,
        return_all_loss_terms=return_all_loss_terms,
    )


def _loss(labels, alpha, entropy_reg, num_classes, return_all_loss_terms):
    alpha = tf.convert_to_tensor(alpha)
    if num_classes is not None:
        if not alpha.shape[-1:].is_compatible_with([num_classes]):
            raise ValueError(
                f"concentrations must have shape [B, {num_classes}], got {alpha.shape}"
            )
        labels = tf.reshape(tf.cast(labels, tf.int32), tf.shape(alpha)[:-1])
        labels = tf.one_hot(labels, num_classes)
    labels = tf.cast(labels, alpha.dtype)
    total = tf.reduce_sum(alpha, -1, keepdims=True)
    surprise = tf.math.digamma(total) - tf.math.digamma(alpha)
    cross_entropy = tf.reduce_mean(tf.reduce_sum(labels * surprise, -1))
    entropy = -entropy_reg * tf.reduce_mean(_dirichlet_entropy(alpha))
    loss = cross_entropy + entropy
    return (loss, cross_entropy, entropy) if return_all_loss_terms else loss


def _dirichlet_entropy(alpha):
    """Entropy [...] without differences of large numbers, which much evidence would make.

    sum(r(alpha)) - r(total) - (K - 1) digamma(total),
    r(a) = log Gamma(a) - (a - 1) digamma(a) + a
    """
    total = tf.reduce_sum(alpha, -1)
    classes = tf.cast(tf.shape(alpha)[-1], alpha.dtype)
    remainders = tf.reduce_sum(_remainder(alpha), -1) - _remainder(total)
    return remainders - (classes - 1.0) * tf.math.digamma(total)


def _remainder(alpha):
    is_small = alpha < 20.0
    small = tf.minimum(alpha, 20.0)
    exact = tf.math.lgamma(small) - (small - 1.0) * tf.math.digamma(small) + small
    large = tf.maximum(alpha, 20.0)
    series = 0.5 * tf.math.log(2.0 * math.pi * large) + 0.5
    series -= (1.0 / 3.0 + 1.0 / (12.0 * large)) / large  # Stirling's series
    return tf.where(is_small, exact, series)

"""Likelihoods: how probable targets are by a model's outputs, and its curvature."""

import math

import tensorflow as tf


class Categorical:
    """Classes; outputs are logits [N, classes], targets labels [N] or one-hot."""

    name = "categorical"

    def log_prob(self, outputs, targets):
        """[N, rows] nats of outputs [N, rows, classes]."""
        log_probs = tf.nn.log_softmax(outputs)
        if targets.shape[1:] != outputs.shape[1:] or outputs.shape[-1] == 1:
            targets = tf.reshape(tf.cast(targets, tf.int32), tf.shape(outputs)[:-1])
            targets = tf.one_hot(targets, outputs.shape[-1])
        return tf.reduce_sum(tf.cast(targets, outputs.dtype) * log_probs, axis=-1)

    def root(self, outputs):
        """[N, rows, classes, classes] L with L L' the Hessian diag(p) - p p'."""
        probabilities = tf.nn.softmax(outputs)
        roots = tf.sqrt(probabilities)
        return tf.linalg.diag(roots) - probabilities[..., None] * roots[..., None, :]


class Bernoulli:
    """Zeros and ones; outputs are logits of the shape of the targets."""

    name = "bernoulli"

    def log_prob(self, outputs, targets):
        targets = tf.cast(tf.reshape(targets, tf.shape(outputs)), outputs.dtype)
        costs = tf.nn.sigmoid_cross_entropy_with_logits(targets, outputs)
        return -tf.reduce_sum(costs, axis=-1)

    def root(self, outputs):
        probabilities = tf.nn.sigmoid(outputs)
        return tf.linalg.diag(tf.sqrt(probabilities * (1.0 - probabilities)))


class Normal:
    """Real numbers, with noise of stddev 1 here; outputs are means."""

    name = "normal"

    def log_prob(self, outputs, targets):
        targets = tf.cast(tf.reshape(targets, tf.shape(outputs)), outputs.dtype)
        constant = 0.5 * outputs.shape[-1] * math.log(2.0 * math.pi)
        return -0.5 * tf.reduce_sum((targets - outputs) ** 2, axis=-1) - constant

    def root(self, outputs):
        return tf.linalg.diag(tf.ones_like(outputs))


LIKELIHOODS = {kind.name: kind for kind in (Categorical, Bernoulli, Normal)}


def rows_of(outputs):
    """Outputs [N, ...] as float32 [N, rows, last]."""
    outputs = tf.cast(outputs, tf.float32)
    if outputs.shape.rank == 1:
        outputs = outputs[:, None]
    *rows, last = outputs.shape[1:]
    count = -1 if None in rows else math.prod(rows)
    return tf.reshape(outputs, [tf.shape(outputs)[0], count, last])


def flat_root(likelihood, outputs):
    """Root [N, rows * last, rows * last] of the Hessian of outputs [N, rows, last]."""
    roots = likelihood.root(outputs)
    rows, last = outputs.shape[1:]
    if rows == 1:
        return roots[:, 0]
    blocks = tf.einsum("nrij,rs->nrisj", roots, tf.eye(rows))
    return tf.reshape(blocks, [-1, rows * last, rows * last])

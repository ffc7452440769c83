"""What planners of the cross-entropy method share: elites and their moments."""

import tensorflow as tf


def best(plans, scores, count):
    """The `count` plans of highest score, best first: [B, count, H, A]."""
    return tf.gather(plans, tf.math.top_k(scores, count).indices, batch_dims=1)


def moments(elites):
    """Mean and stddev over the elites [B, K, H, A]; 1e-6 keeps the stddev above 0."""
    mean, variance = tf.nn.moments(elites, axes=[1])
    return mean, tf.sqrt(variance + 1e-6)


def share(count, groups):
    """An equal share, rounded up."""
    return -(-count // groups)


def check_counts(planner):
    for name in ("horizon", "candidates", "elites", "iterations"):
        if getattr(planner, name) < 1:
            raise ValueError(
                f"planner.{name} must be at least 1, got {getattr(planner, name)}"
            )
    if planner.elites > planner.candidates:
        raise ValueError(
            f"planner.elites must not exceed planner.candidates ({planner.candidates}), "
            f"got {planner.elites}"
        )

"""What planners of the cross-entropy method share: elites and their moments."""

from agents.system.errors import UserError
from agents.system.lazy import tf


def best(plans, scores, count):
    """The `count` plans of highest score, best first: [B, count, H, A]."""
    return tf.gather(plans, tf.math.top_k(scores, count).indices, batch_dims=1)


def moments(elites):
    """Mean and stddev over the elites [B, K, H, A]; 1e-6 keeps the stddev above 0."""
    mean, variance = tf.nn.moments(elites, axes=[1])
    return mean, tf.sqrt(variance + 1e-6)


def with_proposals(plans, proposals):
    """Candidates [B, N, H, A] and those that somebody proposes after them."""
    return plans if proposals is None else tf.concat([plans, proposals], axis=1)


def share(count, groups):
    """An equal share, rounded up."""
    return -(-count // groups)


def check_elites(planner):
    most, elites = planner.candidates, planner.elites
    if elites > most:
        raise UserError(f"elites must be at most candidates ({most}), got {elites}")

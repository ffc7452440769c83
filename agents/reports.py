"""Numbers about an episode and about the posterior over the weights, for the metrics."""

import numpy as np
import tensorflow as tf

from bayes_rl.weights import kl_divergences, posteriors


def weight_report(model):
    """How sure the model is of its weights, layer by layer.

    Returns:
        Dict: for each Bayesian layer `weight_kl/<layer>` (nats, summed over its weights),
        `weight_stddev/<layer>` (mean over weights) and `weight_ratio/<layer>`, the stddev
        over the root mean square of the posterior means: noise relative to signal.
    """
    report = {}
    divergences = kl_divergences(model)
    for name, posterior in posteriors(model).items():
        layer = name.rsplit("/", 1)[0]
        stddev = float(tf.reduce_mean(posterior.stddev()))
        size = float(tf.sqrt(tf.reduce_mean(posterior.mean() ** 2)))
        report[f"weight_kl/{layer}"] = float(divergences[name])
        report[f"weight_stddev/{layer}"] = stddev
        report[f"weight_ratio/{layer}"] = stddev / max(size, 1e-12)
    return report


def episode_return(episode) -> float:
    """Undiscounted sum of the rewards of an episode."""
    return float(np.sum(episode["reward"], dtype=np.float64))


def agent_steps(episode) -> int:
    """Actions taken in an episode."""
    return len(episode["reward"]) - 1

"""How sure a model is of its weights, in numbers for the metrics."""

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
    for name, row in zip(posteriors(model), _weight_report(model).numpy(), strict=True):
        layer = name.rsplit("/", 1)[0]
        divergence, stddev, size = row.tolist()
        report[f"weight_kl/{layer}"] = divergence
        report[f"weight_stddev/{layer}"] = stddev
        report[f"weight_ratio/{layer}"] = stddev / max(size, 1e-12)
    return report


@tf.function
def _weight_report(model):
    """For each posterior its KL, the mean of its stddevs, the size of its means."""
    rows = [tf.zeros([0, 3])]
    divergences = kl_divergences(model)
    for name, posterior in posteriors(model).items():
        stddev = tf.reduce_mean(posterior.stddev())
        size = tf.sqrt(tf.reduce_mean(posterior.mean() ** 2))
        rows.append([[divergences[name], stddev, size]])
    return tf.concat(rows, 0)

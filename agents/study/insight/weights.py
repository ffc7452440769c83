"""How sure a model is of its weights, in numbers for the metrics."""

import math

import numpy as np
import tensorflow as tf

from bayes_rl.weights import posteriors


def weight_report(model):
    """How sure the model is of its weights, layer by layer.

    Returns:
        Dict: for each uncertain layer `weight_kl/<layer>` (nats, summed over its weights;
        not where the source of uncertainty has none), `weight_stddev/<layer>` (mean over
        weights) and `weight_ratio/<layer>`, the stddev over the root mean square of the
        means over draws: noise relative to signal.
    """
    report = {}
    for layer, row in zip(_layers(model), _weight_report(model).numpy(), strict=True):
        divergence, stddev, size = row.tolist()
        if np.isfinite(divergence):
            report[f"weight_kl/{layer}"] = divergence
        report[f"weight_stddev/{layer}"] = stddev
        report[f"weight_ratio/{layer}"] = stddev / max(size, 1e-12)
    return report


@tf.function(autograph=False)
def _weight_report(model):
    """For each layer its KL, NaN for none, the mean stddev, the size of the means."""
    rows = [tf.zeros([0, 3])]
    costs = model.source.costs(model)
    for weights in _layers(model).values():
        divergence = sum(costs.get(name, math.nan) for name in weights)
        stddev = _together(posterior.stddev() for posterior in weights.values())
        mean = _together(posterior.mean() for posterior in weights.values())
        size = tf.sqrt(tf.reduce_mean(mean**2))
        rows.append([[divergence, tf.reduce_mean(stddev), size]])
    return tf.concat(rows, 0)


def _together(tensors):
    return tf.concat([tf.reshape(tensor, [-1]) for tensor in tensors], 0)


def _layers(model):
    """For each uncertain layer the posteriors of its weights, by full name."""
    layers = {}
    for name, posterior in posteriors(model).items():
        layers.setdefault(name.rpartition("/")[0], {})[name] = posterior
    return layers

"""Estimates of what a next latent would tell about the weights.

The information gain of one step is the mutual information of next latent and weights,

    I(s'; w) = H[mean over k of N(mean_k, stddev_k^2)]
               - mean over k of H[N(mean_k, stddev_k^2)]

over S draws k of the weights (Lindley, 1956; Houlsby et al., 2011, BALD, equation 2). The
entropy of the mixture has no closed form; each function here estimates it. All take mean
and stddev [S, ..., D] and return [...], in nats.
"""

import math

from agents.system.lazy import tf


def moment_matched(mean, stddev):
    """Upper bound: the mixture's entropy is at most that of a normal of equal variance.

        v_d = mean over k of (stddev^2 + mean^2) - (mean over k of mean)^2
        I <= 1/2 sum over d of (log v_d - mean over k of log stddev_d^2)

    It treats dimensions as independent and is exact for identical draws: 0.

    Source: Depeweg et al., 2018, Decomposition of Uncertainty in Bayesian Deep Learning,
    section 3.

    Example:
        >>> mean = tf.constant([[-1.0], [1.0]])
        >>> round(float(moment_matched(mean, tf.ones_like(mean))), 4)  # 1/2 log 2
        0.3466
    """
    variance = tf.square(stddev)
    total = tf.reduce_mean(variance, 0) + tf.math.reduce_variance(mean, 0)
    noise = tf.reduce_mean(tf.math.log(variance), 0)
    return 0.5 * tf.reduce_sum(tf.math.log(total) - noise, -1)


def pairwise(mean, stddev):
    """Lower bound from the Bhattacharyya distances of all pairs of draws; at most log S.

        BD_ij = sum over d of (mean_i - mean_j)^2 / (4 (stddev_i^2 + stddev_j^2))
                + 1/2 log((stddev_i^2 + stddev_j^2) / (2 stddev_i stddev_j))
        I >= -mean over i of log mean over j of exp(-BD_ij)

    Source: Kolchinsky and Tracey, 2017, Estimating Mixture Entropy with Pairwise
    Distances, equation 10.

    Example:
        >>> mean = tf.constant([[-100.0], [100.0]])
        >>> round(float(pairwise(mean, tf.ones_like(mean))), 4)  # log 2
        0.6931
    """
    variance = tf.square(stddev)
    sums = variance[:, tf.newaxis] + variance[tf.newaxis]
    apart = tf.square(mean[:, tf.newaxis] - mean[tf.newaxis]) / (4.0 * sums)
    product = stddev[:, tf.newaxis] * stddev[tf.newaxis]
    wider = 0.5 * tf.math.log(sums / (2.0 * product))
    distance = tf.reduce_sum(apart + wider, -1)
    inner = tf.reduce_logsumexp(-distance, axis=1) - math.log(mean.shape[0])
    return -tf.reduce_mean(inner, axis=0)


ESTIMATES = {"moment_matched": moment_matched, "pairwise": pairwise}

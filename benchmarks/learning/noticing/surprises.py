"""How surprising an episode is to a model: by its posterior, and without one."""

from typing import NamedTuple

import numpy as np
import tensorflow as tf
from scipy import special, stats

from agents.planet.planning.imagination import expect_next
from agents.study.insight.latents import filter_latents
from agents.study.insight.spread import as_batch
from agents.system.seeds import fold
from bayes_rl.weights import hold

DRAWS = 100  # of the weights


class Steps(NamedTuple):
    """What came in each step, and what had been expected of it one step before."""

    came: np.ndarray  # [T, D], mean of the latent after the step, which the filter sees
    means: np.ndarray  # [S, T, D], which S draws of the weights expected
    stddevs: np.ndarray  # [S, T, D], of the noise that they expected
    mean: np.ndarray  # [T, D], which the mean weights expected, as a deterministic twin
    stddev: np.ndarray  # [T, D], of the noise that these expected
    inputs: np.ndarray  # [T, I], which the transition's last layer got, and a 1

    def first(self, count):
        """The first so many steps."""
        return Steps(*(each[..., :count, :] for each in self))


def expected_steps(model, episode, seed):
    """The `Steps` of an episode, [T - 1] of its T rows."""
    batch = as_batch(episode)
    embedding = model.embed(batch, fold(seed, 0))
    still = tf.zeros([*batch["is_first"].shape, model.rssm.latent_size])
    known = batch["action"], batch["is_first"], still
    central = model.central_weights()
    latent = filter_latents(model, embedding, *known, central)
    before, action = latent.features[:, :-1], batch["action"][:, 1:]
    drawn = model.draw_weights(DRAWS, fold(seed, 1))
    each = expect_next(model, before, action, drawn, DRAWS)
    alone = expect_next(model, before, action, as_one_draw(central), 1)
    with hold(model, central):
        inputs = model.rssm.prior_inputs(latent.belief[:, 1:])
    found = latent.mean[:, 1:], *each[1:3], *(x[0] for x in alone[1:3]), inputs
    came, means, stddevs, mean, stddev, inputs = (x.numpy().astype(float) for x in found)
    inputs = np.pad(inputs[0], [(0, 0), (0, 1)], constant_values=1.0)
    return Steps(came[0], means[:, 0], stddevs[:, 0], mean[0], stddev[0], inputs)


def of_draws(steps):
    """Mean over t of -log mean over k of N(z_t; m_kt, s_kt^2), draws k of the weights."""
    each = stats.norm.logpdf(steps.came, steps.means, steps.stddevs).sum(-1)
    return -np.mean(special.logsumexp(each, axis=0) - np.log(len(each)))


def of_mean_weights(steps):
    """Mean over t of -log N(z_t; m_t, s_t^2): by the noise that the twin expects."""
    return -np.mean(stats.norm.logpdf(steps.came, steps.mean, steps.stddev).sum(-1))


def of_squared_error(steps):
    """Mean over t and dimensions of ((z_t - m_t) / s_t)^2, by the mean weights."""
    return np.mean(np.square((steps.came - steps.mean) / steps.stddev))


def of_squared_error_of_draws(steps):
    """Mean over t and dimensions of (z_t - m_t)^2 / (s_t^2 + variance over k of m_kt)."""
    variance = np.square(steps.stddev) + np.var(steps.means, axis=0)
    return np.mean(np.square(steps.came - steps.mean) / variance)


def of_spread(steps):
    """Root mean square over t and dimensions of the stddev over draws of m_kt."""
    return np.sqrt(np.mean(np.var(steps.means, axis=0)))


def of_mean_error(steps):
    """Sum over dimensions of (mean over t of (z_t - m_t) / s_t)^2. It needs no posterior.

    Errors that lean to one side all along point to another task, though each be small.
    """
    errors = (steps.came - steps.mean) / steps.stddev
    return np.sum(np.mean(errors, axis=0) ** 2)


def of_posterior(steps):
    """How much better other weights, of those that the posterior is unsure of, would fit.

    `score_test` with P, [D, T, T], the covariance over draws of what the weights expect.
    """
    about = np.moveaxis(steps.means - steps.means.mean(0), -1, 0)  # [D, S, T]
    covariance = np.swapaxes(about, 1, 2) @ about / (len(steps.means) - 1)
    return score_test(steps, covariance, known=covariance)


def of_any_weights(steps):
    """How much better any other weights of the last layer would fit: without a posterior.

    `score_test` with P = x x^T of the layer's inputs x, [T, I], and none of it known.
    """
    covariance = steps.inputs @ steps.inputs.T
    return score_test(steps, covariance[np.newaxis], known=0.0)


def score_test(steps, covariance, known):
    """Whether errors vary together as other weights would make them.

        sum over d of e^T K^-1 P K^-1 e / trace(K^-1 P),  K = known + diag(s^2)

    e [T] are the errors of dimension d, and P [T, T] is the covariance that uncertain
    weights give them. It grows with the derivative of log N(e; 0, K + c P) by c at 0. Each
    dimension would give 1 in the mean if K were the covariance of its errors. The filter's
    means vary less than samples, so it is used as a score alone.

    Source: after Lin, 1997, Variance Component Testing in Generalised Linear Models with
    Random Effects, Biometrika 84; here each score is divided by its expectation, and not
    by its standard error.
    """
    noise = np.square(steps.stddev).T[:, :, np.newaxis] * np.eye(len(steps.came))
    weighed = np.linalg.solve(known + noise, np.broadcast_to(covariance, noise.shape))
    errors = (steps.came - steps.mean).T[..., np.newaxis]
    fits = np.swapaxes(errors, 1, 2) @ weighed @ np.linalg.solve(known + noise, errors)
    expected = np.trace(weighed, axis1=1, axis2=2)
    certain = expected < 1e-9  # rounding alone: such weights tell nothing
    return np.sum(np.where(certain, 0.0, fits[:, 0, 0] / np.where(certain, 1.0, expected)))


KINDS = {
    "log density, draws": of_draws,
    "log density": of_mean_weights,
    "squared error, draws": of_squared_error_of_draws,
    "squared error": of_squared_error,
    "spread": of_spread,
    "mean error": of_mean_error,
    "score test, posterior": of_posterior,
    "score test": of_any_weights,
}
DIFFERENCES = (  # by the posterior, and by the deterministic twin
    ("log density, draws", "log density"),
    ("squared error, draws", "squared error"),
    ("score test, posterior", "score test"),
    ("score test, posterior", "mean error"),
)


def auroc(changed, unchanged):
    """The probability that one of the first is above one of the second; ties count half.

    Example:
        >>> float(auroc([2.0, 3.0], [1.0, 2.0]))
        0.875
    """
    return stats.mannwhitneyu(changed, unchanged).statistic / len(changed) / len(unchanged)


def as_one_draw(weights):
    """Weights of one function, as one draw."""
    return tf.nest.map_structure(lambda w: w[tf.newaxis], weights)

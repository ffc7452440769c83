"""The marginal likelihood of Laplace's approximation, and what is chosen by it."""

import math

import numpy as np

_STEPS = 1000
_SMALLEST, _LARGEST = 1e-8, 1e8  # of what is chosen


class Evidence:
    """The marginal likelihood of data, by the curvature at the trained weights.

        log p(D) = log p(D | weights) + P log(delta) / 2 - delta |weights|^2 / 2
                   - log det(G / noise_stddev^2 + delta I) / 2

    What is None is chosen at its maximum, for a curvature that does not depend on it:

        gamma = sum of eigenvalues / (eigenvalues + delta)
        delta = gamma / |weights|^2,  noise_stddev^2 = sum of squares / (numbers - gamma)

    `log_likelihood` is that of noise of stddev 1 where the likelihood is normal; where it
    is not, `numbers`, of targets, is None. Delta is `prior_precision`.

    Source: MacKay, 1992, A Practical Bayesian Framework for Backpropagation Networks,
    section 2; Bishop, 2006, Pattern Recognition and Machine Learning, equations 3.92 and
    3.95.
    """

    def __init__(
        self,
        blocks,
        mean,
        log_likelihood,
        numbers=None,
        prior_precision=None,
        noise_stddev=None,
    ):
        self._given = log_likelihood, numbers
        self._eigenvalues = np.concatenate([x.eigenvalues.ravel() for x in blocks])
        values = [np.asarray(x, np.float64) for x in mean.values()]
        self._norm = sum(float(np.sum(np.square(x))) for x in values)
        self.prior_precision, self.noise_stddev = prior_precision, noise_stddev
        self._choose()

    def settings(self):
        """Arguments that make the same again, of the same blocks and mean."""
        return {
            "log_likelihood": self._given[0],
            "numbers": self._given[1],
            "prior_precision": self.prior_precision,
            "noise_stddev": self.noise_stddev,
        }

    def precision(self, block):
        """[*shape of eigenvalues] of a block: the posterior's precision in its basis."""
        return block.eigenvalues / self._variance + self.prior_precision

    @property
    def value(self):
        """Log p(D), nats."""
        precision = self._eigenvalues / self._variance + self.prior_precision
        prior = len(precision) * math.log(self.prior_precision)
        prior -= self.prior_precision * self._norm
        return self._log_likelihood() + 0.5 * (prior - float(np.sum(np.log(precision))))

    def kl_divergence(self):
        """KL(posterior || prior), nats."""
        ratio = self._eigenvalues / (self._variance * self.prior_precision) + 1.0
        total = np.sum(1.0 / ratio - 1.0 + np.log(ratio))
        return 0.5 * float(total + self.prior_precision * self._norm)

    @property
    def _variance(self):
        return 1.0 if self._given[1] is None else self.noise_stddev**2

    def _squares(self):
        """Sum of squared errors of the targets."""
        log_likelihood, numbers = self._given
        return -2.0 * log_likelihood - numbers * math.log(2.0 * math.pi)

    def _log_likelihood(self):
        log_likelihood, numbers = self._given
        if numbers is None:
            return log_likelihood
        normal = numbers * math.log(2.0 * math.pi * self._variance)
        return -0.5 * (self._squares() / self._variance + normal)

    def _choose(self):
        is_normal = self._given[1] is not None
        chosen = self.prior_precision is None, is_normal and self.noise_stddev is None
        delta = 1.0 if chosen[0] else self.prior_precision
        variance = self.noise_stddev**2 if self.noise_stddev else 1.0
        if chosen[1]:
            variance = self._squares() / self._given[1]
        for _ in range(_STEPS if any(chosen) else 0):
            before = delta, variance
            scaled = self._eigenvalues / max(variance, _SMALLEST)
            gamma = float(np.sum(scaled / (scaled + delta)))
            if chosen[0]:
                delta = min(max(gamma / max(self._norm, _SMALLEST), _SMALLEST), _LARGEST)
            if chosen[1]:
                rest = max(self._given[1] - gamma, 1.0)
                variance = max(self._squares() / rest, _SMALLEST)
            if np.allclose(before, (delta, variance), rtol=1e-10, atol=0.0):
                break
        self.prior_precision = delta
        if is_normal:
            self.noise_stddev = math.sqrt(variance)

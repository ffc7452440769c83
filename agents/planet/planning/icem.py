"""A sample-efficient cross-entropy method, iCEM."""

import dataclasses

from agents.planet.action_space import BOX
from agents.planet.planning.cross_entropy import CrossEntropy
from agents.planet.planning.planner import Plan, best, moments, share, with_proposals
from agents.system.lazy import np, tf
from agents.system.seeds import fold, normal, split
from agents.system.settings import key


@dataclasses.dataclass(frozen=True)
class ImprovedCrossEntropy(CrossEntropy):
    """iCEM: the same plans from far fewer evaluations.

    To the cross-entropy method it adds noise that is correlated in time (power spectrum
    1 / frequency^noise_beta), a population that shrinks by `decay` in each iteration,
    elites kept within and across decisions, momentum of the refit, the mean among the last
    candidates, and a start from the last plan moved on by one step.

    It departs from the source in the plan: the last mean, not the best candidate, whose
    score is in part luck where the model is stochastic. Of categories it fits probabilities
    and the plan is the most probable choice, see `agents.planet.action_space.Categories`.

    Source: Pinneri et al., 2020, Sample-efficient Cross-Entropy Method for Real-time
    Planning, section 3 and algorithm 1.

    Args:
        horizon, candidates, elites, iterations, common_noise: as in `CrossEntropy`;
            `candidates` are those of the first iteration.
        noise_beta: 0 is white noise; 2 and more is smooth.
        decay: factor by which the population shrinks, at least 1, which keeps it.
        keep_elites: share of the elites that return as candidates, in [0, 1].
        momentum: share of the old mean and stddev in the new ones, in [0, 1).
        initial_stddev: of the first iteration, above 0; categories have none.

    Raises:
        ValueError: a value is out of its range.

    Example:
        >>> counts = {"horizon": 12, "candidates": 100, "elites": 10, "iterations": 3}
        >>> kept = {"keep_elites": 0.3, "momentum": 0.1, "common_noise": True}
        >>> planner = ImprovedCrossEntropy(
        ...     **counts, **kept, noise_beta=1.0, decay=1.25, initial_stddev=1.0
        ... )
        >>> planner.populations
        [100, 80, 64]
    """

    noise_beta: float = key(least=0)
    decay: float = key(least=1)
    keep_elites: float = key(least=0, most=1)
    momentum: float = key(least=0, below=1)
    initial_stddev: float = key(above=0)

    @property
    def populations(self) -> list[int]:
        """Fresh candidates of each iteration: candidates / decay^i, at least 2 elites."""
        sizes = (round(self.candidates / self.decay**i) for i in range(self.iterations))
        return [max(size, min(2 * self.elites, self.candidates)) for size in sizes]

    @property
    def num_kept(self) -> int:
        """Elites that return as candidates."""
        return int(round(self.keep_elites * self.elites, 9))  # 0.29 x 100 is 28.999...

    @property
    def evaluations(self) -> int:
        """Plans scored for one decision, without proposals."""
        return sum(self.populations) + self.iterations * self.num_kept + 1

    def share(self, groups):
        """The planner of one of `groups`; it keeps elites as well."""
        shared = super().share(groups)
        kept = share(self.num_kept, groups) + 0.5  # so that rounding takes none away
        return dataclasses.replace(shared, keep_elites=min(kept / shared.elites, 1.0))

    def initial_state(self, batch_size, action_size):
        """No plan yet: zeros. The mean [B, H, A] and the kept elites [B, kept, H, A]."""
        plan = tf.zeros([batch_size, self.horizon, action_size])
        return plan, tf.zeros([batch_size, self.num_kept, self.horizon, action_size])

    def plan(self, score, state, shape, seed, proposals=None, space=BOX):
        """The last mean; arguments and results as in `Planner.plan`."""
        del shape
        mean, elites = tf.nest.map_structure(_move_on, state)
        mean, elites = space.start(mean), space.mode(elites)
        stddev = self.initial_stddev * tf.ones_like(mean)
        for iteration, population in enumerate(self.populations):
            seeds = split(fold(seed, iteration), 2)
            plans = self._candidates(space, mean, stddev, population, seeds[0])
            plans = tf.concat([plans, elites[:, : self.num_kept]], axis=1)
            if iteration == self.iterations - 1:
                plans = tf.concat([plans, space.mode(mean)[:, tf.newaxis]], axis=1)
            scores = score(with_proposals(plans, proposals), seeds[1])
            if proposals is not None:
                scores = _count_once(scores, elites[:, : self.num_kept], proposals)
            elites = best(with_proposals(plans, proposals), scores, self.elites)
            mean, stddev = (
                self.momentum * old + (1 - self.momentum) * new
                for old, new in zip((mean, stddev), moments(elites), strict=True)
            )
        found = Plan(space.mode(mean), space.spread(mean, stddev))
        return found, (mean, elites[:, : self.num_kept])

    def _candidates(self, space, mean, stddev, population, seed):
        basis = tf.constant(colored_noise_basis(self.horizon, self.noise_beta), tf.float32)
        batch_size, _, action_size = mean.shape
        shape = [batch_size, population, action_size, basis.shape[0]]
        noise = normal(shape, seed) @ basis  # [B, N, A, H]
        noise = tf.transpose(noise, [0, 1, 3, 2])
        return space.draw(mean[:, tf.newaxis], stddev[:, tf.newaxis], noise)


def _count_once(scores, kept, proposals):
    """Scores [B, N] without those of the proposals, the last P, that are kept elites."""
    is_kept = tf.reduce_all(proposals[:, :, tf.newaxis] == kept[:, tf.newaxis], axis=[3, 4])
    again = tf.reduce_any(is_kept, axis=2)  # [B, P]
    count = proposals.shape[1]
    others = tf.where(again, -np.inf, scores[:, -count:])
    return tf.concat([scores[:, :-count], others], axis=1)


def colored_noise_basis(length, exponent):
    """The matrix that turns white noise into noise of power 1 / frequency^exponent.

    Rows are the cosines and sines of the discrete Fourier frequencies, weighted by
    frequency^(-exponent / 2); the lowest one stands in for frequency 0. Each column has
    norm 1, so `white @ basis` has unit variance at every step. It is float64, [frequencies,
    length].

    Source: Timmer and Koenig, 1995, On generating power law noise.

    Example:
        >>> import numpy as np
        >>> basis = colored_noise_basis(4, 0.0)
        >>> np.allclose(basis.T @ basis, np.eye(4))
        True
    """
    frequencies = np.fft.rfftfreq(length)
    weights = np.maximum(frequencies, 1 / length) ** (-exponent / 2)
    once = (frequencies == 0) | (frequencies == 0.5)  # these have no sine
    weights = weights * np.where(once, 1.0, np.sqrt(2.0))
    angles = 2 * np.pi * np.outer(frequencies, np.arange(length))
    rows = np.concatenate(
        [weights[:, None] * np.cos(angles), (weights[:, None] * np.sin(angles))[~once]]
    )
    return rows / np.linalg.norm(rows, axis=0)


def _move_on(plans):
    """Plans [..., H, A] one decision later; the last action is repeated."""
    return tf.concat([plans[..., 1:, :], plans[..., -1:, :]], axis=-2)

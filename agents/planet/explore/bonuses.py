"""The return plus a bonus where draws disagree at the same latent and action."""

import dataclasses
import math
from typing import ClassVar

from agents.planet.explore.strategy import Strategy, anneal, balance, over_horizon, returns
from agents.system.lazy import tf
from agents.system.settings import Settings, key


@dataclasses.dataclass(frozen=True)
class Bonus(Settings, Strategy):
    """Return and bonus, each measured by its spread over candidates (see `balance`).

    Args:
        beta: weight of the bonus against the return.
        final_beta: its weight once it is annealed, see `scheduled`; None: `beta` all along.
        annealing_steps: environment steps until beta is `final_beta`; None: no such end.
        annealing_episodes: beta is `final_beta` while so many of the last ten episodes came
            to a reward, see `agents.episodes.rewards`; None: rewards change nothing.
        bonus_from: environment steps after which the bonus counts.
        return_floor: if the spread of returns is below it, returns count less. Its unit is
            a reward of 1 in the loss of the model. This is 1, except on tasks whose rewards
            may have any size.
        draws: at least 2.
        critic: whether a critic learns the value of the bonus beyond the horizon, see
            `agents.planet.value.explorer`.
        beta_rate: learning rate of beta, see there; 0: beta is as scheduled.
        reward_from: environment steps after which plans seek return. Before that, they seek
            only the bonus (Sekar et al., 2020), while model and value already learn from
            the rewards that are found.
    """

    beta: float = key(least=0)
    final_beta: float | None = key(least=0)
    annealing_steps: int | None = key(least=1)
    annealing_episodes: int | None = key(least=1, most=10)
    bonus_from: int = key(least=0)
    return_floor: float = key(least=0)
    draws: int = key(least=2)
    critic: bool = key()
    beta_rate: float = key(least=0)
    reward_from: int = key(least=0)
    trajectories: ClassVar[str] = "shared"

    @property
    def counts_rewards(self):
        """Whether it uses how many of the last episodes came to a reward worth having."""
        return self.annealing_episodes is not None

    def rests(self, elapsed):
        """Whether plans seek the return alone now, []; None: they never do."""
        ends = self.final_beta == 0
        if self.critic or not (ends or self.bonus_from):
            return None
        rests = elapsed.environment_steps < self.bonus_from
        for count, end in self._phases(elapsed) if ends else ():
            rests |= count >= end
        return rests

    def _phases(self, elapsed):
        """Pairs of a count and of where it ends the annealing."""
        phases = (
            (elapsed.environment_steps, self.annealing_steps),
            (elapsed.rewarded_episodes, self.annealing_episodes),
        )
        return [(count, end) for count, end in phases if end is not None]

    def steps(self, rollout):
        """The bonus of each step, [B, N, H]."""
        raise NotImplementedError

    def bonus(self, rollout):
        """[B, N], summed up to the end of the episode: over the horizon and beyond it."""
        return (self._within(rollout) + rollout.novelty)[0]

    def _within(self, rollout):
        return over_horizon(rollout, self.steps(rollout)[tf.newaxis])

    def scheduled(self, elapsed):
        """The weight of the bonus after what has elapsed of a run, [].

            beta + (final_beta - beta) share
            share = min(1, max(environment steps / annealing_steps,
                               rewarded episodes / annealing_episodes))

        and 0 before `bonus_from`.
        """
        weight = anneal(self.beta, self.final_beta, *self._phases(elapsed))
        counts = elapsed.environment_steps >= self.bonus_from
        return weight * tf.cast(counts, tf.float32)

    def of_return(self, elapsed):
        """1, or 0 where plans seek the bonus alone, []."""
        return tf.cast(elapsed.environment_steps >= self.reward_from, tf.float32)

    def score(self, rollout, beta, elapsed):
        """[B, N], with a bonus of this weight, []."""
        wanted = self.of_return(elapsed) * returns(rollout)[:1]
        bonuses = self._within(rollout), beta, self.return_floor, rollout.novelty
        return balance(wanted, *bonuses)[0]

    def __call__(self, rollout, elapsed):
        return self.score(rollout, self.scheduled(elapsed), elapsed)


@dataclasses.dataclass(frozen=True)
class Disagreement(Bonus):
    """Seeks steps whose next latent the draws predict differently.

        bonus = sum over the horizon of mean over d of variance over k of mean_kd

    Source: Sekar et al., 2020, Planning to Explore via Self-Supervised World Models,
    equation 3, with draws of one posterior in place of an ensemble.

    Args and errors: as in `Bonus`.

    Example:
        >>> from agents.planet.planning.rollouts import Rollout
        >>> mean = tf.constant([[[[[0.0]], [[0.0]]]], [[[[0.0]], [[2.0]]]]])
        >>> rollout = Rollout(tf.zeros([1, 1, 2, 1]), mean, tf.ones_like(mean))
        >>> settings = {"beta": 1.0, "final_beta": None, "annealing_steps": None}
        >>> settings |= {"annealing_episodes": None, "bonus_from": 0}
        >>> settings |= {"critic": False, "beta_rate": 0.0, "reward_from": 0}
        >>> strategy = Disagreement(**settings, return_floor=0.3, draws=2)
        >>> strategy.bonus(rollout).numpy().tolist()
        [[0.0, 1.0]]
    """

    def steps(self, rollout):
        return tf.reduce_mean(tf.math.reduce_variance(rollout.mean, axis=0), -1)


def moment_matched(mean, stddev):
    """Upper bound of the information gain of one step, see `InformationGain`.

    The entropy of the mixture is at most that of a normal of equal variance:

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
    """Lower bound of the information gain of one step, see `InformationGain`.

    It comes from the Bhattacharyya distances of all pairs of draws, and is at most log S:

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


@dataclasses.dataclass(frozen=True)
class InformationGain(Bonus):
    """Seeks steps whose next latent gives most information about the weights.

        bonus = sum over the horizon of I(s'; w)
        I(s'; w) = H[mean over k of N(mean_k, stddev_k^2)]
                   - mean over k of H[N(mean_k, stddev_k^2)]

    in nats, over S draws k of the weights: the mutual information of next latent and
    weights. The entropy of the mixture has no closed form; each of `ESTIMATES` takes mean
    and stddev [S, ..., D] and returns [...]. In contrast to `Disagreement` it counts less
    where the model itself expects noise.

    Source: Lindley, 1956, On a Measure of the Information Provided by an Experiment;
    Houlsby et al., 2011, Bayesian Active Learning for Classification and Preference
    Learning, equation 2; Shyam et al., 2019, Model-Based Active Exploration, section 3.

    Args: as in `Bonus`, and
        estimate: "moment_matched" or "pairwise".

    Raises:
        ValueError: an argument is out of its range.

    Example:
        >>> from agents.planet.planning.rollouts import Rollout
        >>> same = tf.zeros([5, 1, 2, 3, 4])
        >>> rollout = Rollout(tf.zeros([1, 1, 2, 3]), same, same + 0.1)
        >>> settings = {"beta": 1.0, "final_beta": None, "annealing_steps": None}
        >>> settings |= {"annealing_episodes": None, "bonus_from": 0}
        >>> settings |= {"critic": False, "beta_rate": 0.0, "reward_from": 0}
        >>> settings |= {"return_floor": 0.3}
        >>> strategy = InformationGain(**settings, draws=5, estimate="moment_matched")
        >>> strategy.bonus(rollout).numpy().tolist()
        [[0.0, 0.0]]
    """

    estimate: str = key(choices=tuple(ESTIMATES))

    def steps(self, rollout):
        return ESTIMATES[self.estimate](rollout.mean, rollout.stddev)


@dataclasses.dataclass(frozen=True)
class UncertaintyPenalty(Bonus):
    """Safe: stays where the draws agree.

        bonus = -sum over the horizon of sqrt(mean over d of variance over k of mean_kd)

    Source: Yu et al., 2020, MOPO: Model-based Offline Policy Optimization, section 4.2,
    with the epistemic stddev as the penalty.

    Args and errors: as in `Bonus`.

    Example:
        >>> from agents.planet.planning.rollouts import Rollout
        >>> mean = tf.constant([[[[[0.0]], [[0.0]]]], [[[[0.0]], [[2.0]]]]])
        >>> rollout = Rollout(tf.zeros([1, 1, 2, 1]), mean, tf.ones_like(mean))
        >>> settings = {"beta": 1.0, "final_beta": None, "annealing_steps": None}
        >>> settings |= {"annealing_episodes": None, "bonus_from": 0}
        >>> settings |= {"critic": False, "beta_rate": 0.0, "reward_from": 0}
        >>> strategy = UncertaintyPenalty(**settings, return_floor=0.3, draws=2)
        >>> strategy.bonus(rollout).numpy().round(3).tolist()
        [[0.0, -1.0]]
    """

    def steps(self, rollout):
        variance = tf.reduce_mean(tf.math.reduce_variance(rollout.mean, axis=0), -1)
        return -tf.sqrt(variance)


@dataclasses.dataclass(frozen=True)
class NoisePenalty(Bonus):
    """Safe: stays where the model itself expects little noise; needs no draws.

        bonus = -sum over the horizon of sqrt(mean over d of stddev_d^2)

    It replaces `UncertaintyPenalty` for a transition without uncertainty over its weights.
    Each penalty is divided by its spread over plans, so one beta
    means the same for both.

    Source: Yu et al., 2020, MOPO: Model-based Offline Policy Optimization, section 4.2,
    with one model in the place of an ensemble.

    Args and errors: as in `UncertaintyPenalty`, without draws.

    Example:
        >>> from agents.planet.planning.rollouts import Rollout
        >>> stddev = tf.constant([[[[[1.0]], [[3.0]]]]])
        >>> rollout = Rollout(tf.zeros([1, 1, 2, 1]), tf.zeros_like(stddev), stddev)
        >>> settings = {"beta": 1.0, "final_beta": None, "annealing_steps": None}
        >>> settings |= {"annealing_episodes": None, "bonus_from": 0}
        >>> settings |= {"critic": False, "beta_rate": 0.0, "reward_from": 0}
        >>> strategy = NoisePenalty(**settings, return_floor=0.3)
        >>> strategy.bonus(rollout).numpy().tolist()
        [[-1.0, -3.0]]
    """

    draws: ClassVar[int] = 0
    trajectories: ClassVar[str] = "mean"

    def steps(self, rollout):
        return -tf.sqrt(tf.reduce_mean(tf.square(rollout.stddev[0]), -1))

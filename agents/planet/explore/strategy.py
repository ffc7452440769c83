"""The interface of a strategy; how a bonus is weighted against the return."""

from typing import Any, ClassVar, NamedTuple

from agents.system.lazy import tf

REDRAWS = ("episode", "decision")
# Differences of the bonus below this share of its size do not count.
_BONUS_FLOOR = 0.01


class Elapsed(NamedTuple):
    """The progress of a run. Strategies may change with it.

    Attributes:
        environment_steps: [], before action repeat.
        rewarded_episodes: [], of the last ten those that came to a reward worth having, or
            None.
    """

    environment_steps: Any = 0
    rewarded_episodes: Any = None


class Strategy:
    """Maps imagined rollouts to scores. Only the draws of the weights are random.

    A strategy is a frozen dataclass: `class Hopeful(Settings, Strategy)`, with
    `agents.system.settings.Settings`. These attributes have defaults:

    Attributes:
        draws: how many draws of the weights to imagine with; 0: the mean weights.
        redraw: when to take new draws, of `REDRAWS`.
        trajectories: how plans are rolled out under the draws, one of
            `agents.planet.planning.imagination.TRAJECTORIES`.
        filter_with_draw: whether the agent's own filter uses the (first) draw as well.
        groups: of candidates that are never mixed, each with a plan of its own, see
            `agents.planet.planning.planner`; 1: the planner is used as it is.
        counts_rewards: whether it uses `Elapsed.rewarded_episodes`.
        critic: whether a critic learns the value of its bonus beyond the horizon; only for
            `agents.planet.explore.bonuses`.
        reward_from: environment steps after which plans seek return; only for these too.
    """

    draws: ClassVar[int] = 0
    redraw: ClassVar[str] = "decision"
    trajectories: ClassVar[str] = "mean"
    filter_with_draw: ClassVar[bool] = False
    groups: ClassVar[int] = 1
    counts_rewards: ClassVar[bool] = False
    critic: ClassVar[bool] = False
    reward_from: ClassVar[int] = 0

    def __call__(self, rollout, elapsed):
        """Scores plans.

        Args:
            rollout: `agents.planet.planning.rollouts.Rollout`: reward, reached and trace
                [S, B, N, H], mean and stddev [S, B, N, H, D], value [S, B, N].
            elapsed: `Elapsed` of the run so far, for annealing.

        Returns:
            [B, N], higher is better.
        """
        raise NotImplementedError

    def rests(self, elapsed):
        """Whether the bonus does not count now. Plans are then ranked by their return.

        During that time, no weights are drawn.

        Args:
            elapsed: `Elapsed` of the run so far.

        Returns:
            []; None where it never does.
        """
        del elapsed


def returns(rollout):
    """Expected sum of the mean rewards of a plan and the value after it, [S, B, N].

    With a value it is the lambda return, see
    `agents.planet.planning.rollouts.Layout.counted`.
    """
    return over_horizon(rollout, rollout.trace * rollout.reward) + rollout.value


def over_horizon(rollout, values):
    """Expected sum of a value of each step; steps after an episode's end do not count.

        sum over k of reached_k * value_k,  [S, B, N] of values [S or 1, B, N, H]

    Example:
        >>> from agents.planet.planning.rollouts import Rollout
        >>> reached = tf.constant([1.0, 0.5, 0.25])
        >>> rollout = Rollout(tf.ones([1, 1, 1, 3]), None, None, reached)
        >>> over_horizon(rollout, rollout.reward).numpy().tolist()
        [[[1.75]]]
    """
    return tf.reduce_sum(rollout.reached * values, axis=-1)


def balance(returns, bonus, beta, return_floor, beyond=0.0):
    """Return and bonus on one scale, so that one beta suits every task.

        score = (R - mean R) / (stddev R + return_floor) + beta (U - mean U) / stddev U

    with means and stddevs over the candidates: beta weighs one stddev of the bonus against
    one of the return. If a reward model predicts nothing, the floor keeps its noise from
    being scaled up to the size of a return. A bonus that is the same for all candidates
    has no effect. Returns and bonus are [B, N], beta [] may be negative.

    U is the bonus plus its value `beyond` the horizon. stddev U has a floor too: 0.01 of
    the mean size of the bonus alone. The value beyond the horizon is large, and about the
    same for all candidates.

    Example:
        >>> values = tf.constant([[1.0, 3.0]])
        >>> balance(values, 100.0 * values, beta=1.0, return_floor=0.0).numpy().round(1)
        array([[-2.,  2.]], dtype=float32)
    """
    mean_bonus = tf.reduce_mean(tf.abs(bonus), axis=-1, keepdims=True)
    bonus_floor = _BONUS_FLOOR * mean_bonus + 1e-12
    sought = _standardize(bonus + beyond, bonus_floor)
    return _standardize(returns, return_floor) + beta * sought


def _standardize(values, floor):
    mean, variance = tf.nn.moments(values, axes=[-1], keepdims=True)
    return tf.math.divide_no_nan(values - mean, tf.sqrt(variance) + floor)


def anneal(first, last, *phases):
    """Linear from `first` to `last`, which is reached when the first of some phases ends.

    Phases are pairs of a count, [], and what it is at the end, or None: it never ends. If
    `last` is None it stays `first`.

    Example:
        >>> float(anneal(1.0, 0.0, (250, 500), (10, 100)))
        0.5
    """
    shares = [tf.cast(count, tf.float32) / end for count, end in phases if end]
    if last is None or not shares:
        return tf.constant(first, tf.float32)
    return first + (last - first) * tf.minimum(tf.reduce_max(shares), 1.0)

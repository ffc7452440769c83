"""The cross-entropy method over action sequences.

Axes: B environments, N candidates, H horizon, A action size, K elites.
"""

import dataclasses

from agents.planet.action_space import BOX
from agents.planet.planning.planner import Plan, best, moments, share, with_proposals
from agents.system.errors import UserError
from agents.system.lazy import tf
from agents.system.seeds import fold, normal, split
from agents.system.settings import Settings, key


@dataclasses.dataclass(frozen=True)
class CrossEntropy(Settings):
    """The cross-entropy method of PlaNet.

    From mean 0 and stddev 1, `iterations` times: draw candidates, clip them to [-1, 1],
    score them, refit mean and stddev to the elites. The plan is the last mean. Of
    categories it fits probabilities, see `agents.planet.action_space.Categories`.

    Source: Hafner et al., 2019, algorithm 2; Rubinstein, 1997.

    Args:
        horizon: decisions the planner looks ahead.
        candidates: plans scored in each iteration.
        elites: plans kept in each iteration, at most `candidates`.
        iterations: at least 1.
        common_noise: whether all candidates meet the same noise of the latents, so that
            their scores differ by their actions alone; PlaNet draws noise for each.

    Raises:
        ValueError: a count is below 1, or there are more elites than candidates.

    Example:
        >>> planner = CrossEntropy(
        ...     horizon=2, candidates=100, elites=10, iterations=10, common_noise=False
        ... )
        >>> score = lambda plans, seed: -tf.reduce_sum((plans - 0.5) ** 2, [2, 3])
        >>> plan, _ = planner.plan(score, (), shape=(1, 1), seed=tf.constant([0, 1]))
        >>> bool(tf.reduce_all(abs(plan.actions - 0.5) < 0.01))
        True
    """

    horizon: int = key(least=1)
    candidates: int = key(least=1)
    elites: int = key(least=1)
    iterations: int = key(least=1)
    common_noise: bool = key()

    def __post_init__(self):
        super().__post_init__()
        if self.elites > self.candidates:
            raise UserError(
                f"elites must be at most candidates ({self.candidates}), got {self.elites}"
            )

    @property
    def evaluations(self) -> int:
        """Plans scored for one decision, without proposals."""
        return self.candidates * self.iterations

    def share(self, groups):
        """The planner of one of `groups`, see `Planner`."""
        return dataclasses.replace(
            self,
            candidates=share(self.candidates, groups),
            elites=share(self.elites, groups),
        )

    def initial_state(self, batch_size, action_size):
        """Nothing: every decision starts anew, "to avoid local optima"."""
        del batch_size, action_size
        return ()

    def plan(self, score, state, shape, seed, proposals=None, space=BOX):
        """The last mean; arguments and results as in `Planner.plan`."""
        batch_size, action_size = shape
        sample_shape = [batch_size, self.candidates, self.horizon, action_size]

        def refine(iteration, mean, stddev):
            seeds = split(fold(seed, iteration), 2)
            noise = normal(sample_shape, seeds[0])
            plans = space.draw(mean[:, tf.newaxis], stddev[:, tf.newaxis], noise)
            plans = with_proposals(plans, proposals)
            elites = best(plans, score(plans, seeds[1]), self.elites)
            return iteration + 1, *moments(elites)

        mean = space.start(tf.zeros([batch_size, self.horizon, action_size]))
        _, mean, stddev = tf.while_loop(
            lambda *_: True,
            refine,
            (0, mean, tf.ones_like(mean)),
            maximum_iterations=self.iterations,
        )
        return Plan(space.mode(mean), space.spread(mean, stddev)), state

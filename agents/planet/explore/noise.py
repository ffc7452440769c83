"""Noise on actions: exploration that any strategy can be combined with."""

import dataclasses

from agents.planet.action_space import BOX
from agents.planet.explore.strategy import anneal
from agents.planet.planning.icem import colored_noise_basis
from agents.system.lazy import tf
from agents.system.seeds import normal
from agents.system.settings import Settings, key

_PERIOD = 500  # decisions after which colored noise begins again: longer than most episodes


@dataclasses.dataclass(frozen=True)
class GaussianNoise(Settings):
    """Adds normal noise and clips to the action bounds.

        action = clip(action + max(stddev(step), spread / sqrt(A)) * noise, -1, 1)

    Over an episode the noise of an action has power 1 / frequency^color: what white noise,
    of 0, does at one decision it undoes at the next ones; pink noise, of 1, also goes far.
    The stddev goes linearly from `stddev` to `final_stddev` over `steps` environment steps.
    The spread is that of the plan's elites, or 0: where the best of many plans lie far
    apart, as before anything is rewarded, actions vary too. It is divided by the root of
    A, the count of an action's numbers, see `agents.planet.action_space`. A policy that
    proposes more plans than there are elites leaves little of it.

    Where actions are categories, each is a random one with probability stddev(step); the
    spread is how often elites choose each category, of which the action is drawn then.

    Source: Hafner et al., 2019, section 2, "experience collection"; the spread: Hansen et
    al., 2022, Temporal Difference Learning for Model Predictive Control, equation 6, who
    do not divide it; the color: Eberhard et al., 2023, Pink Noise Is All You Need: Colored
    Noise Exploration in Deep Reinforcement Learning.

    Args:
        stddev: at first, not negative.
        final_stddev: afterwards, not negative; None: `stddev` all along.
        steps: environment steps; 0: `stddev` all along.
        of_elites: whether the spread counts.
        color: of the noise, not negative.

    Raises:
        ValueError: an argument is out of its range.

    Example:
        >>> noise = GaussianNoise(0.3, 0.1, steps=1000, of_elites=False, color=0.0)
        >>> round(float(noise.stddev_at(500)), 6)
        0.2
    """

    stddev: float = key(least=0)  # actions are in [-1, 1]
    final_stddev: float | None = key(least=0)
    steps: int = key(least=0)
    of_elites: bool = key()
    color: float = key(least=0)

    def on_ladder(self, ratio, rung, rungs):
        """The noise of one of several actors; the last has `ratio` times that of the first.

        The stddevs are multiplied by ratio^(rung / (rungs - 1) - 1/2), so that the middle
        of the ladder is this noise.

        Source: Horgan et al., 2018, Distributed Prioritized Experience Replay (Ape-X),
        section 4, whose actors have different epsilons.

        Example:
            >>> noise = GaussianNoise(0.4, None, steps=0, of_elites=False, color=0.0)
            >>> [noise.on_ladder(4.0, rung, rungs=3).stddev for rung in range(3)]
            [0.2, 0.4, 0.8]
        """
        factor = ratio ** (rung / max(rungs - 1, 1) - 0.5)
        final = None if self.final_stddev is None else factor * self.final_stddev
        return dataclasses.replace(self, stddev=factor * self.stddev, final_stddev=final)

    def stddev_at(self, environment_steps):
        """The stddev after so many environment steps, []."""
        return anneal(self.stddev, self.final_stddev, (environment_steps, self.steps))

    def __call__(
        self, action, environment_steps, seed, spread=None, episode=None, space=BOX
    ):
        """The noisy action, of the shape of `action`.

        Args:
            action: [B, A].
            environment_steps: [].
            seed: of this decision, [2] or [B, 2]; white noise needs no more.
            spread: of the elites, [B, A], see `agents.planet.planning.planner.Plan`.
            episode: seed of each episode, [B, 2], and number of its decision, [B].
            space: of actions, see `agents.planet.action_space`.
        """
        stddev = self.stddev_at(environment_steps)
        if self.color:
            noise = _colored(action.shape, self.color, *episode)
        else:
            noise = normal(action.shape, seed)
        return space.noisy(action, stddev, spread if self.of_elites else None, noise)


def _colored(shape, color, seed, decision):
    """What the noise of whole episodes is at a decision of each, [B, A]."""
    basis = tf.constant(colored_noise_basis(_PERIOD, color), tf.float32)
    white = normal([*shape, basis.shape[0]], seed)
    return tf.einsum("baf,fb->ba", white, tf.gather(basis, decision % _PERIOD, axis=1))

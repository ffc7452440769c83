"""Noise on actions: exploration that any strategy can be combined with."""

import dataclasses

from agents.lazy import tf
from agents.seeds import normal
from agents.settings import Settings, key


@dataclasses.dataclass(frozen=True)
class GaussianNoise(Settings):
    """Adds normal noise and clips to the action bounds.

        action = clip(action + stddev(step) * noise, -1, 1)

    The stddev goes linearly from `stddev` to `final_stddev` over `steps` environment steps.
    Source: Hafner et al., 2019, section 2, "experience collection".

    Args:
        stddev: at first, not negative.
        final_stddev: afterwards, not negative; None: `stddev` all along.
        steps: environment steps; 0: `stddev` all along.

    Raises:
        ValueError: an argument is out of its range.

    Example:
        >>> GaussianNoise(0.3, 0.1, steps=1000).stddev_at(500).numpy().round(6)
        0.2
    """

    stddev: float = key(least=0)  # actions are in [-1, 1]
    final_stddev: float | None = key(least=0)
    steps: int = key(least=0)

    def stddev_at(self, environment_steps):
        """The stddev after so many environment steps, []."""
        if not self.steps or self.final_stddev is None:
            return tf.constant(float(self.stddev))
        share = tf.minimum(tf.cast(environment_steps, tf.float32) / self.steps, 1.0)
        return self.stddev + share * (self.final_stddev - self.stddev)

    def __call__(self, action, environment_steps, seed):
        """The noisy action, of the shape of `action`."""
        noise = normal(action.shape, seed)
        return tf.clip_by_value(
            action + self.stddev_at(environment_steps) * noise, -1.0, 1.0
        )

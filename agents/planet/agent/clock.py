"""How far a run has come, as variables that graphs read and checkpoints keep."""

import tensorflow as tf

from agents.planet.explore.strategy import Elapsed
from agents.planet.model.standardization import statistic


class Clock(tf.Module):
    """The counts of a run.

    Attributes:
        episodes: finished and, if they are, learned from.
        environment_steps: those of the environment, before action repeat.
        agent_steps: actions chosen.
        rewards: of the last ten episodes those that came to one worth having, or None.
        replay_steps: [], agent steps in the replay, as if of every episode's steps the same
            share were held out: min((1 - 1 / hold_out_every) agent_steps, capacity). The
            replay itself holds whole episodes, the first among them.
        steps_from_start: agent steps of episodes that are replayed before they are counted;
            no checkpoint keeps it, so who replays them sets it.
    """

    def __init__(self, replay_capacity=None, hold_out_every=None, counts_rewards=False):
        super().__init__("clock")
        self._replay_capacity = float(replay_capacity or "inf")
        self._trained_on = 1.0 - 1.0 / (hold_out_every or float("inf"))
        self.steps_from_start = 0
        self.episodes = _counter("episodes")
        self.environment_steps = _counter("environment_steps")
        self.agent_steps = _counter("agent_steps")
        # Checkpoints of runs that did not count them lack it.
        self.rewards = _counter("rewards") if counts_rewards else None

    @property
    def replay_steps(self):
        steps = tf.cast(self.agent_steps, tf.float32)
        steps = self._trained_on * tf.maximum(steps, self.steps_from_start)
        return tf.minimum(steps, self._replay_capacity)

    @property
    def elapsed(self):
        """What strategies are told, `agents.planet.explore.strategy.Elapsed`."""
        return Elapsed(self.environment_steps, self.rewards)

    def advance(self, episodes, agent_steps, environment_steps, rewards=0):
        """Counts the steps of an episode; `episodes` and `rewards` are as after it."""
        self.episodes.assign(episodes)
        self.agent_steps.assign_add(agent_steps)
        self.environment_steps.assign_add(environment_steps)
        self.found(rewards)

    def found(self, rewards):
        """Takes how many of the last ten episodes came to a reward."""
        if self.rewards is not None:
            self.rewards.assign(rewards)


def _counter(name):
    return statistic(tf.constant(0, tf.int64), name)

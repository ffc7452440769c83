"""Episodes from the environment, through TF-Agents' actor."""

import numpy as np
from tf_agents.policies import py_policy, py_tf_eager_policy, random_py_policy
from tf_agents.train import actor
from tf_agents.trajectories import policy_step

from agents import interrupts
from agents.episodes.layout import EpisodeWriter

TOGETHER = 10  # environments at most: one product of the planner serves them all


class Collector:
    """Runs a policy and hands over whole episodes.

    Args:
        environment: batched `PyEnvironment`.
        policy: `PyPolicy`, see `as_py_policy` and `random_policy`.
        train_step: int64 `tf.Variable`, asked for by TF-Agents' actor.
        finished: called with each finished episode and the number of its environment.
    """

    def __init__(self, environment, policy, train_step, finished):
        self._writer = EpisodeWriter(finished)
        self._environment = environment
        self._policy = policy
        self._actor = actor.Actor(
            environment,
            policy,
            train_step,
            episodes_per_run=environment.batch_size,
            observers=[self._writer, lambda _: interrupts.check()],
        )

    def collect(self):
        """Runs until each environment, on average, has finished one episode more."""
        self._actor.run()


def first_episodes(environment, policy, train_step):
    """The first episode of each environment: short ones must not count more often.

    Args:
        environment: batched `PyEnvironment`; it is closed at the end.
        policy: `PyPolicy`.
        train_step: as of `Collector`.

    Returns:
        List of episodes in the order of the environments, see `agents.episodes.layout`.
    """
    finished = {}
    try:
        collector = Collector(
            environment,
            policy,
            train_step,
            lambda episode, number: finished.setdefault(number, episode),
        )
        while len(finished) < environment.batch_size:
            collector.collect()
    finally:
        environment.close()
    return [finished[number] for number in range(environment.batch_size)]


def as_py_policy(policy):
    """A `TFPolicy` for batched environments in Python, compiled once."""
    return py_tf_eager_policy.PyTFEagerPolicy(
        policy, use_tf_function=True, batch_time_steps=False
    )


def random_policy(environment, seed, count=None):
    """Uniform random actions.

    Args:
        environment: batched `PyEnvironment`.
        seed: int or list of ints.
        count: of environments to act in; None: as many as `environment` has.
    """
    return random_py_policy.RandomPyPolicy(
        environment.time_step_spec(),
        environment.action_spec(),
        seed=np.random.SeedSequence(seed).generate_state(1)[0],
        outer_dims=[count or environment.batch_size],
    )


class ActingInSome(py_policy.PyPolicy):
    """A policy of many environments in some of them, where it acts as in all.

    Args:
        policy: `PyPolicy` without a state that asks nothing of the time steps.
        chosen: slice of its environments.
    """

    def __init__(self, policy, chosen):
        self._policy = policy
        self._chosen = chosen
        super().__init__(policy.time_step_spec, policy.action_spec)

    def _action(self, time_step, policy_state, seed=None):
        action = self._policy.action(time_step).action[self._chosen]
        return policy_step.PolicyStep(action, policy_state)


class RandomAtFirst(py_policy.PyPolicy):
    """Random actions for the first episodes, then another policy.

    One policy for both lets one actor run through; a second one would reset the
    environment and so leave out an episode of its sequence.

    Args:
        policy: `PyPolicy` that acts later.
        environment: batched `PyEnvironment`.
        seed: called before each action; returns the seed of the random actions, which start
            anew when it changes, or None when `policy` is to act.
    """

    def __init__(self, policy, environment, seed):
        self._policy = policy
        self._environment = environment
        self._seed = seed
        self._last = None
        super().__init__(
            policy.time_step_spec, policy.action_spec, policy.policy_state_spec
        )

    def _get_initial_state(self, batch_size):
        return self._policy.get_initial_state(batch_size)

    def _action(self, time_step, policy_state, seed=None):
        now = self._seed()
        if now is None:
            return self._policy.action(time_step, policy_state, seed)
        if now != self._last:
            self._last, self._random = now, random_policy(self._environment, now)
        return policy_step.PolicyStep(self._random.action(time_step).action, policy_state)

"""Episodes from the environment, through TF-Agents' actor."""

import contextlib
from typing import NamedTuple

import numpy as np
import tensorflow as tf
from tf_agents.policies import py_policy, py_tf_eager_policy, random_py_policy
from tf_agents.train import actor
from tf_agents.trajectories import policy_step
from tf_agents.trajectories import time_step as ts

from agents.episodes.layout import EpisodeWriter
from agents.system import interrupts
from agents.system.errors import UserError

_PICTURE_SIZE = 240  # pixels of a side


class Collector:
    """Runs a policy and hands over whole episodes.

    `finished` is called with each of them and the row of its environment. TF-Agents' actor
    asks for the `train_step`, an int64 `tf.Variable`.
    """

    def __init__(self, environment, policy, train_step, finished):
        self._environment = environment
        self._finished = finished
        self._info = {}  # of the episode that ended last in each environment
        self._actor = actor.Actor(
            environment,
            policy,
            train_step,
            episodes_per_run=1,
            observers=[
                EpisodeWriter(self._finish),
                self._look,
                lambda _: interrupts.check(),
            ],
        )

    def collect(self):
        """Runs until an environment has finished an episode; the others wait in theirs."""
        self._actor.run()

    def _look(self, trajectory):
        """Asks about an episode where it ends: the next step starts another one."""
        ended = np.flatnonzero(trajectory.next_step_type == ts.StepType.LAST)
        if len(ended):
            info = self._environment.get_info()
            for row in ended:
                self._info[row] = {name: values[row] for name, values in info.items()}

    def _finish(self, episode, row):
        self._finished(episode | self._info[row], row)


def first_episodes(environment, policy, train_step):
    """The first episode of each environment, in their order: short ones count once too."""
    finished = {}
    collector = Collector(
        environment,
        policy,
        train_step,
        lambda episode, row: finished.setdefault(row, episode),
    )
    while len(finished) < environment.batch_size:
        collector.collect()
    return [finished[number] for number in range(environment.batch_size)]


def as_py_policy(policy):
    """A `PlanningPolicy` for batched environments in Python.

    One that XLA compiles is called as it is: within another graph it would be compiled
    once more, see `agents.training.compiling.CompilingAhead`.
    """
    return py_tf_eager_policy.PyTFEagerPolicy(
        policy, use_tf_function=not policy.compiles, batch_time_steps=False
    )


class RandomPolicy(random_py_policy.RandomPyPolicy):
    """Uniform random actions, or categories, by an int or a list of ints.

    They are for `count` environments, or as many as there are; those for the slice that is
    `chosen` are the same as where it acts in all.
    """

    def __init__(self, environment, seed, count=None, chosen=slice(None)):
        super().__init__(
            environment.time_step_spec(),
            environment.action_spec(),
            seed=np.random.SeedSequence(seed).generate_state(1)[0],
            outer_dims=[count or environment.batch_size],
        )
        self._nearest, self._chosen = environment.actions.nearest, chosen

    def _action(self, time_step, policy_state, seed=None):
        step = super()._action(time_step, policy_state, seed)
        return step._replace(action=self._nearest(step.action)[self._chosen])


class _Around(py_policy.PyPolicy):
    """Acts as another policy, but for what a subclass says."""

    def __init__(self, policy):
        self._policy = policy
        super().__init__(
            policy.time_step_spec, policy.action_spec, policy.policy_state_spec
        )

    def _get_initial_state(self, batch_size):
        return self._policy.get_initial_state(batch_size)

    def _action(self, time_step, policy_state, seed=None):
        return self._policy.action(time_step, policy_state, seed)


class ActingLater(_Around):
    """A policy, as of `RandomAtFirst`, of episodes before which so many others come."""

    def __init__(self, policy, episodes):
        super().__init__(policy)
        self._episodes = episodes

    def _get_initial_state(self, batch_size):
        state = super()._get_initial_state(batch_size)
        return state | {"next_episode": state["next_episode"] + self._episodes}


class RandomAtFirst(_Around):
    """Random actions in the first episodes of a run, then another policy.

    One policy for both lets one actor run through; a second one would reset the
    environment and so leave out an episode of its sequence. Each environment changes over
    where an episode of its own begins.

    The other policy's state holds the number of the `next_episode`, see
    `agents.planet.agent.policy.PlanningPolicy`; random actions depend on the seed and on
    that number. It starts at `first_episodes`, [B], and goes on in strides of B if none is
    given. `is_early` says, where an episode begins, whether it is random; `is_random`, [B],
    whether the present ones are.
    """

    def __init__(self, policy, environment, is_early, seed, first_episodes, stride=None):
        super().__init__(policy)
        self._environment = environment
        self._is_early = is_early
        self.is_random = np.zeros(environment.batch_size, bool)
        self._seed = seed
        self._first_episodes = first_episodes
        self._random = [None] * environment.batch_size
        self._stride = stride or environment.batch_size

    def _get_initial_state(self, batch_size):
        state = super()._get_initial_state(batch_size)
        return state | {"next_episode": tf.constant(self._first_episodes, tf.int64)}

    def _action(self, time_step, policy_state, seed=None):
        count = self._stride
        is_first = time_step.is_first()
        following = np.asarray(policy_state["next_episode"]) + np.where(is_first, count, 0)
        numbers = following - count
        if is_first.any():
            self.is_random = np.where(is_first, bool(self._is_early()), self.is_random)
        for row in np.flatnonzero(is_first):
            own = [self._seed, numbers[row]]
            self._random[row] = RandomPolicy(self._environment, own, count=1)
        is_random = self.is_random
        if not is_random.any():
            return self._policy.action(time_step, policy_state, seed)
        random = np.concatenate([each.action(time_step).action for each in self._random])
        if is_random.all():
            state = policy_state | {"next_episode": tf.constant(following)}
            return policy_step.PolicyStep(random, state)
        step = self._policy.action(time_step, policy_state, seed)
        return step._replace(action=np.where(is_random[:, None], random, step.action))


class Recording(NamedTuple):
    """An episode and its pictures.

    Attributes:
        episode: see `agents.episodes.layout`.
        frames: [T + 1, size, size, 3], uint8, one for each row of the episode.
        seconds: of simulated time, from one frame to the next.
    """

    episode: dict
    frames: np.ndarray
    seconds: float


def record(environment, policy, train_step):
    """A `Recording` of the first episode of an environment: a picture before each action.

    The environment, a batch of one, is closed at the end.

    Raises:
        UserError: nothing can be drawn here; this is found out before the first action.
    """
    (simulated,) = environment.envs
    filmed = _Filmed(policy, simulated)
    with contextlib.closing(environment):
        (episode,) = first_episodes(environment, filmed, train_step)
    return Recording(episode, np.stack(filmed.frames), simulated.seconds)


class _Filmed(_Around):
    """A policy before whose actions a picture is taken.

    The driver asks for an action in the last state as well, so none is missed.
    """

    def __init__(self, policy, simulated):
        super().__init__(policy)
        self._simulated, self.frames = simulated, []

    def _action(self, time_step, policy_state, seed=None):
        if time_step.is_first().all():
            self.frames.clear()  # of an episode that failed
        try:
            self.frames.append(self._simulated.render(size=_PICTURE_SIZE))
        except (RuntimeError, ValueError) as error:
            raise UserError(" ".join(str(error).split())) from error
        return super()._action(time_step, policy_state, seed)

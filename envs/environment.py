"""The TF-Agents environment around a simulation: repeats, costs, time limits, specs."""

import logging
import math
import typing

import numpy as np
from tf_agents.environments import py_environment
from tf_agents.specs import array_spec
from tf_agents.trajectories import time_step as ts

from envs import checking
from envs.actions import actions_of
from envs.failing import EnvironmentFailedError, EpisodeLostError, given_up

_LONG = 10_000  # steps of an episode after which it is asked whether it ever ends

_LOG = logging.getLogger(__name__)


class Simulation(typing.Protocol):
    """What an environment needs of a task, one environment step at a time.

    Attributes that a simulation need not have:
        choices: as of `envs.simulations.choices`, in place of both bounds, where actions
            are categories.
        entries: dict of path -> size of what `state` was put together from, in order.
        images: method `images(size)`: dict of `image_NAME` -> uint8 [size, size, channels],
            of images that the task observes.
        image_entries: as `images` of an `Environment`, by `image_NAME`.
    """

    action_minimum: np.ndarray  # [A]
    action_maximum: np.ndarray  # [A]
    time_limit: int | None  # environment steps after which an episode is cut
    timestep: float  # seconds of an environment step

    def reset(self, seed):
        """Starts an episode; `seed` is an int or a list of ints."""

    def step(self, action):
        """Takes action [A]; returns reward, whether the episode ended, discount."""

    def state(self):
        """Everything the task observes, [n]."""

    def position_only(self):
        """`state` without its velocities, [m]."""

    def position(self):
        """Positions of the physics, [nq]."""

    def velocity(self):
        """Velocities of the physics, [nv]."""

    def render(self, size, camera, shadows):
        """A picture, uint8 [size, size, 3], that nothing else holds."""

    def close(self):
        """Frees what the simulation holds."""


class Environment(py_environment.PyEnvironment):
    """A simulation as a TF-Agents environment.

        reward = sum over repeats of (task reward - action_cost * sum(action^2))

    Observations are `{"observation", "position", "velocity"}`: what the agent sees, and
    beside it the positions and velocities of the physics. Where it sees images beside
    numbers, these are `image_NAME`, uint8 [image_size, image_size, channels]; what is
    rendered is `image_pixels`. Where it sees images alone, the first is `observation`.
    Actions are float32 [A] in [-1, 1], mapped to the bounds of the task; values beyond are
    clipped. Of categories they are one-hot, one after the other where an action has several
    parts. An episode that ends within a repeat ends the repeat. A time limit keeps discount
    1. The step after the last one starts the next episode.

    Episode n of a seed always starts the same, whatever was done before.

    Args:
        simulation: a `Simulation`.
        observation: one of `envs.tasks.OBSERVATIONS`, or `pixels+auto`: what is rendered,
            and all that the simulation gives.
        stride: from the number of an episode to that of the next, above 1 where several
            environments share a sequence.
        give_up_after: episodes in a row that failed, at which the error of the last is
            raised. An episode that fails before is dropped: its next step is the first of
            the episode after it.
        cut_after: environment steps over all episodes of a sequence after which the present
            one is cut, and again after as many, where nothing limits its time; None: never.
        others: as of `envs.load`; the action repeat is known here.

    Raises:
        ValueError: the task ends its episodes before `time_limit`, or `action_cost` is of
            categories.

    Attributes:
        action_repeat: as given.
        episode_length: decisions of a full episode, or None where the task does not say.
        seconds: of simulated time, from one decision to the next.
        entries: dict of path -> size of what the observation was put together from, in
            order; empty where that is not told.
        images: dict of the name of an image -> path and `envs.simulations.images.Image` of
            what it was made from; empty where none are the environment's own.
        actions: what they stand for, `envs.actions.Actions` or `Categories`.
    """

    def __init__(
        self,
        simulation,
        observation,
        action_repeat,
        seed,
        action_cost=0.0,
        action_bound=1.0,
        image_size=64,
        camera=0,
        shadows=True,
        first_episode=0,
        stride=1,
        give_up_after=1,
        time_limit=None,
        cut_after=None,
    ):
        super().__init__(handle_auto_reset=True)
        self.action_repeat = action_repeat
        self.seconds = checking.timestep(simulation.timestep) * action_repeat
        self._limit = limit = _time_limit(simulation, time_limit)
        self.episode_length = None if limit is None else math.ceil(limit / action_repeat)
        is_state = observation.endswith(("state", "auto"))
        self.entries = getattr(simulation, "entries", {}) if is_state else {}
        self._simulation = simulation
        self._kind = observation
        self._action_cost = action_cost
        self._picture = (image_size, camera, shadows)
        if getattr(simulation, "choices", None) is None:
            checking.bounds(simulation.action_minimum, simulation.action_maximum)
        self.actions = actions_of(simulation, action_bound)
        if action_cost and self.actions.categories:
            raise ValueError(
                "action_cost must be 0 where actions are categories, which all cost the "
                f"same, got {action_cost:g}"
            )
        self._steps, self._cost, self._total_steps = 0, 0.0, 0
        self._cut_after = cut_after
        self._is_open = True
        self._seed = seed
        self._episode = self._next_episode = first_episode
        self._stride = stride
        self._give_up_after = give_up_after
        self._failed = self._failed_itself = 0  # episodes in a row
        seen = self._first_seen()
        self._observation_spec = {name: _spec(name, seen[name]) for name in seen}
        own = getattr(simulation, "image_entries", {}) if observation == "auto" else {}
        # The first of images alone is called otherwise in what is seen.
        self.images = {each if each in seen else "observation": own[each] for each in own}

    def observation_spec(self):
        return self._observation_spec

    def action_spec(self):
        shape, limits = (self.actions.size,), self.actions.limits
        return array_spec.BoundedArraySpec(shape, np.float32, *limits, name="action")

    def seed(self, seed):
        """Starts the sequence of episodes that belongs to `seed`, at the next reset."""
        self._seed = seed
        self._next_episode = 0
        self._total_steps = 0

    @property
    def next_seed(self):
        """What the simulation is reset with for the next episode."""
        return self._seed_of(self._next_episode)

    def scaled(self, action):
        """What the simulation takes for an action.

        Raises:
            ValueError: it is no action.
        """
        return self.actions.scale(self._check(action))

    @property
    def repeats(self):
        """Environment steps of the next decision, at most."""
        if self._limit is not None:
            return min(self.action_repeat, self._limit - self._steps)
        if self._cut_after:
            left = self._cut_after - self._total_steps % self._cut_after
            return min(self.action_repeat, left)
        return self.action_repeat

    def get_info(self):
        """The present episode.

        Returns:
            Its `number`, the `environment_steps` taken in it, what actions and negative
            rewards of the task took from its return: `cost`, and how many
            `failed_episodes` came right before it.
        """
        return {
            "number": np.int64(self._episode),
            "environment_steps": np.int64(self._steps),
            "cost": np.float64(self._cost),
            "failed_episodes": np.int64(self._failed),
        }

    def render(self, mode="rgb_array", size=None):
        """The present picture, uint8 [size, size, 3]; by default of `image_size`."""
        if mode != "rgb_array":
            raise ValueError(f"render mode must be 'rgb_array', got {mode!r}")
        image_size, *others = self._picture
        return self._simulation.render(size or image_size, *others)

    def close(self):
        if self._is_open:
            self._is_open = False
            self._simulation.close()

    def _reset(self):
        self._failed = self._failed_itself = 0
        return self._begin()

    def _begin(self):
        """The first step of the next episode that does not fail in it."""
        while True:
            self._episode = self._next_episode
            self._next_episode += self._stride
            seed = self._seed_of(self._episode)
            self._steps, self._cost = 0, 0.0
            try:
                self._simulation.reset(seed)
                return ts.restart(self._observe())
            except EnvironmentFailedError as error:
                self._drop(error)

    def _drop(self, error):
        """Counts the present episode as failed; raises where that is one too many."""
        self._total_steps -= self._steps  # which nobody learns from
        self._failed += 1
        self._failed_itself += not isinstance(error, EpisodeLostError)
        if self._failed_itself < self._give_up_after:
            _LOG.warning("episode %d failed and is left out: %s", self._episode, error)
            return
        raise given_up(self._failed_itself, error)

    def _step(self, action):
        action = self._check(action)
        try:
            return self._advance(action)
        except EnvironmentFailedError as error:
            self._drop(error)
        return self._begin()

    def _advance(self, action):
        scaled = self.actions.scale(action)
        cost = self._action_cost * float(np.sum(np.square(action)))
        total, is_last = 0.0, False
        for _ in range(self.action_repeat):
            reward, is_last, discount = self._simulation.step(scaled)
            self._steps += 1
            self._total_steps += 1
            total += reward - cost
            self._cost += cost + max(-reward, 0.0)
            is_last |= self._is_cut()
            if is_last:
                break
            if self._limit is None and self._steps == _LONG:
                self._warn_of_length()
        total = checking.reward(total, self._when)
        discount = checking.discount(discount, self._when)
        if is_last:
            return ts.truncation(self._observe(), total, discount)
        return ts.transition(self._observe(), total, np.float32(1.0))

    def _is_cut(self):
        if self._limit is not None:
            return self._steps >= self._limit
        return bool(self._cut_after) and self._total_steps % self._cut_after == 0

    def _warn_of_length(self):
        _LOG.warning(
            "episode %d has not ended after %s environment steps, and learning waits for "
            "its end: set time_limit",
            self._episode,
            f"{_LONG:,}",
        )

    def _check(self, action):
        action = np.asarray(action, np.float64)
        shape = (self.actions.size,)
        if action.shape != shape:
            raise ValueError(f"action must have shape {shape}, got {action.shape}")
        if not np.all(np.isfinite(action)):
            raise ValueError(f"action must be finite, got {action}")
        return self.actions.checked(action)

    def _seed_of(self, episode):
        return [self._seed, episode] if episode else self._seed

    def _first_seen(self):
        """An observation for the specs, of an episode that counts for nothing."""
        for number in range(self._give_up_after):
            try:
                self._simulation.reset(self._seed_of(number))
                return self._observe()
            except EnvironmentFailedError as error:
                failed = error
        raise failed

    def _observe(self):
        simulation = self._simulation
        return self._seen(simulation) | {
            "position": self._vector("position", simulation.position()),
            "velocity": self._vector("velocity", simulation.velocity()),
        }

    def _seen(self, simulation):
        """What the agent sees: `observation`, and images beside it."""
        images = {}
        if "pixels" in self._kind:
            images["image_pixels"] = self._ask(simulation.render, *self._picture)
        if "auto" in self._kind and hasattr(simulation, "images"):
            images |= self._ask(simulation.images, self._picture[0])
        numbers = np.zeros(0)
        if "position" in self._kind:
            numbers = self._ask(simulation.position_only)
        elif self._kind != "pixels":
            numbers = self._ask(simulation.state)
        if images and not np.size(numbers):
            first, *_ = images
            return {"observation": images.pop(first)} | images
        return {"observation": self._vector("observation", numbers)} | images

    def _ask(self, method, *given):
        """What it returns; its error says when."""
        try:
            return method(*given)
        except EnvironmentFailedError as error:
            raise EnvironmentFailedError(f"{error} {self._when}") from error

    def _vector(self, name, value):
        whose = f"the environment's {name}"
        return checking.real(whose, value, self._when, EnvironmentFailedError)

    @property
    def _when(self):
        """When something was given, for messages."""
        return f"after {self._steps} steps of episode {self._episode}"


def _spec(name, array):
    if array.dtype == np.uint8:
        return array_spec.BoundedArraySpec(array.shape, np.uint8, 0, 255, name=name)
    return array_spec.ArraySpec(array.shape, array.dtype, name=name)


def _time_limit(simulation, wanted):
    own = checking.time_limit(simulation.time_limit)
    if wanted is not None and own is not None and wanted > own:
        raise ValueError(f"time_limit must be at most {own}, the task's own, got {wanted}")
    return own if wanted is None else wanted

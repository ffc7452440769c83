"""A trained agent from the folder of its run; acting by hand, as in a notebook."""

import pathlib
from collections.abc import Mapping

import numpy as np
import tensorflow as tf
from tf_agents.policies import tf_policy
from tf_agents.trajectories import policy_step, time_step

import envs
from agents.episodes.layout import seen_in
from agents.runs.checkpoints import Checkpoints
from agents.runs.folder import Run, load_config
from agents.system.errors import UserError
from agents.training.building import choose_devices, configure_tensorflow, make_agent
from agents.training.logged.experience import environment_of
from envs import checking

_WHEN = "to act on"  # what is refused was given
_LAST = time_step.StepType.LAST


def load_agent(folder):
    """The config and the agent of a run, as of its newest readable checkpoint.

    Weights are averages where the config has `averaging`, so it cannot learn further. A
    training that goes on there is not disturbed.

    Raises:
        UserError: the folder holds no run or no checkpoint.
    """
    return load_parts(folder)[:2]


def load_parts(folder):
    """As `load_agent`, with the environment beside them, closed, for what it tells."""
    config = load_config(folder)
    configure_tensorflow(config)
    run = Run(pathlib.Path(folder))
    environment = environment_of(config, folder)
    agent = make_agent(config, environment, choose_devices("default"))
    environment.close()
    if make_checkpoints(run, agent).restore() is None:
        raise UserError(
            f"{run.folder} has no readable checkpoint; resume it by bayes-rl train, which "
            "writes some, and learns again from the episodes in the "
            "folder if checkpoints were lost"
        )
    agent.stay_averaged()
    return config, agent, environment


def make_checkpoints(run, agent, **settings):
    """The checkpoints of a run: model, optimizer, counters and what seeds depend on.

    Who holds the run's lock owns them; others, such as `bayes-rl evaluate`, only read.
    """
    return Checkpoints(
        run.checkpoints,
        owned=run.lock is not None,
        agent=agent,
        train_step=agent.train_step_counter,
        **settings,
    )


class LoadedAgent:
    """Acts in one environment and remembers what it saw in the present episode.

    Args:
        policy: `agents.planet.agent.policy.PlanningPolicy`.
        clock: `agents.planet.agent.clock.Clock` of the policy; its episodes are counted on,
            so that each episode has random numbers of its own.
        environment: what has `entries`, `images` and `actions` of its environment, see
            `envs.environment.Environment`.
    """

    def __init__(self, policy, clock, environment):
        self._policy = ObservationPolicy(policy)
        self._action = tf.function(self._policy.action, autograph=False)
        self._clock = clock
        self._entries, self._images = environment.entries, environment.images
        self._paths = [*self._entries, *(path for path, _ in self._images.values())]
        self._actions = environment.actions
        self._is_first = True
        self._state = self._policy.get_initial_state(1)

    def reset(self):
        """Forgets the present episode; the next observation is the first of another."""
        self._clock.episodes.assign_add(1)
        self._is_first = True
        self._state = self._policy.get_initial_state(1)

    def act(self, observation):
        """The action that follows an observation.

        Args:
            observation: array, as the run saw them. Or a dict: the observation of an
                environment of `envs.load`, of dm_control, or of the user's own environment,
                whose images are resized as they were for the run. What fits both is taken
                for the user's own.

        Returns:
            float32 [A] in [-1, 1], which stand for the bounds of the task's actions. Where
            actions are categories, the number that the task gives the chosen one: an int,
            or of several parts ints [parts].

        Raises:
            ValueError: the observation lacks a part, has another shape, is not of real
                numbers, finite and at most 1e15 in size, or is an image of another type
                than `envs.load`, or the user's environment, gives.
        """
        kind = time_step.StepType.FIRST if self._is_first else time_step.StepType.MID
        seen = tf.nest.map_structure(lambda x: x[np.newaxis], self._seen(observation))
        seen = tf.nest.map_structure(tf.constant, seen)
        step = time_step.TimeStep(tf.constant([kind]), tf.zeros([1]), tf.ones([1]), seen)
        action, self._state, _ = self._action(step, self._state)
        self._is_first = False
        if not self._actions.categories:
            return action.numpy()[0]
        chosen = self._actions.scale(action.numpy()[0])
        return chosen if len(chosen) > 1 else chosen.item()

    def _seen(self, observation):
        spec = self._policy.time_step_spec.observation
        specs = spec if isinstance(spec, Mapping) else {"observation": spec}
        is_own = self._is_own(observation, specs)
        seen = (self._read if is_own else _as_loaded)(observation, specs)
        arrays = {name: _array(seen[name], specs[name], name) for name in specs}
        return arrays if isinstance(spec, Mapping) else arrays["observation"]

    def _is_own(self, observation, specs):
        """Whether it is of the user's own environment, and not of `envs.load`."""
        if not self._paths:
            return False
        is_dict = isinstance(observation, Mapping)
        given = observation if is_dict else {"observation": observation}
        is_loaded = specs.keys() <= given.keys()
        if all(envs.lies(path, observation) for path in self._paths):
            return not is_loaded or self._fits(observation)
        return is_dict and not is_loaded and "observation" not in observation

    def _fits(self, observation):
        """Whether entries have their sizes, and images look as they do before resizing."""
        try:
            sizes = [np.size(envs.entry(observation, path)) for path in self._entries]
        except ValueError:  # of rows that differ in length
            return False
        images = [
            (np.asarray(envs.entry(observation, path)), image)
            for path, image in self._images.values()
        ]
        return sizes == [*self._entries.values()] and all(
            array.shape == image.shape and (image.is_whole or array.dtype != np.uint8)
            for array, image in images
        )

    def _read(self, observation, specs):
        """What the agent sees in an observation of the user's own environment."""
        images = [path for path, _ in self._images.values()]
        envs.check_entries(observation, self._entries, images)
        seen = {}
        for name, (path, image) in self._images.items():
            try:
                seen[name] = image(envs.entry(observation, path), specs[name].shape[0])
            except ValueError as error:
                raise ValueError(f"{envs.called(path) or name}: {error}") from None
        if sum(self._entries.values()):
            seen["observation"] = envs.concatenate(observation, self._entries)
        return seen


def _as_loaded(observation, specs):
    """What the agent sees in what `envs.load` gives, or in an array alone."""
    is_dict = isinstance(observation, Mapping)
    if not is_dict and len(specs) == 1:
        return {"observation": observation}
    lacking = sorted(specs.keys() - observation.keys()) if is_dict else []
    if lacking or not is_dict:
        given = f"it lacks {', '.join(lacking)}" if is_dict else "got no dict"
        whose = ", as those of environments of envs.load" if len(specs) > 1 else ""
        raise ValueError(
            f"observation must be a dict with {', '.join(specs)}{whose}; {given}"
        )
    return observation


def _array(observation, spec, name):
    numbers = checking.real(name, observation, _WHEN)
    array, dtype = np.asarray(observation), spec.dtype.as_numpy_dtype
    if array.shape != spec.shape:
        shape = tuple(spec.shape)
        raise ValueError(f"{name} must have shape {shape}, got {array.shape}")
    if dtype == np.uint8 != array.dtype:
        raise ValueError(f"{name} must be uint8, 0 to 255, got {array.dtype}")
    return numbers.astype(dtype)


class ObservationPolicy(tf_policy.TFPolicy):
    """A policy of time steps that hold what the agent sees and nothing beside it.

    That is one array, or a dict of them where images are seen beside numbers.
    """

    def __init__(self, policy):
        # What it needs of it alone: a SavedModel would take the layers of a policy along.
        self._act, self._start = policy.action, policy.get_initial_state
        self._used = list(policy.variables())
        self._specs = lambda: policy.time_step_spec.observation
        seen = seen_in(self._specs())
        seen = seen if len(seen) > 1 else seen["observation"]
        super().__init__(
            policy.time_step_spec._replace(observation=seen),
            policy.action_spec,
            policy_state_spec=policy.policy_state_spec,
            clip=False,
            name=policy.name,
            automatic_state_reset=False,  # the policy does it, and counts episodes
        )

    def _variables(self):
        return self._used

    def _get_initial_state(self, batch_size):
        return self._start(batch_size)

    def _action(self, time_step, policy_state, seed):
        (size,) = time_step.step_type.shape
        unseen = {
            name: tf.zeros([size, *spec.shape], spec.dtype)
            for name, spec in self._specs().items()
        }
        seen = time_step.observation
        seen = seen if isinstance(seen, Mapping) else {"observation": seen}
        observation = unseen | {name: _checked(array) for name, array in seen.items()}
        kind = _checked_kind(time_step, policy_state)
        given = time_step._replace(step_type=kind, observation=observation)
        step = self._act(given, policy_state, seed)
        return policy_step.PolicyStep(step.action, step.state)


def _checked(observation):
    """Refuses what is not finite also where the policy was exported, in its graph."""
    if not observation.dtype.is_floating:
        return observation
    largest = checking.LARGEST
    words = f"observation must be finite and at most {largest:g} in size"
    check = tf.debugging.assert_less_equal(tf.abs(observation), largest, words)
    with tf.control_dependencies([check] if check is not None else []):
        return tf.identity(observation)


def _checked_kind(time_step, state):
    """The kind of a step; refuses, as above, another, and a state that cannot go on."""
    kind = time_step.step_type
    parts = [part for part in tf.nest.flatten(state) if part.dtype.is_floating]
    finite = tf.concat([tf.reshape(tf.math.is_finite(part), [-1]) for part in parts], 0)
    goes_on = tf.reduce_all(finite) | tf.reduce_all(time_step.is_first())
    is_known = tf.reduce_all((kind >= 0) & (kind <= _LAST))
    kinds = "step_type must be 0 at the start of an episode, then 1, got"
    words = "state must be finite where no episode starts (step_type 0), got nan or inf"
    checks = [
        tf.debugging.Assert(is_known, [kinds, kind]),
        tf.debugging.Assert(goes_on, [words]),
    ]
    with tf.control_dependencies(checks):
        return tf.identity(kind)

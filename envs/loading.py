"""The door: `load` one environment, `load_many` at once."""

import functools
import logging

import cloudpickle
import numpy as np

from envs import quiet, tasks
from envs.making import TOLD, make
from envs.simulations import dm_control

_HINGE = 3  # mujoco.mjtJoint.mjJNT_HINGE
_LOG = logging.getLogger(__name__)


def load(
    task,
    observation="state",
    action_repeat=None,
    seed=0,
    action_cost=0.0,
    action_bound=1.0,
    image_size=64,
    camera=0,
    shadows=True,
    first_episode=0,
    time_limit=None,
    mass=1.0,
    friction=1.0,
    gain=1.0,
):
    """Loads a task as a TF-Agents `PyEnvironment`; see `envs.environment.Environment`.

    Args:
        task: a DeepMind Control task as `domain_task`, a task of gymnasium as
            `gymnasium:Name` or of gym 0.23 as `gym:Name`, what a function of yours makes as
            `python:package.module:function` (see `envs.simulations.own`), `fake` or
            `fake_ending`.
        observation: `state`, `position` (the state without velocities), `pixels` (what is
            rendered), `pixels+state`, `pixels+position`, or `auto`: all numbers and images
            that the environment gives. Of an environment of gymnasium, gym or yours whose
            observation is a dict, `camera+arm/angle` or such: entries by their names, and
            `pixels` if that is among them.
        action_repeat: environment steps of a decision. None is PlaNet's for its tasks, 4
            for the other tasks of DeepMind Control, 1 for all others.
        seed: int from 0. Episode n of a seed always starts the same.
        action_cost: price of a squared action, per environment step.
        action_bound: what 1 stands for where the environment gives an action no bounds, and
            minus that is what -1 stands for.
        image_size: pixels of a side of pictures.
        camera: number of the camera; -1 is the free camera.
        shadows: False draws without shadows and reflections, several times faster; the
            pictures then differ from the benchmark's.
        first_episode: number of the first episode, to go on with a sequence.
        time_limit: environment steps after which an episode is cut, at most the task's own
            limit; None is that, if the task has one.
        mass: factor on all masses and inertias of a DeepMind Control task.
        friction: factor on the friction of its contacts and the damping of its joints.
        gain: factor on the force of its motors.

    Returns:
        An `Environment` with attributes `action_repeat`, `episode_length` (decisions, or
        None where the task does not say), `entries` and `actions`, see there.

    Raises:
        ValueError: an argument is not valid, or the task does not offer it.
        RuntimeError: pictures are asked for and no rendering library loads, or a package
            that a task needs is not there, or a function of yours raised an error.

    Example:
        >>> environment = load("fake", seed=1)
        >>> environment.reset().observation["observation"].shape
        (2,)
    """
    arguments = dict(locals())
    _warn(arguments)
    return make(**arguments)


def load_many(
    count,
    task,
    seed=0,
    processes=True,
    first_episodes=None,
    stride=None,
    give_up_after=1,
    cut_after=None,
    **settings,
):
    """Loads environments of one task as one batched `PyEnvironment`.

    Each has its own seed, drawn from `seed`; the first of them do not depend on `count`. Or
    they share the sequence of episodes of the first seed: each runs every `count`-th.

    Args:
        count: number of environments, at least 1.
        task: as in `load`.
        seed: int from 0.
        processes: True steps each in a process of its own, tasks of gymnasium in those of
            its vector environment; False one after another in this one.
        first_episodes: for environments that share a sequence, the number of the episode
            that each starts at, [count]; None: each has its own.
        stride: from the number of an episode of theirs to that of the next, above `count`
            where others share the sequence as well; None: `count`.
        give_up_after: episodes in a row that failed in an environment, at which it raises
            an error; one that fails before is dropped for the one after it.
        cut_after: environment steps of each environment, over all its episodes, after
            which the present one is cut where nothing limits its time; None: never.
        **settings: the other arguments of `load`.

    Returns:
        A batched environment with the attributes of one.

    Raises:
        ValueError, RuntimeError: as `load`; or a process has ended by itself.

    Example:
        >>> environments = load_many(2, "fake", processes=False)
        >>> environments.reset().reward.shape
        (2,)
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ValueError(f"the count of environments must be at least 1, got {count!r}")
    found = _warn(dict(settings, task=task, seed=seed))
    if first_episodes is None:
        own = [{"seed": each} for each in spread_seeds(seed, count)]
    else:
        shared = {"seed": spread_seeds(seed, 1)[0], "stride": stride or count}
        own = [shared | {"first_episode": number} for number in first_episodes]
    common = {"task": task, "give_up_after": give_up_after, "cut_after": cut_after}
    arguments = [settings | common | each for each in own]
    if not processes:
        return batched([make(**given) for given in arguments])
    quiet.import_gym()
    if found.suite == "gymnasium" and count > 1:
        from envs.many.gathered import GatheredEnvironment

        return _telling(GatheredEnvironment(arguments, found))
    from envs.many.parallel import ParallelEnvironment

    return ParallelEnvironment(arguments, _pickled(task))


def batched(environments):
    """A list of environments as one, which says of itself what each of them says."""
    from tf_agents.environments import batched_py_environment

    return _telling(
        batched_py_environment.BatchedPyEnvironment(environments, multithreading=False)
    )


def _telling(batch):
    for name in TOLD:
        setattr(batch, name, getattr(batch.envs[0], name))
    return batch


def _pickled(task):
    """The function that a script has given for a task, for other processes; or None."""
    from envs.simulations import own

    make = own.given(task)
    return None if make is None else cloudpickle.dumps(make)


def _warn(arguments):
    """Warns of what a task and its settings mean, and returns it, checked."""
    found = tasks.check_task(**arguments)
    is_pixels = "pixels" in arguments.get("observation", "state")
    if is_pixels and not arguments.get("shadows", True) and found.suite == "dm_control":
        _warn_of_pictures()
    return found


@functools.cache
def _warn_of_pictures():
    """Warns once, however many environments are loaded."""
    _LOG.warning(
        "shadows=false: images differ from the benchmark's, so scores are not comparable"
    )


def spread_seeds(seed, count):
    """Distinct seeds for `count` environments, far from those of neighbouring seeds."""
    return [int(word) for word in np.random.SeedSequence(seed).generate_state(count)]


@functools.cache
def wrapping_angles(task):
    """Columns of `position` that are angles without limits, in radians.

    They are compared by cosine and sine. Hinges with limits are left out: their angles
    never wrap.

    Args:
        task: as in `envs.load`.

    Returns:
        A tuple of ints; empty for gym, whose observations hold cosines and sines, for
        environments of users and for `fake`.

    Example:
        >>> wrapping_angles("fake")
        ()
    """
    task = tasks.check_task(task)
    if task.suite != "dm_control":
        return ()
    with quiet.without_deprecations():
        env = dm_control.import_suite().load(task.domain, task.variant)
    model = env.physics.model
    free = (model.jnt_type == _HINGE) & (model.jnt_limited == 0)
    columns = tuple(int(column) for column in model.jnt_qposadr[free])
    env.close()
    return columns

"""The door: `load` one environment."""

import logging

from envs import quiet, tasks

_LOG = logging.getLogger(__name__)


def load(
    task,
    observation="state",
    action_repeat=None,
    seed=0,
    action_cost=0.0,
    image_size=64,
    camera=0,
    shadows=True,
    first_episode=0,
):
    """Loads a task as a TF-Agents `PyEnvironment`; see `envs.environment.Environment`.

    Args:
        task: a DeepMind Control task as `domain_task`, a gym task with continuous actions
            as `gym:Name`, or `fake`.
        observation: `state`, `position` (the state without velocities) or `pixels`.
        action_repeat: physics steps of a decision. None is PlaNet's for its tasks, 2 for
            the other tasks of DeepMind Control, 1 for gym and `fake`.
        seed: int from 0. Episode n of a seed always starts the same.
        action_cost: price of a squared action, per physics step.
        image_size: pixels of a side of pictures.
        camera: number of the camera; -1 is the free camera.
        shadows: False draws without shadows and reflections, several times faster; the
            pictures then differ from the benchmark's.
        first_episode: number of the first episode, to go on with a sequence.

    Returns:
        An `Environment` with attributes `action_repeat` and `episode_length`: decisions,
        or None where the task does not say.

    Raises:
        ValueError: an argument is not valid, or the task does not offer it.
        RuntimeError: pictures are asked for and no rendering library loads.

    Example:
        >>> environment = load("fake", seed=1)
        >>> environment.reset().observation["observation"].shape
        (2,)
    """
    settings = dict(action_cost=action_cost, image_size=image_size, camera=camera)
    found = tasks.check_task(
        task, observation, action_repeat, seed=seed, shadows=shadows, **settings
    )
    if observation == "pixels" and not shadows and found.suite == "dm_control":
        _LOG.warning(
            "shadows=false: pictures differ from the benchmark's, so scores do not compare"
        )
    quiet.import_gym()
    from envs.environment import Environment

    return Environment(
        _simulate(found, seed),
        observation,
        found.action_repeat,
        seed,
        shadows=shadows,
        first_episode=first_episode,
        **settings,
    )


def _simulate(task, seed):
    if task.suite == "dm_control":
        from envs.dm_control import Physics

        return Physics(task.domain, task.variant, seed)
    if task.suite == "gym":
        from envs.gym import Gym

        return Gym(task.variant)
    from envs.fake import Line

    return Line()

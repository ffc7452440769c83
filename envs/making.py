"""From a task's name to its environment, in whatever process it is to live."""

import functools

from envs import quiet, tasks

_FACTORS = ("mass", "friction", "gain")  # on the physics of a task
# What each environment of a task says of itself, and so do all of them together.
TOLD = ("action_repeat", "episode_length", "entries", "images", "actions")


def make(
    task,
    observation="state",
    seed=0,
    stride=1,
    give_up_after=1,
    cut_after=None,
    maker=None,
    **settings,
):
    """Makes the environment of `envs.load`, without its warning.

    `maker` makes the task itself, where a task of gymnasium is one of a vector environment.
    """
    found = tasks.check_task(task, observation, seed=seed, **settings)
    # TF-Agents imports gym; this has to come first to be quiet.
    quiet.import_gym()
    from envs.environment import Environment

    factors = {name: settings.pop(name) for name in _FACTORS if name in settings}
    settings |= {"action_repeat": found.action_repeat, "seed": seed, "stride": stride}
    settings |= {"give_up_after": give_up_after, "cut_after": cut_after}
    simulation = _simulate(found, observation, seed, factors, maker)
    if found.names:
        observation = "pixels+auto" if "pixels" in found.names else "auto"
    return Environment(simulation, observation, **settings)


def _simulate(task, observation, seed, factors, maker):
    takes_images = observation in ("auto", "pixels") or bool(task.names)  # of its own
    if task.suite == "dm_control":
        from envs.simulations.dm_control import Physics

        return Physics(task.domain, task.variant, seed, **factors)
    if task.suite == "logged":
        raise ValueError(
            "task 'logged' has no environment to act in: it is for data; name the task "
            "that the data is of"
        )
    if task.suite == "fake":
        from envs.simulations.fake import Cliff, Line

        return Cliff() if task.variant == "fake_ending" else Line()
    from envs.simulations import gym, gymnasium, own

    makers = {"gym": gym.maker, "gymnasium": gymnasium.maker}
    makers["python"] = functools.partial(own.find, task.domain)
    maker = maker or makers[task.suite](task.variant)
    velocities = tasks.GYM_VELOCITIES.get(task.variant, ())
    return own.Own(task.name, maker, velocities, takes_images, task.names)

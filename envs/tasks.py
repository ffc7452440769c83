"""The tasks: names, action repeats, episode lengths, and checks of what a user typed.

Imports no TensorFlow, no simulator and no rendering library.
"""

import dataclasses
import difflib
import math
import numbers

# Numbers alone, a rendered picture alone, both, or all that the environment gives.
OBSERVATIONS = ("state", "position", "pixels", "pixels+state", "pixels+position", "auto")

DM_CONTROL = {
    "acrobot": ("swingup", "swingup_sparse"),
    "ball_in_cup": ("catch",),
    "cartpole": (
        "balance",
        "balance_sparse",
        "swingup",
        "swingup_sparse",
        "swingup_fenced",  # ours, see envs.simulations.dm_control
        "two_poles",
        "three_poles",
    ),
    "cheetah": ("run",),
    "dog": ("stand", "walk", "trot", "run", "fetch"),
    "finger": ("spin", "turn_easy", "turn_hard"),
    "fish": ("upright", "swim"),
    "hopper": ("stand", "hop"),
    "humanoid": ("stand", "walk", "run", "run_pure_state"),
    "humanoid_CMU": ("stand", "walk", "run"),
    "lqr": ("lqr_2_1", "lqr_6_2"),
    "manipulator": ("bring_ball", "bring_peg", "insert_ball", "insert_peg"),
    "pendulum": ("swingup",),
    "point_mass": ("easy", "hard"),
    "quadruped": ("walk", "run", "escape", "fetch"),
    "reacher": ("easy", "hard"),
    "stacker": ("stack_2", "stack_4"),
    "swimmer": ("swimmer6", "swimmer15"),
    "walker": ("stand", "walk", "run"),
}

# Hafner et al., 2019, Learning Latent Dynamics for Planning from Pixels, section 5, for all
# tasks of its domains. Domains that are not named here repeat DEFAULT_REPEAT times, those
# of DeepMind Control as in Hansen et al., 2022, TD-MPC.
PLANET_REPEAT = {
    "cartpole": 8,
    "finger": 2,
    "cheetah": 4,
    "ball_in_cup": 4,
    "walker": 2,
    "reacher": 4,
}
DEFAULT_REPEAT = dict.fromkeys(("gym", "gymnasium", "python", "fake", "logged"), 1)
DEFAULT_REPEAT["dm_control"] = 4
ALIASES = {"cup_catch": "ball_in_cup_catch"}

# Tiny tasks for tests and debugging.
FAKE = ("fake", "fake_ending")
# No environment: what is known of the task are episodes that somebody logged.
LOGGED = "logged"

# The tasks whose episodes can end before their time limit; of gym and gymnasium, those that
# cannot.
ENDING = ("lqr_lqr_2_1", "lqr_lqr_6_2", "fake_ending")
GYM_ENDLESS = ("Pendulum-v1",)

# Entries of a task's observation that are velocities, in gym and gymnasium. Tasks that are
# not named here do not offer the observation `position`, but for an entry of that name.
GYM_VELOCITIES = {
    "Pendulum-v1": (2,),
    "MountainCarContinuous-v0": (1,),
    "MountainCar-v0": (1,),
    "CartPole-v1": (1, 3),
    "Acrobot-v1": (4, 5),
}
_MUJOCO_PY = ("gym.envs.mujoco", "gym.envs.robotics")  # modules of tasks that need it


@dataclasses.dataclass(frozen=True)
class Task:
    """A task whose settings are known to be valid."""

    name: str  # canonical: `cheetah_run`, `gym:Pendulum-v1`, `python:hover:make`, `fake`
    suite: str  # `dm_control`, `gym`, `gymnasium`, `python`, `fake` or `logged`
    domain: str  # the domain of a DeepMind Control task, the module of a user's, else ""
    variant: str  # what to load of that domain, module or suite
    action_repeat: int  # environment steps of a decision
    names: tuple[str, ...] = ()  # of observed entries, and pixels; empty: as OBSERVATIONS


def dm_control_names():
    """Names of all tasks of the DeepMind Control Suite, as `domain_task`."""
    return [f"{domain}_{task}" for domain, tasks in DM_CONTROL.items() for task in tasks]


def can_end(task):
    """Whether a task's episodes can end before their time limit, as far as is known.

    An end differs from a time limit: the future is worth nothing then, and the discount
    is 0. Tasks of gym and of users are taken to end unless it is known that they do not.

    Args:
        task: canonical name.

    Example:
        >>> can_end("gym:MountainCarContinuous-v0"), can_end("cheetah_run")
        (True, False)
    """
    _, is_foreign, name = task.partition(":")
    return name not in GYM_ENDLESS if is_foreign else task in (*ENDING, LOGGED)


def rewards_are_unbounded(task):
    """Whether a task's rewards may be of any size; else an environment step has 0 to 1.

    Args:
        task: canonical name.

    Example:
        >>> rewards_are_unbounded("gym:Pendulum-v1"), rewards_are_unbounded("cheetah_run")
        (True, False)
    """
    unbounded = ("cartpole_swingup_fenced", LOGGED)
    return ":" in task or task.startswith("lqr_") or task in unbounded


def check_task(
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
    """Checks the arguments of `envs.load` in an instant and resolves the task.

    The arguments are those of `envs.load`; the seed is at most 2**32 - 1.

    Returns:
        A `Task`.

    Raises:
        ValueError: an argument is not valid. The message says what would be.

    Example:
        >>> check_task("cup_catch").action_repeat
        4
    """
    _check_int("action_repeat", action_repeat, 1, optional=True)
    _check_int("seed", seed, 0, 2**32 - 1)
    _check_int("image_size", image_size, 1)
    _check_int("camera", camera, -1)
    _check_int("first_episode", first_episode, 0)
    _check_int("time_limit", time_limit, 1, optional=True)
    if not isinstance(shadows, bool):
        raise ValueError(f"shadows must be true or false, got {shadows!r}")
    _check_number("action_cost", action_cost)
    _check_number("action_bound", action_bound, positive=True)
    factors = {"mass": mass, "friction": friction, "gain": gain}
    for factor, value in factors.items():
        _check_number(factor, value, positive=factor != "friction")
    name, suite, domain, variant = _find(task)
    changed = [factor for factor, value in factors.items() if value != 1.0]
    if suite != "dm_control" and changed:
        raise ValueError(
            f"{', '.join(changed)} can be changed for tasks of DeepMind Control alone, got "
            f"task {name!r}"
        )
    names = _names(observation, suite, variant)
    if suite != "dm_control" and camera != 0:
        raise ValueError(f"task {name!r} has camera 0 only, got camera {camera}")
    if action_repeat is None:
        planned = PLANET_REPEAT if suite == "dm_control" else {}
        action_repeat = planned.get(domain, DEFAULT_REPEAT[suite])
    return Task(name, suite, domain, variant, int(action_repeat), names)


def _names(observation, suite, variant):
    """The entries that an observation names, beside what is rendered; else none."""
    knows_velocities = suite in ("dm_control", "fake") or variant in GYM_VELOCITIES
    usual = [each for each in OBSERVATIONS if knows_velocities or "position" not in each]
    if observation in usual:
        return ()
    has_names = not knows_velocities and suite != LOGGED and isinstance(observation, str)
    words = observation.split("+") if has_names else ()
    if not set(words) - {"pixels"}:
        raise ValueError(
            f"observation must be {', '.join(usual[:-1])} or {usual[-1]}, got "
            f"{observation!r}{_nearest(observation, usual)}"
        )
    return tuple(words)


def _check_number(name, value, positive=False):
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not is_number or not 0 <= value < math.inf or positive and not value:
        least = "above 0" if positive else "of at least 0"
        raise ValueError(f"{name} must be a number {least}, got {value!r}")


def _find(task):
    """Splits a task's name into its canonical name, suite, domain and variant."""
    if not isinstance(task, str):
        raise ValueError(f"task must be a name such as 'cartpole_swingup', got {task!r}")
    name = ALIASES.get(task, task)
    if name in FAKE:
        return name, "fake", "", name
    if name == LOGGED:
        return name, "logged", "", name
    if name.startswith("gym:"):
        return name, "gym", "", _check_gym(name.removeprefix("gym:"))
    if name.startswith("gymnasium:"):
        return name, "gymnasium", "", _check_gymnasium(name.removeprefix("gymnasium:"))
    if name.startswith("python:"):
        return name, "python", *_check_own(name)
    for domain, variants in DM_CONTROL.items():
        variant = name.removeprefix(f"{domain}_")
        if variant != name and variant in variants:
            return name, "dm_control", domain, variant
    gym_names = [f"{gym}:{each}" for gym in ("gym", "gymnasium") for each in GYM_VELOCITIES]
    known = [*dm_control_names(), *ALIASES, *gym_names, *FAKE, LOGGED]
    hint = (
        _nearest(task, known)
        or "; tasks are named like cartpole_swingup or gymnasium:Pendulum-v1"
    )
    raise ValueError(
        f"task {task!r} must be in the DeepMind Control Suite, or gymnasium:Name, or "
        f"gym:Name, or python:module:function{hint}"
    )


def _check_gym(name):
    """Checks what can be known of a gym task without making it."""
    if name in GYM_VELOCITIES or ":" in name:
        return name
    from envs.simulations.gym import entry_points

    known = entry_points()
    if name not in known:
        usable = [each for each in known if not known[each].startswith(_MUJOCO_PY)]
        hint = _nearest(name, usable, prefix="gym:")
        raise ValueError(f"task 'gym:{name}' is not registered with gym{hint}")
    if known[name].startswith(_MUJOCO_PY):
        raise ValueError(
            f"task 'gym:{name}' needs mujoco_py, which is not supported; the DeepMind "
            "Control Suite has tasks of its kind, such as 'cheetah_run'"
        )
    return name


def _check_gymnasium(name):
    """Checks what can be known of a gymnasium task without making it."""
    from envs.simulations import gymnasium

    known = gymnasium.names(name)
    if name.rpartition(":")[2] not in known:
        hint = _nearest(name, known, prefix="gymnasium:")
        raise ValueError(f"task 'gymnasium:{name}' is not registered with gymnasium{hint}")
    return name


def _check_own(name):
    """Module and function of a user's environment; both are there."""
    module, _, function = name.removeprefix("python:").partition(":")
    if not all(word.isidentifier() for word in [*module.split("."), function]):
        raise ValueError(
            f"task {name!r} must be python:package.module:function, where the function "
            "makes an environment"
        )
    from envs.simulations.own import find

    find(module, function)
    return module, function


def _check_int(key, value, minimum, maximum=math.inf, optional=False):
    if optional and value is None:
        return
    is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_whole or not minimum <= value <= maximum:
        has_end = maximum < math.inf
        bound = f"from {minimum} to {maximum}" if has_end else f"of at least {minimum}"
        raise ValueError(f"{key} must be an integer {bound}, got {value!r}")


def _nearest(given, known, prefix=""):
    lowered = {name.lower(): name for name in known}
    matches = difflib.get_close_matches(str(given).lower(), lowered, n=1, cutoff=0.5)
    return f"; did you mean {prefix + lowered[matches[0]]!r}?" if matches else ""

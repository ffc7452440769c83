"""Tasks of gym (0.23) as simulations."""

import functools
import inspect
import logging
import multiprocessing
import numbers
import os
import sys
from collections.abc import Mapping

import numpy as np

from envs.quiet import import_gym

_LOG = logging.getLogger(__name__)

SECONDS = 1 / 30  # of an environment step, where a task says nothing of time


def maker(name):
    """A function that makes a task, for `envs.simulations.own.Own`."""

    def make():
        gym = import_gym()
        try:
            return gym.make(name)
        except AttributeError as error:  # where box2d is missing, a name is left out
            raise ModuleNotFoundError(
                f"it needs a package that is not installed ({error})"
            ) from error

    make.__name__ = "gym.make"  # in messages
    return make


class GymEnv:
    """An environment of gym (0.23) or of gymnasium, see `envs.simulations.interfaces`."""

    def __init__(self, env):
        self._env = env
        self.actions = env.action_space
        self.observations = env.observation_space
        self.time_limit = _time_limit(env)
        self.timestep = _timestep(env)

    def reset(self, seed):
        env, seed = self._env, one_number(seed)
        if _takes_seed(env):
            result = env.reset(seed=seed)
        else:  # written for gym before 0.22, or without seeds
            if hasattr(env, "seed"):
                env.seed(seed)
            else:
                warn_of_starts(type(env).__name__)
            result = env.reset()
        is_pair = isinstance(result, tuple) and len(result) == 2
        return result[0] if is_pair and isinstance(result[1], dict) else result

    def step(self, action):
        """The discount is 0 where the task ended the episode, 1 where time was up."""
        given = self._env.step(action)
        if not isinstance(given, tuple | list) or len(given) not in (4, 5):
            raise TypeError(
                "step returns observation, reward, terminated, truncated and info, got "
                f"{repr(given):.100}"
            )
        observation, reward, *ends, info = given
        if len(ends) == 2:
            is_terminal, is_cut = map(_flag, ends)
            is_last = is_terminal or is_cut
        else:
            (is_last,) = map(_flag, ends)
            is_cut = (info or {}).get("TimeLimit.truncated", False)
            is_terminal = is_last and not is_cut
        return observation, one_reward(reward), is_last, 0.0 if is_terminal else 1.0

    def render(self, size):
        return as_picture(self.picture(), size)

    def picture(self):
        """What the environment draws."""
        env = self._env
        # gym draws with pygame, which else looks for a screen and a sound card.
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
        os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        base = getattr(env, "unwrapped", env)
        if isinstance(getattr(base, "last_u", None), np.floating):
            # Pendulum draws its torque, and pygame takes no other number of NumPy than
            # float64, which NumPy 2 no longer makes of a float32 times a float.
            base.last_u = float(base.last_u)
        try:
            if hasattr(env, "render_mode"):  # gymnasium: chosen when it is made
                image = env.render() if env.render_mode == "rgb_array" else None
            else:
                image = env.render(mode="rgb_array")
        except (*_errors_of_gym(), NotImplementedError, AttributeError) as error:
            raise RuntimeError(f"this environment draws no picture: {error}") from error
        if image is None:
            hint = "; gymnasium needs render_mode='rgb_array'" * hasattr(env, "render_mode")
            raise RuntimeError(f"this environment draws no picture: it gave None{hint}")
        return np.asarray(image)

    def close(self):
        self._env.close()


def _errors_of_gym():
    return (sys.modules["gym"].error.Error,) if "gym" in sys.modules else ()


def _takes_seed(env):
    """Whether `reset` does; a wrapper's that takes whatever comes hands it on."""
    parameters = inspect.signature(env.reset).parameters
    takes_all = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    if "seed" in parameters or not takes_all:
        return "seed" in parameters
    inner = getattr(env, "env", None)
    return inner is None or _takes_seed(inner)


@functools.cache
def warn_of_starts(name):
    """Warns once of an environment without seeds, and not in each process of many."""
    if multiprocessing.parent_process() is None:
        _LOG.warning(
            "%s has no seeds, so the run's seed does not fix its episodes: "
            "give it a method seed(seed)",
            name,
        )


def _flag(value):
    """Whether an episode ended, as a bool."""
    if np.size(value) != 1 or np.ravel(value)[0] not in (0, 1):
        raise TypeError(
            f"terminated and truncated are true or false, got {repr(value):.100}"
        )
    return bool(np.ravel(value)[0])


def one_reward(reward):
    """A reward as a float."""
    if np.size(reward) != 1 or np.asarray(reward).dtype.kind not in "biuf":
        raise TypeError(f"a reward is one number, got {repr(reward):.100}")
    return float(np.ravel(reward)[0])


def as_picture(image, size):
    """What an environment draws, red, green and blue from 0 to 255, in this size."""
    is_whole = image.dtype.kind in "iu" and image.size
    is_colored = image.ndim == 3 and image.shape[2] == 3
    if not is_whole or not is_colored or image.min() < 0 or image.max() > 255:
        raise RuntimeError(
            "this environment draws no picture: render must return uint8 [height, width, "
            f"3], got {image.dtype} {list(image.shape)}"
        )
    return shrink(image.astype(np.uint8), size)


def _time_limit(env):
    """Steps after which an environment of gym or gymnasium is cut, or None.

    The least of its `TimeLimit`s. What its `spec` says is that of the task as it was
    registered, which a wrapper around its inside does not keep to; so it counts for an
    environment without wrappers alone.
    """
    limits, inner = [], env
    while inner is not None:
        limits.append(getattr(inner, "__dict__", {}).get("_max_episode_steps"))
        inner = getattr(inner, "env", None)
    if len(limits) == 1:
        limits.append(getattr(getattr(env, "spec", None), "max_episode_steps", None))
    return min((limit for limit in limits if limit is not None), default=None)


def _timestep(env):
    """Seconds; where a task does not tell them, those of a frame when gym shows it."""
    seconds = getattr(getattr(env, "unwrapped", env), "dt", None)
    if isinstance(seconds, numbers.Real) and seconds:
        return seconds
    metadata = getattr(env, "metadata", None)
    frames = metadata.get("render_fps") if isinstance(metadata, Mapping) else None
    return 1 / frames if isinstance(frames, numbers.Real) and frames else SECONDS


def one_number(seed):
    """A seed of 32 bits, as gym takes it; `seed` is an int or a list of ints."""
    if isinstance(seed, int):
        return seed
    return int(np.random.SeedSequence(seed).generate_state(1)[0])


def entry_points():
    """Names of the tasks registered with gym, and the code behind each, as a dict."""
    specs = import_gym().envs.registry.env_specs
    return {name: str(spec.entry_point) for name, spec in specs.items()}


def shrink(image, size):
    """Averages the pixels of an image, uint8 [height, width, 3], over a square grid."""
    total = image.astype(np.float64)
    for axis in (0, 1):
        edges = np.arange(size + 1) * image.shape[axis] / size
        starts = np.floor(edges[:-1]).astype(int)
        counts = np.maximum(np.floor(edges[1:]).astype(int) - starts, 1)
        shape = [1, 1, 1]
        shape[axis] = size
        total = np.add.reduceat(total, starts, axis) / counts.reshape(shape)
    return np.round(total).astype(np.uint8)

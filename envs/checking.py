"""The one door: what an environment gives is checked once it has the type that is stored.

Each function returns that, or raises an error of one line that names the environment, for
what came later would be told of the model: a reward of 1e30 has a square that is infinite.
"""

import math
import numbers

import numpy as np

from envs.failing import EnvironmentFailedError

LARGEST = 1e15  # whose square, summed over a million steps, float32 still holds


def real(name, value, when="", error=ValueError):
    """Numbers as float32, of the shape that they have.

    Here and below `name` and `when` are words for messages.
    """
    try:
        array = np.asarray(value)
    except ValueError:  # of rows that differ in length
        array = np.asarray(None)
    except Exception as problem:  # of a tensor on a device, say
        array, value = np.asarray(None), f"{type(problem).__name__}: {problem}"
    if array.dtype.kind not in "biuf" or np.ma.is_masked(value):
        _fail(name, "be real numbers", value, when, error)
    return _stored(name, array, when, error)


def reward(value, when):
    """A reward as float32."""
    return np.float32(_stored("the environment's reward", np.float64(value), when))


def discount(value, when):
    """The discount of a step as float32."""
    if not 0.0 <= value <= 1.0:  # nor nan
        _fail("the environment's discount", "be from 0 to 1", value, when)
    return np.float32(value)


def bounds(low, high):
    """Refuses bounds of actions that none lies between."""
    if not low.size:
        raise ValueError(
            "the environment has no actions: the shape of its actions is empty"
        )
    given = f"{_short(low)} to {_short(high)}"
    if np.isnan(low).any() or np.isnan(high).any():
        _refuse("bounds of actions", "be numbers", given)
    if (low > high).any():
        _refuse("lowest actions", "be at most its highest", given)


def time_limit(value):
    """A limit of steps that the environment tells; None where it tells none."""
    if value is None:
        return None
    is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_whole or value < 1:
        what = "limit of steps (max_episode_steps)"
        _refuse(what, "be a whole number of at least 1", _short(value))
    return int(value)


def timestep(value):
    """Seconds of an environment step."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not is_number or not 0 < value < math.inf:
        raise ValueError(
            "the seconds of the environment's step (control_timestep, dt or render_fps) "
            f"must be above 0, got {_short(value)}"
        )
    return float(value)


def _stored(name, value, when, error=EnvironmentFailedError):
    given = np.asarray(value, np.float64)
    if not (np.abs(given) <= LARGEST).all():  # nor nan
        if not np.isfinite(given).all():
            _fail(name, "be finite", value, when, error)
        right, hint = f"be at most {LARGEST:g} in size", ": divide it by its unit"
        _fail(name, right, value, when, error, hint)
    return given.astype(np.float32)


def _fail(name, right, value, when, error=EnvironmentFailedError, hint=""):
    given = f"{_short(value)} {when}".rstrip()
    raise error(f"{name} must {right}, got {given}{hint}")


def _refuse(name, right, given):
    raise ValueError(f"the environment's {name} must {right}, got {given}")


def _short(value):
    words = " ".join(str(value).split())
    return words if len(words) <= 100 else f"{words[:97]}..."

"""The entries of an observation: found, chosen by name, joined to one vector.

An entry is known by its path: ("arm", "angle") leads to the entry `angle` of `arm`.
"""

import numpy as np

from envs import checking


def entries(observations, path=()):
    """Pairs (path of keys, description) of an observation's arrays, in their order.

    They are described by a nest of dicts, tuples and gym's spaces, to which `path` led.

    Example:
        >>> entries({"arm": {"angle": 1, "speed": 2}, "goal": 3})
        [(('arm', 'angle'), 1), (('arm', 'speed'), 2), (('goal',), 3)]
    """
    is_one_of = type(observations).__name__ == "OneOf"  # gymnasium's; `Own` refuses it
    parts = observations if is_one_of else getattr(observations, "spaces", observations)
    if isinstance(parts, list | tuple):
        parts = dict(enumerate(parts))
    if not hasattr(parts, "items"):
        return [(path, observations)]
    return [each for key, part in parts.items() for each in entries(part, (*path, key))]


def called(path):
    """The name of an entry, `arm/angle`; that of the only array is empty."""
    return "/".join(map(str, path))


def entries_in_words(sizes):
    """`arm/angle 2, goal 1`, of a dict of path -> size."""
    return ", ".join(f"{called(path)} {size}" for path, size in sizes.items())


def chosen(found, names):
    """Those entries of a dict by paths that are called so, or lie in what is.

    Raises:
        ValueError: nothing has one of the names.

    Example:
        >>> chosen({("arm", "angle"): 2, ("arm", "speed"): 2, ("goal",): 1}, ["arm"])
        {('arm', 'angle'): 2, ('arm', 'speed'): 2}
    """
    kept = set()
    for name in names:
        lying = {
            path for path in found if path and f"{called(path)}/".startswith(f"{name}/")
        }
        if not lying:
            known = ", ".join(map(called, found)) if () not in found else "none"
            raise ValueError(f"it observes no entry {name!r}; its entries: {known}")
        kept |= lying
    return {path: what for path, what in found.items() if path in kept}


def entry(observation, path):
    """What lies at a path.

    Raises:
        LookupError, TypeError: nothing does.
    """
    for key in path:
        observation = observation[key]
    return observation


def lies(path, observation):
    """Whether there is something at a path."""
    try:
        entry(observation, path)
    except (LookupError, TypeError):
        return False
    return True


def check_entries(observation, sizes, others=()):
    """Refuses an observation without one of the entries, or of others, whose size is open.

    Raises:
        ValueError: it lacks some, which are named.

    Example:
        >>> check_entries({"goal": 3}, {("goal",): 1, ("arm", "angle"): 2})
        Traceback (most recent call last):
        ...
        ValueError: observation must be a dict with goal 1, arm/angle 2; it lacks arm/angle
    """
    lacking = [called(path) for path in (*sizes, *others) if not lies(path, observation)]
    if lacking:
        right = [entries_in_words(sizes)] * bool(sizes) + [*map(called, others)]
        raise ValueError(
            f"observation must be a dict with {', '.join(right)}; it lacks "
            f"{', '.join(lacking)}"
        )


def concatenate(observation, sizes):
    """The entries of an observation as one vector.

    Args:
        observation: nest of arrays and numbers.
        sizes: dict of path -> size, in order.

    Returns:
        float32 [n].

    Raises:
        ValueError: an entry is missing, has more or fewer numbers than its size, or holds
            what is not real, not finite or above 1e15 in size. The entry is named.

    Example:
        >>> sizes = {("arm", "ends"): 2, ("goal",): 1}
        >>> concatenate({"goal": 3, "arm": {"ends": [1, 2]}}, sizes).tolist()
        [1.0, 2.0, 3.0]
    """
    check_entries(observation, sizes)
    return np.concatenate(
        [_numbers(entry(observation, path), path, size) for path, size in sizes.items()]
    )


def _numbers(given, path, size):
    name = called(path) or "observation"
    numbers = np.ravel(checking.real(name, given))
    if numbers.size != size:
        raise ValueError(f"{name} must have {size} numbers, got {numbers.size}")
    return numbers

"""Logged arrays to episodes in the layout of `agents.episodes.layout`."""

import numpy as np

from agents.episodes.layout import check_episode, known_in
from agents.system.errors import UserError
from agents.training.logged import checks

_OWN = ("observation", "action", "reward", "is_first", "is_terminal")
_NEEDED = ("observations", "actions", "rewards")
_ALIASES = {"terminations": "terminals", "truncations": "timeouts"}
_HINT = "since the file has no action_low and action_high"


def episodes_of(arrays, file, bounds=None):
    """The episodes that the arrays of a file are.

    A file may hold an episode as a run keeps it, or steps of one or more episodes, one
    after another:

        observations      [N, D] or uint8 [N, size, size, 3], seen before each action
        actions           [N, A]
        rewards           [N], for each action
        terminals         [N], true where the task ended after it; else none did
        timeouts          [N], true where a time limit did; else after the last row alone
        next_observations as observations, seen after each action
        action_low, action_high  [A], the bounds of actions

    `terminations` and `truncations` are the same as `terminals` and `timeouts`. Without
    `next_observations` the last action of an episode that a time limit ended is left out,
    since nobody knows what it led to, unless `observations` has N + 1 rows.

    Source of the names: Fu et al., 2020, D4RL: Datasets for Deep Data-Driven Reinforcement
    Learning.

    Args:
        arrays: dict of arrays.
        file: name of it, for messages.
        bounds: of actions in `actions`: low, high, and who says so, which `action_low` and
            `action_high` of the file must be too; None: those of the file, and where it has
            none -1 and 1.

    Returns:
        List of episodes; actions are scaled to [-1, 1].

    Raises:
        UserError: something is missing or wrong. One line that names file and entry.

    Example:
        >>> steps = {"observations": np.zeros([5, 2]), "rewards": np.ones(5)}
        >>> steps |= {"actions": np.zeros([5, 1]), "timeouts": np.arange(5) == 2}
        >>> [len(episode["reward"]) - 1 for episode in episodes_of(steps, "steps.npz")]
        [2, 1]
    """
    if "is_first" in arrays:
        return [_own(arrays, file)]
    arrays = {_ALIASES.get(name, name): array for name, array in arrays.items()}
    checks.entries(arrays, file, _NEEDED)
    return _split(_checked(arrays, file, bounds), file)


def _own(arrays, file):
    """An episode as a run keeps it; what no log has is added."""
    checks.entries(arrays, file, _OWN)
    for name in ("is_first", "is_terminal"):
        checks.real(arrays[name], file, name)
    count = len(np.atleast_1d(arrays["reward"]))
    episode = known_in(arrays)
    unknown = np.zeros([count, 0], np.float32)
    episode = {"position": unknown, "velocity": unknown} | episode
    try:
        check_episode(episode)
    except ValueError as error:
        raise UserError(f"{file}: {error}") from None
    episode["observation"] = checks.observations(
        episode["observation"], file, "observation"
    )
    bounds = -1.0, 1.0, "as in episodes of a run"
    episode["action"] = checks.actions(episode["action"], file, "action", *bounds)
    episode["reward"] = checks.numbers(episode["reward"], file, "reward", 1, "[steps]")
    for name in ("is_first", "is_terminal"):
        episode[name] = np.asarray(episode[name], bool)
    return episode


def _checked(arrays, file, bounds):
    """The arrays, each as it must be; those that may be missing too."""
    count = len(np.atleast_1d(arrays["actions"]))
    observations = checks.observations(arrays["observations"], file, "observations")
    checks.rows(observations, file, "observations", (count, count + 1), "actions, or more")
    bounds = _bounds(arrays, file, bounds)
    found = {
        "observations": observations,
        "actions": checks.actions(arrays["actions"], file, "actions", *bounds),
    }
    for name in ("rewards", "terminals", "timeouts"):
        array = arrays.get(name, np.zeros(count, bool))
        array = checks.numbers(array, file, name, 1, "[steps]")
        checks.rows(array, file, name, (count,), "actions")
        found[name] = array if name == "rewards" else array.astype(bool)
    if "next_observations" in arrays:
        name = "next_observations"
        found[name] = checks.observations(arrays[name], file, name)
        checks.rows(found[name], file, name, (count,), "actions")
        if found[name].shape[1:] != observations.shape[1:]:
            given = f"has shape {found[name].shape}"
            checks.refuse(file, name, given, f"be like observations, {observations.shape}")
    return found


def _bounds(arrays, file, given):
    """The bounds of actions: those given, which the file may repeat, or else its own."""
    if "action_low" not in arrays and "action_high" not in arrays:
        return given or (-1.0, 1.0, _HINT)
    names = "action_low", "action_high"
    checks.entries(arrays, file, names)
    own = [checks.real(arrays[name], file, name).astype(float) for name in names]
    if given is None:
        return *own, "as action_low and action_high say"
    *right, whose = given
    for name, ours, theirs in zip(names, own, right, strict=True):
        if np.size(ours) not in (1, np.size(theirs)) or not np.allclose(ours, theirs):
            checks.refuse(file, name, f"is {ours}", f"be {np.asarray(theirs)}, {whose}")
    return given


def _split(found, file):
    """Steps of several episodes to a list of those."""
    count = len(found["actions"])
    if not count:
        checks.refuse(file, "actions", "has no row", "have at least 1")
    ends = np.flatnonzero(found["terminals"] | found["timeouts"]) + 1
    ends = [*ends, count] if count not in ends else [*ends]
    episodes = []
    for start, end in zip([0, *ends], ends, strict=False):
        if (episode := _episode(found, start, end, file)) is not None:
            episodes.append(episode)
    if not episodes:
        checks.refuse(
            file, "actions", f"has {count} rows", "lead to at least 1 observation"
        )
    return episodes


def _episode(found, start, end, file):
    """The episode of the rows from `start` to before `end`; None where none is left."""
    before, is_terminal = found["observations"], bool(found["terminals"][end - 1])
    if "next_observations" in found:
        last = found["next_observations"][end - 1 : end]
        seen = np.concatenate([before[start:end], last])
    elif end < len(before) and end == len(found["actions"]):
        seen = before[start : end + 1]
    elif is_terminal:
        given = f"is true in row {end - 1}, but what was seen after it is missing"
        checks.refuse(file, "terminals", given, "come with next_observations")
    else:
        end -= 1
        seen = before[start : end + 1]
    if end == start:
        return None
    first = np.arange(len(seen)) == 0
    unknown = np.zeros([len(seen), 0], np.float32)
    return {
        "observation": seen,
        "action": _led_here(found["actions"][start:end]),
        "reward": _led_here(found["rewards"][start:end]),
        "is_first": first,
        "is_terminal": (np.arange(len(seen)) == len(seen) - 1) & is_terminal,
        "position": unknown,
        "velocity": unknown,
    }


def _led_here(array):
    """Row 0 has no action; each other one what led to it."""
    return np.concatenate([np.zeros_like(array[:1]), array])

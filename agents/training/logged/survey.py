"""What is found in logged episodes: how many there are, how they look, what they return."""

import dataclasses
import functools

import numpy as np

from agents.episodes.layout import (
    agent_steps,
    environment_steps,
    episode_return,
    seen_keys,
)
from agents.training.logged.checks import one_hot, refuse
from agents.training.logged.reading import find


@dataclasses.dataclass(frozen=True)
class Survey:
    """What is found.

    Attributes:
        example: the first episode, its first rows.
        returns: of each episode, undiscounted.
        agent_steps: of all of them.
        environment_steps: likewise, before action repeat.
        longest: agent steps of the longest.
        ends: episodes that the task ended.
    """

    example: dict = dataclasses.field(repr=False)
    returns: tuple
    agent_steps: int
    environment_steps: int
    longest: int
    ends: int

    def __str__(self):
        observation, action = (self.example[key] for key in ("observation", "action"))
        returns = np.array(self.returns)
        return (
            f"{len(returns)} episodes, {self.environment_steps:,} environment steps "
            f"({self.agent_steps:,} decisions), {self.ends} ended by the task; observation "
            f"{observation.shape[1:]} {observation.dtype}, action size {action.shape[1]}; "
            f"return {returns.min():.4g} to {returns.max():.4g}, mean {returns.mean():.4g}"
        )


@functools.lru_cache(maxsize=4)
def survey(data, action_repeat, bounds=None, categories=()):
    """Reads and checks all logged episodes, as of `find`, once in a process.

    The bounds are those of `agents.training.logged.arrays.episodes_of`, low and high as
    tuples. Actions that have categories are to be one-hot.

    Raises:
        UserError: something is wrong, or episodes differ in shape. One line.
    """
    example, first, returns, decisions, steps, ends = None, None, [], [], 0, 0
    for file, episode in find(data).episodes(bounds):
        if example is None:
            example, first = {key: np.array(x[:1]) for key, x in _rows(episode)}, file
        _check_alike(episode, file, example, first)
        if categories:
            one_hot(episode["action"], file, categories)
        returns.append(episode_return(episode))
        decisions.append(agent_steps(episode))
        steps += environment_steps(episode, action_repeat)
        ends += bool(episode["is_terminal"][-1])
    return Survey(example, tuple(returns), sum(decisions), steps, max(decisions), ends)


def _rows(episode):
    return [(key, value) for key, value in episode.items() if np.ndim(value)]


def _check_alike(episode, file, example, first):
    seen, wanted = seen_keys(episode), seen_keys(example)
    if seen != wanted:
        refuse(file, "what is seen", f"is {', '.join(seen)}", f"be {', '.join(wanted)}")
    for key in (*seen_keys(example), "action"):
        array, known = episode[key], example[key]
        if (array.shape[1:], array.dtype) != (known.shape[1:], known.dtype):
            given = f"has rows of shape {array.shape[1:]} and {array.dtype}"
            right = f"be like that of {first}: {known.shape[1:]} and {known.dtype}"
            refuse(file, key, given, right)

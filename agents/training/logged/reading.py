"""Where logged episodes are, and what is found in them.

They are in the folder of a run, in npz files, or in a Minari data set.
"""

import dataclasses
import functools
import pathlib

import numpy as np

from agents.episodes.layout import agent_steps, environment_steps, episode_return, seen_keys
from agents.episodes.store import DamagedEpisodeError, numbered_files, read_arrays
from agents.runs.config.schema import OF_EPISODES, flatten
from agents.runs.folder import Run, load_config
from agents.system.errors import UserError
from agents.training.logged.arrays import episodes_of
from agents.training.logged.checks import one_hot, refuse

MINARI = "minari:"


@dataclasses.dataclass(frozen=True)
class Logged:
    """Logged episodes.

    Args:
        name: as typed.
        files: `pathlib.Path` of each npz file, in order; empty of a Minari data set.
        run: folder of the run that collected them, or None.
    """

    name: str
    files: tuple
    run: pathlib.Path | None = None

    @property
    def settings(self):
        """Dict of the keys of a config that these episodes were made with."""
        if self.run is None:
            return {}
        config = load_config(self.run)
        own = {key: getattr(config, key) for key in OF_EPISODES}
        own |= flatten({"image": vars(config.image), "physics": vars(config.physics)})
        return {key: value for key, value in own.items() if value is not None}

    def episodes(self, bounds=None):
        """Yields the name of a file, and an episode in it; one file in memory at a time.

        The bounds, of actions, are those of `agents.training.logged.arrays.episodes_of`.

        Raises:
            UserError: a file is damaged, or something in it is wrong.
        """
        if self.name.startswith(MINARI):
            yield from _of_minari(self.name, bounds)
            return
        for file in self.files:
            for episode in episodes_of(_arrays(file), file, bounds):
                yield file, episode


def find(data):
    """The logged episodes in a place that `data` names.

    Args:
        data: the folder of a run, an npz file, a folder of npz files, or `minari:` and
            the name of a data set on this machine.

    Raises:
        UserError: there are none. One line.
    """
    if data.startswith(MINARI):
        return Logged(data, ())
    path = pathlib.Path(data)
    if path.is_file():
        if path.suffix != ".npz":
            raise UserError(f"{data} must be an npz file, or a folder of npz files")
        return Logged(data, (path,))
    if not path.is_dir():
        raise UserError(
            f"there is no folder {data}; data must be the folder of a run, an npz file, a "
            f"folder of npz files, or {MINARI}NAME"
        )
    run = Run(path)
    if run.config_file.is_file():
        files = _in_order(run.episodes)
        if not files:
            raise UserError(f"{run.episodes} has no episodes; the run has collected none")
        return Logged(data, files, path)
    files = _in_order(path)
    if not files:
        raise UserError(f"{data} has no npz files, and is not the folder of a run")
    return Logged(data, files)


def _in_order(folder):
    """Files of a run by the number of their episode, others by name."""
    files = sorted(folder.glob("*.npz"))
    numbered = numbered_files(folder)
    if len(numbered) == len(files):
        files = [numbered[number] for number in sorted(numbered)]
    return tuple(files)


def _arrays(file):
    try:
        return read_arrays(file)
    except DamagedEpisodeError as error:
        raise UserError(f"{file} is damaged: {error}") from None
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None


def _of_minari(name, bounds):
    """Yields the episodes of a data set of Minari that is on this machine."""
    try:
        import minari
    except ModuleNotFoundError:
        raise UserError(
            f"{name} needs the library Minari: pip install 'bayes_rl[minari]'"
        ) from None
    try:
        dataset = minari.load_dataset(name.removeprefix(MINARI))
    except (FileNotFoundError, ValueError, KeyError) as error:
        raise UserError(
            f"there is no {name} here: {' '.join(str(error).split())}"
        ) from None
    own, space = {}, dataset.action_space
    if hasattr(space, "low") and np.isfinite([space.low, space.high]).all():
        own = {"action_low": space.low, "action_high": space.high}
    for episode in dataset.iterate_episodes():
        file = f"{name}, episode {episode.id}"
        arrays = {
            "observations": _flat(episode.observations, file),
            "actions": np.asarray(episode.actions),
            "rewards": np.asarray(episode.rewards),
            "terminals": np.asarray(episode.terminations),
            "timeouts": np.asarray(episode.truncations),
            **own,
        }
        for each in episodes_of(arrays, file, bounds):
            yield file, each


def _flat(observations, file):
    """Vectors of a dict's entries one after another, in the order of the dict."""
    if not isinstance(observations, dict):
        return np.asarray(observations)
    parts = [_flat(part, file) for part in observations.values()]
    return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)


@dataclasses.dataclass(frozen=True)
class Survey:
    """What is found in all logged episodes.

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
            f"return {returns.min():.4g} to {returns.max():.4g}, "
            f"mean {returns.mean():.4g}"
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

"""Episodes on disk: files that are whole or not there."""

import contextlib
import io
import logging
import os
import pathlib
import struct
import zipfile
import zlib

import numpy as np

from agents.episodes.layout import agent_steps, check_episode, known_in
from agents.system.errors import UserError
from agents.system.files import remove_temporary, replacing, sync

log = logging.getLogger(__name__)

# What numpy raises of the bytes of a damaged file; OSError where they lead outside.
_DAMAGE = (ValueError, OSError, EOFError, KeyError, RuntimeError)
_DAMAGE += (zipfile.BadZipFile, zlib.error, struct.error)


class DamagedEpisodeError(ValueError):
    """A file holds no whole episode. Its message says why."""


class EpisodeStore:
    """Episodes as files `<folder>/000007.npz`, each whole or not there.

    Opening it removes what killed processes left behind and reads every file once; one
    that is damaged is named in a warning and moved to `<folder>/damaged/`. Numbers are
    never used twice: a new episode takes the number after the largest ever seen.

    Args:
        folder: made where it is missing.

    Attributes:
        indices: numbers of the readable episodes, ascending.
        next_index: number of the episode that will be appended next.

    Example:
        >>> import tempfile
        >>> from agents.episodes.layout import KEYS
        >>> episode = {key: np.zeros([3, 1], np.float32) for key in KEYS}
        >>> for key in ("reward", "is_first", "is_terminal"):
        ...     episode[key] = episode[key][:, 0]
        >>> episode["is_first"] = np.array([True, False, False])
        >>> store = EpisodeStore(tempfile.mkdtemp())
        >>> store.append(episode), store.append(episode), store.indices
        (0, 1, [0, 1])
    """

    def __init__(self, folder):
        self._folder = pathlib.Path(folder)
        self._damaged = self._folder / "damaged"
        self._folder.mkdir(parents=True, exist_ok=True)
        remove_temporary(self._folder)
        found = numbered_files(self._folder)
        ever = [*found, *numbered_files(self._damaged)]
        self.next_index = max(ever, default=-1) + 1
        self._numbers = {index: index for index in ever}  # where a file does not tell
        self._lengths = {}
        if lost := sorted({*range(self.next_index)} - {*ever}):
            numbers = ", ".join(map(str, lost))
            log.warning("%s lacks episode %s; the run goes on without", folder, numbers)
        self.indices = [i for i in sorted(found) if self._survives(i)]

    def __iter__(self):
        """Yields (index, episode), oldest first, one in memory at a time."""
        for index in self.indices:
            yield index, self.read(index)

    def read(self, index):
        """Returns the episode of that number.

        Raises:
            KeyError: there is no readable episode of that number.
        """
        if index not in self.indices:
            raise KeyError(f"no episode {index} in {self._folder}")
        return read_episode(self._file(index))

    def environment_steps(self, action_repeat):
        """Those of all episodes, see `agents.episodes.layout.environment_steps`."""
        return sum(
            steps * action_repeat if told is None else told
            for steps, told in self._lengths.values()
        )

    def next_numbers(self, count):
        """Numbers at which environments go on that take turns at one sequence of episodes.

        Environment r of `count` runs the episodes r, r + count, r + 2 count and so on. One
        may be ahead of another, so each goes on after the largest of its own.
        """
        known = self._numbers.values()
        return [
            max((n + count for n in known if n % count == row), default=row)
            for row in range(count)
        ]

    def append(self, episode):
        """Writes an episode; when this returns its number, it is on disk.

        Raises:
            ValueError: the episode has not the layout of `agents.episodes.layout`.
        """
        return self._write(episode, pack(episode))

    def append_packed(self, content):
        """Writes an episode of which another process has made these bytes by `pack`."""
        return self._write(unpack(content), content)

    def _write(self, episode, content):
        index = self.next_index
        with replacing(self._file(index)) as handle:
            handle.write(content)
        self.next_index += 1
        self._note(index, episode)
        self.indices.append(index)
        return index

    def _file(self, index):
        return self._folder / f"{index:06d}.npz"

    def _note(self, index, episode):
        self._numbers[index] = int(episode.get("number", index))
        told = episode.get("environment_steps")
        self._lengths[index] = agent_steps(episode), None if told is None else int(told)

    def _survives(self, index):
        """Whether the file of an episode is whole; else it is put aside."""
        file = self._file(index)
        try:
            self._note(index, read_episode(file))
        except OSError as error:  # too many open files, a network that is away
            raise UserError(
                f"episode {file} cannot be read now ({error.strerror}); the same "
                "command tries again"
            ) from None
        except DamagedEpisodeError as error:
            self._damaged.mkdir(exist_ok=True)
            os.replace(file, self._damaged / file.name)
            sync(self._folder)
            log.warning("%s is damaged (%s); moved to %s", file, error, self._damaged)
            return False
        return True


def readable_episodes(folder):
    """Yields the episodes in a folder, oldest first; it changes nothing there."""
    for _, file in sorted(numbered_files(pathlib.Path(folder)).items()):
        with contextlib.suppress(DamagedEpisodeError, OSError):
            yield read_episode(file)


def numbered_files(folder):
    """Dict of the number of each episode in a folder -> its file."""
    return {int(file.stem): file for file in folder.glob("*.npz") if file.stem.isdecimal()}


def read_episode(file):
    """The episode in a file.

    Raises:
        DamagedEpisodeError: it holds no whole one.
        OSError: it cannot be read now, which tells nothing about it.
    """
    return unpack(pathlib.Path(file).read_bytes())


def read_arrays(file):
    """Whatever arrays there are in a file, by name; errors are those of `read_episode`."""
    with _arrays(pathlib.Path(file).read_bytes()) as arrays:
        return dict(arrays)


def unpack(content):
    """The episode that `pack` made these bytes of.

    Raises:
        DamagedEpisodeError: they hold no whole one.
    """
    with _arrays(content) as arrays:
        episode = known_in(arrays)
        check_episode(episode)
        return episode


@contextlib.contextmanager
def _arrays(content):
    archive = io.BytesIO(content)
    try:
        if not zipfile.is_zipfile(archive):
            raise ValueError("not a whole archive of arrays")
        with np.load(archive, allow_pickle=False) as arrays:
            yield arrays
    except _DAMAGE as error:
        raise DamagedEpisodeError(str(error).partition("\n")[0]) from None


def pack(episode):
    """The bytes of the file of an episode.

    Raises:
        ValueError: the episode has not the layout of `agents.episodes.layout`.
    """
    check_episode(episode)
    content = io.BytesIO()
    np.savez_compressed(content, **known_in(episode))
    return content.getvalue()

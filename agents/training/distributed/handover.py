"""Episodes on their way from actors to the learner, as files in the run's folder.

    episodes/actor_2/000007.npz   finished: on disk before anybody hears of it
    episodes/ready/000007.npz     in the replay server as well
    episodes/000005.npz           taken by the learner, which counts it

A file goes from one place to the next by a rename, so whoever is killed, an episode is in
one place and is counted once. On its way it bears the number of its episode in the sequence
that all actors share, afterwards that of the order in which it was learned.
"""

import functools
import os
import pathlib

from agents.episodes.store import (
    DamagedEpisodeError,
    next_numbers,
    numbered_files,
    read_number,
    write_episode,
)
from agents.system.files import remove_temporary, sync_folder
from agents.system.locking import lock_folder


class Handover:
    """The places of episodes that no learner has taken.

    Args:
        episodes: folder of the run's episodes.
    """

    def __init__(self, episodes):
        self._folder = pathlib.Path(episodes)
        self._ready = self._folder / "ready"
        self._ready.mkdir(parents=True, exist_ok=True)

    def open(self, actor):
        """Makes the folder of an actor; removes what an earlier process left unfinished.

        Raises:
            InUseError: another process is that actor.
        """
        folder = self._folder / f"actor_{actor}"
        folder.mkdir(exist_ok=True)
        _hold(folder.absolute())
        remove_temporary(folder)

    def finish(self, actor, episode):
        """Writes a finished episode; when this returns, it is on disk. Gives its file."""
        file = self._folder / f"actor_{actor}" / f"{int(episode['number']):06d}.npz"
        write_episode(file, episode)
        return file

    def finished(self, actor):
        """Files of an actor that the replay server may lack, oldest first."""
        return _files(self._folder / f"actor_{actor}")

    def release(self, file):
        """Lets the learner take a file."""
        os.replace(file, self._ready / file.name)
        sync_folder(self._ready)

    def ready(self):
        """Files that the learner may take, by the number of their episode."""
        return _files(self._ready)

    def untaken(self, rows, stride):
        """How many episodes of an actor, which runs `rows` of every `stride`, wait."""
        return sum(_number(file) % stride in rows for file in self._on_their_way())

    def files(self):
        """Every episode on disk, the newest last: pairs of its file and, if known, number.

        An episode that moves on meanwhile may come twice, and none is left out: places are
        looked at in the order in which files pass through them.
        """
        on_their_way = [(file, _number(file)) for file in self._on_their_way()]
        return [(file, None) for file in _files(self._folder)] + on_their_way

    def next_numbers(self, rows, stride):
        """Number of the episode at which each of an actor's environments goes on.

        Environment r runs the episodes r, r + stride, r + 2 stride and so on.
        """
        numbers = [
            _number_in(file) if number is None else number for file, number in self.files()
        ]
        return next_numbers(numbers, rows, stride)

    def _on_their_way(self):
        folders = sorted(self._folder.glob("actor_*"))
        return [file for folder in [*folders, self._ready] for file in _files(folder)]


@functools.cache  # a process that opens a folder again has it
def _hold(folder):
    """Keeps other processes out of a folder until this one ends."""
    return lock_folder(folder)


def _files(folder):
    return [file for _, file in sorted(numbered_files(folder).items())]


def _number(file):
    return int(file.stem)


def _number_in(file):
    try:
        return read_number(file)
    except (DamagedEpisodeError, FileNotFoundError):  # the learner puts it aside
        return _number(file)

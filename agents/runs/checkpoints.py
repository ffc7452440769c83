"""Checkpoints that are whole or not used: folders with a checksum of every file."""

import contextlib
import errno
import functools
import hashlib
import json
import os
import pathlib
import re
import sys
import tempfile

from agents.system.errors import UserError
from agents.system.files import remove_temporary, replacing_folder, sync, write_text

_MANIFEST = "manifest.json"
_DAMAGED = "damaged"
_KEPT = 3  # checkpoints, the newest
_NAME = re.compile(r"\d+(-\d+)?")  # episodes, and how often they were saved before


class Checkpoints:
    """Saves and restores what TensorFlow tracks, after a finished episode.

    `<folder>/<episodes>/` is written under another name, synchronised and renamed, so that
    a checkpoint exists only as a whole. Files that changed afterwards are told by their
    SHA-256: such a checkpoint is not used but the one before, and the run's owner moves it
    to `<folder>/damaged/`.

    What `tf.train.Checkpoint` takes is created before `restore`. `warn` gets one line for
    each checkpoint that is not used. `owned`: whether this process alone writes to the run.

    Example:
        >>> import tempfile, tensorflow as tf
        >>> steps = tf.Variable(3)
        >>> checkpoints = Checkpoints(tempfile.mkdtemp(), steps=steps)
        >>> checkpoints.save(episodes=7)
        >>> _ = steps.assign(0)
        >>> checkpoints.restore(), int(steps)
        (7, 3)
    """

    def __init__(self, folder, warn=None, owned=False, **objects):
        import tensorflow as tf

        self._folder = pathlib.Path(folder)
        self._warn = warn or functools.partial(print, file=sys.stderr)
        self._owned = owned
        self._checkpoint = tf.train.Checkpoint(**objects)
        self._written = []  # the objects that `_write` knows

    def save(self, episodes):
        """Saves all objects, which have seen so many finished episodes."""
        self._folder.mkdir(parents=True, exist_ok=True)
        remove_temporary(self._folder)
        folder = self._new_folder(episodes)
        with replacing_folder(folder) as temporary:
            self._write(str(temporary / "variables"))
            sums = {file.name: _checksum(file) for file in _files(temporary)}
            manifest = json.dumps({"episodes": episodes, "sha256": sums})
            write_text(temporary / _MANIFEST, manifest)
            for path in (*_files(temporary), temporary):
                sync(path)
        for old in self._saved()[:-_KEPT]:
            os.replace(old, self._folder / f".{old.name}.tmp")  # gone at once for readers
        remove_temporary(self._folder)

    @property
    def newest(self):
        """Finished episodes of the newest checkpoint on disk; None if there is none."""
        saved = self._saved()
        return order(saved[-1])[0] if saved else None

    def restore(self):
        """Restores the newest checkpoint that is whole.

        Returns the number of episodes that it was saved with; None if there is none.

        Raises:
            UserError: the checkpoint is whole, but of other objects; or the run's owner
                cannot read it now, and would lose what came after the one before.
        """
        for folder in reversed(self._saved()):
            try:
                episodes, damage = _verify(folder)
                if damage is None:
                    self._read(folder)
                    return episodes
                self._put_aside(folder, damage)
            except OSError as error:  # too many open files, a network that is away
                self._pass_over(folder, error)
        return None

    def _write(self, prefix):
        import tensorflow as tf

        # As a graph, made anew when there are other objects: each tensor outside of graphs
        # leaks some 50 bytes with TensorFlow 2.15 and Python 3.11.
        objects = tf.train.TrackableView(self._checkpoint).descendants()
        if list(map(id, objects)) != list(map(id, self._written)):
            self._written = objects
            self._graph = tf.function(self._checkpoint.write, autograph=False)
        try:
            self._graph(tf.constant(prefix))
        except tf.errors.OpError as error:
            raise _error_of_disk(error) or error from None

    def _read(self, folder):
        import tensorflow as tf

        try:
            with plain_path(folder) as plain:
                status = self._checkpoint.read(str(plain / "variables"))
                status.assert_existing_objects_matched()
        except (AssertionError, ValueError):  # other objects, other shapes
            raise UserError(
                f"{folder} was saved by another model; restore it with the version of the "
                "code that wrote it, or start a new run with another logdir"
            ) from None
        except tf.errors.OpError as error:  # the owner may just have removed it
            raise OSError(None, error.message.partition("\n")[0]) from None
        status.expect_partial()

    def _saved(self):
        return saved_checkpoints(self._folder)

    def _new_folder(self, episodes):
        same = [path for path in self._saved() if order(path)[0] == episodes]
        if not same:
            return self._folder / f"{episodes:06d}"
        return self._folder / f"{episodes:06d}-{order(same[-1])[1] + 1}"

    def _pass_over(self, folder, error):
        problem = f"checkpoint {folder} cannot be read now ({error.strerror})"
        if self._owned:
            raise UserError(f"{problem}; nothing was changed, the same command tries again")
        self._warn(f"{problem}; trying the one before")

    def _put_aside(self, folder, damage):
        if not folder.exists():  # another process has thinned them out
            return
        if not self._owned:
            self._warn(f"checkpoint {folder} is damaged ({damage}); trying the one before")
            return
        aside = self._folder / _DAMAGED / folder.name
        while aside.exists():
            aside = aside.with_name(f"{aside.name}-again")
        self._warn(f"checkpoint {folder} is damaged ({damage}); moved it to {aside}")
        aside.parent.mkdir(exist_ok=True)
        os.replace(folder, aside)


def _error_of_disk(error):
    """The `OSError` of which TensorFlow has a line: `<file>; No space left on device`."""
    numbers = {os.strerror(number): number for number in errno.errorcode}
    for line in error.message.splitlines():
        file, _, words = line.rpartition("; ")
        if file and words in numbers:
            return OSError(numbers[words], words, file)
    return None


def is_pattern(path):
    """Whether TensorFlow takes a path that it reads from for a pattern of names.

    Example:
        >>> is_pattern("runs/lr[0.1]"), is_pattern("runs/0.1")
        (True, False)
    """
    return any(sign in str(path) for sign in "*?[\\")


@contextlib.contextmanager
def plain_path(folder):
    """A path to a folder that is no pattern: its own, or a link, removed at the end."""
    folder = pathlib.Path(folder)
    if not is_pattern(folder):
        yield folder
        return
    with tempfile.TemporaryDirectory() as place:
        link = pathlib.Path(place) / "folder"
        link.symlink_to(folder.absolute(), target_is_directory=True)
        yield link


def saved_checkpoints(folder):
    """Folders of the checkpoints in a folder, oldest first, whether whole or not."""
    found = [path for path in folder.glob("*") if _NAME.fullmatch(path.name)]
    return sorted(found, key=order)


def order(folder):
    """Of a checkpoint: finished episodes, and how often those were saved before.

    Example:
        >>> order(pathlib.Path("checkpoints/000007-1"))
        (7, 1)
    """
    episodes, _, again = folder.name.partition("-")
    return int(episodes), int(again or 0)


def _verify(folder):
    """The number of episodes and None, or None and what is damaged.

    An `OSError` other than that a file is not there is raised: it tells nothing about
    what the files hold.
    """
    try:
        manifest = json.loads((folder / _MANIFEST).read_bytes())
        episodes, sums = int(manifest["episodes"]), dict(manifest["sha256"])
    except FileNotFoundError:
        return None, f"{_MANIFEST} is missing"
    except (ValueError, TypeError, KeyError):
        return None, f"{_MANIFEST} is not readable"
    for name, expected in sums.items():
        try:
            if _checksum(folder / name) != expected:
                return None, f"{name} has changed"
        except FileNotFoundError:
            return None, f"{name} is missing"
    if not sums or episodes != order(folder)[0]:
        return None, f"{_MANIFEST} has changed"
    return episodes, None


def _files(folder):
    return sorted(path for path in folder.iterdir() if path.is_file())


def _checksum(file):
    with open(file, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()

"""Paths that TensorFlow, when it reads a checkpoint, would take for patterns."""

import contextlib
import pathlib
import tempfile

_SPECIAL = "*?[\\"


def is_pattern(path):
    """Whether TensorFlow takes a path that it reads from for a pattern of names.

    Example:
        >>> is_pattern("runs/lr[0.1]"), is_pattern("runs/0.1")
        (True, False)
    """
    return any(sign in str(path) for sign in _SPECIAL)


@contextlib.contextmanager
def plain_path(folder):
    """Leads to a folder by a path that is no pattern.

    Yields:
        The `pathlib.Path`: its own, or else one through a link that is removed at the end.
    """
    folder = pathlib.Path(folder)
    if not is_pattern(folder):
        yield folder
        return
    with tempfile.TemporaryDirectory() as place:
        link = pathlib.Path(place) / "folder"
        link.symlink_to(folder.absolute(), target_is_directory=True)
        yield link

"""Files that are either whole or not there, whenever the process is killed."""

import contextlib
import csv
import errno
import io
import os
import pathlib
import re
import shutil
import tempfile

import psutil

from agents.system.errors import UserError

# What a disk answers where the program is right; else an error is ours. The last three tell
# of a file where a folder is needed, or the other way round.
_REFUSALS = ("EACCES", "EDQUOT", "EFBIG", "EIO", "ENOSPC", "EPERM", "EROFS")
_REFUSALS += ("EEXIST", "EISDIR", "ENOTDIR")
_REFUSALS = {getattr(errno, name) for name in _REFUSALS}


@contextlib.contextmanager
def replacing(file):
    """Opens a temporary file that takes the place of `file` once it is safely on disk.

    It is binary, and lies in the same folder, `.<name>.<process>.tmp`; it is flushed,
    synchronised and renamed at the end, and removed when an error leaves the block.

    Example:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "greeting"
        >>> with replacing(file) as handle:
        ...     _ = handle.write(b"hello")
        >>> file.read_text()
        'hello'
    """
    file = pathlib.Path(file)
    temporary = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(temporary, file)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno and not error.filename:
            error.filename = str(file)  # as of an error of opening it
        raise
    sync(file.parent)


def refusal(error):
    """One line that tells of a disk that is full or refuses what is written; else None.

    Example:
        >>> refusal(OSError(errno.ENOSPC, "No space left on device", "runs/1/scores.csv"))
        'No space left on device: runs/1/scores.csv'
    """
    if error.errno not in _REFUSALS:
        return None
    return f"{error.strerror}: {error.filename}" if error.filename else error.strerror


@contextlib.contextmanager
def replacing_folder(folder):
    """Makes a temporary folder, empty, that takes the place of `folder` at the end.

    As `replacing`, but for a moment between two renames there may be no `folder`.
    """
    folder = pathlib.Path(folder)
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    old = folder.with_name(f".{folder.name}.{os.getpid()}.old.tmp")
    temporary.mkdir()
    try:
        yield temporary
        if folder.exists():
            os.replace(folder, old)
        try:
            os.replace(temporary, folder)
        except OSError:
            if old.exists():
                os.replace(old, folder)
            raise
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    sync(folder.parent)


def output_folder(path):
    """The `pathlib.Path` of a folder that is there, or can be made; it is not made here.

    Raises:
        UserError: it is a file, or below one, or cannot be written to.
    """
    folder = pathlib.Path(path)
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not there.is_dir():
        raise UserError(f"cannot write to the folder {folder}: {there} is a file")
    try:
        tempfile.TemporaryDirectory(dir=there, prefix=".", suffix=".tmp").cleanup()
    except OSError as error:
        raise UserError(f"cannot write to {folder}: {error.strerror}") from None
    return folder


def sync(path):
    """Makes a file, or the names in a folder, survive a loss of power."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_temporary(folder):
    """Removes the temporary files and folders that killed processes left in `folder`.

    What bears the number of another process of this machine that lives stays.
    """
    for path in pathlib.Path(folder).glob(".*.tmp"):
        if _is_of_another(path.name):
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _is_of_another(name):
    found = re.fullmatch(r"\..+\.(\d{1,7})(\.old)?\.tmp", name)
    process = int(found[1]) if found else os.getpid()
    return process != os.getpid() and psutil.pid_exists(process)


def write_csv(file, rows):
    """Writes dicts of the same keys, at least one; the file is whole or not there."""
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(file, text.getvalue())


def write_text(file, text):
    """Writes a text; the file is whole or not there."""
    with replacing(file) as handle:
        handle.write(text.encode())

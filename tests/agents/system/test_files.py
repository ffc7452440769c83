"""Tests of agents.system.files."""

import errno
import os

import pytest

from agents.system.errors import UserError
from agents.system.files import (
    output_folder,
    refusal,
    remove_temporary,
    replacing,
    replacing_folder,
    write_text,
)
from tests.agents.disks import files_up_to

DEAD = 2**22 + 1  # above the numbers that Linux gives to processes


def test_file_is_the_old_one_until_the_block_ends(tmp_path):
    file = tmp_path / "numbers"
    file.write_text("old")
    with replacing(file) as handle:
        handle.write(b"new")
        handle.flush()
        assert file.read_text() == "old"
    assert file.read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["numbers"]


def test_error_leaves_the_old_file_and_nothing_else(tmp_path):
    file = tmp_path / "numbers"
    file.write_text("old")

    def interrupted():
        with replacing(file) as handle:
            handle.write(b"half of the n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert file.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["numbers"]


def test_a_file_that_the_disk_refuses_is_named_and_the_old_one_stays(tmp_path):
    file = tmp_path / "numbers"
    file.write_text("old")
    with pytest.raises(OSError) as caught, files_up_to(100):  # noqa: PT011  see below
        write_text(file, 200 * "a")
    assert refusal(caught.value) == f"File too large: {file}"
    assert file.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["numbers"]


def test_a_file_where_a_folder_is_needed_or_the_other_way_round_is_named(tmp_path):
    folder, file = tmp_path / "videos", tmp_path / "figures"
    folder.mkdir()
    file.touch()
    with pytest.raises(FileExistsError) as no_folder:
        file.mkdir(exist_ok=True)
    with pytest.raises(IsADirectoryError) as no_file:
        folder.read_bytes()
    assert refusal(no_folder.value) == f"File exists: {file}"
    assert refusal(no_file.value) == f"Is a directory: {folder}"


@pytest.mark.parametrize("number", [errno.ECONNRESET, errno.ENOENT, errno.EMFILE, None])
def test_other_errors_of_the_system_are_no_refusals(number):
    assert refusal(OSError(number, "words", "file")) is None


def test_folder_is_the_old_one_until_the_block_ends(tmp_path):
    folder = tmp_path / "numbers"
    for name in ("first", "second"):
        with replacing_folder(folder) as temporary:
            (temporary / name).touch()
            assert name == "first" or (folder / "first").exists()
    assert [path.name for path in folder.iterdir()] == ["second"]

    def interrupted():
        with replacing_folder(folder) as temporary:
            (temporary / "third").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [path.name for path in folder.iterdir()] == ["second"]
    assert list(tmp_path.iterdir()) == [folder]


def test_temporary_files_alone_are_removed(tmp_path):
    for name in (f".numbers.{DEAD}.tmp", ".000001.tmp", "numbers", "kept.tmp"):
        (tmp_path / name).touch()
    (tmp_path / f".policy.{DEAD}.tmp" / "variables").mkdir(parents=True)
    (tmp_path / f".policy.{DEAD}.old.tmp").mkdir()
    (tmp_path / f".policy.{os.getpid()}.tmp").mkdir()
    remove_temporary(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.tmp", "numbers"]


@pytest.mark.parametrize("answer", [None, PermissionError])
def test_what_another_process_is_writing_stays(tmp_path, monkeypatch, answer):
    def kill(process, number):
        assert (process, number) == (os.getppid(), 0)
        if answer:
            raise answer

    monkeypatch.setattr("os.kill", kill)
    names = [f".policy.{os.getppid()}{end}.tmp" for end in ("", ".old")]
    for name in names:
        (tmp_path / name).mkdir()
    remove_temporary(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)


@pytest.mark.parametrize("path", ["", "new", "new/below"])
def test_output_folder_is_one_or_can_be(tmp_path, path):
    assert output_folder(tmp_path / path) == tmp_path / path
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", ["file", "file/below"])
def test_output_folder_that_is_a_file_is_refused(tmp_path, path):
    (tmp_path / "file").touch()
    with pytest.raises(
        UserError, match=f"cannot write to the folder.*{tmp_path / 'file'} is a file"
    ):
        output_folder(tmp_path / path)


def test_output_folder_that_cannot_be_written_to_is_refused():
    with pytest.raises(UserError, match="cannot write to /proc/new: "):
        output_folder("/proc/new")

"""Tests of agents.files."""

import pytest

from agents.files import replacing, sweep


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


def test_sweep_removes_temporary_files_alone(tmp_path):
    for name in (".numbers.123.tmp", "numbers", "kept.tmp"):
        (tmp_path / name).touch()
    sweep(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.tmp", "numbers"]

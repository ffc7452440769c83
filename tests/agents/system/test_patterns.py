import os

import pytest

from agents.system.patterns import is_pattern, plain_path


@pytest.mark.parametrize("name", ["a[1]", "a*", "a?", "a\\b"])
def test_folder_is_reached_by_a_path_that_is_no_pattern(tmp_path, monkeypatch, name):
    folder = tmp_path / name
    folder.mkdir()
    (folder / "file").write_text("here")
    monkeypatch.chdir(tmp_path)
    for given in (folder, name):
        with plain_path(given) as plain:
            assert not is_pattern(plain)
            assert (plain / "file").read_text() == "here"
        assert not os.path.lexists(plain)
    assert (folder / "file").exists()


def test_other_paths_stay_as_they_are(tmp_path):
    with plain_path(tmp_path) as plain:
        assert plain == tmp_path

import errno
import json
import os
import shutil

import pytest
import tensorflow as tf

from agents.runs import checkpoints as checkpoints_module
from agents.runs.checkpoints import Checkpoints, is_pattern, plain_path
from agents.system.errors import UserError
from tests.agents.disks import files_up_to


def make(folder, value=0.0, **arguments):
    variable = tf.Variable(tf.fill([100], value))
    return Checkpoints(folder, variable=variable, **arguments), variable


def saved(folder, episodes=(1, 2, 3), **arguments):
    """Checkpoints whose variable holds the number of episodes."""
    checkpoints, variable = make(folder, **arguments)
    for each in episodes:
        variable.assign(tf.fill([100], float(each)))
        checkpoints.save(each)


def restored(folder, owned=True):
    """Episodes, value of the variable and warnings."""
    lines = []
    checkpoints, variable = make(folder, warn=lines.append, owned=owned)
    return checkpoints.restore(), variable[0].numpy(), lines


def truncate(file):
    file.write_bytes(file.read_bytes()[:-20])


def flip(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def test_nothing_to_restore_is_none(tmp_path):
    assert restored(tmp_path / "none") == (None, 0.0, [])


def test_newest_is_restored(tmp_path):
    saved(tmp_path)
    assert restored(tmp_path) == (3, 3.0, [])


def test_order_is_that_of_episodes_not_of_letters(tmp_path):
    saved(tmp_path, episodes=[999_999, 1_000_000])
    assert restored(tmp_path)[0] == 1_000_000


def test_last_ones_are_kept(tmp_path):
    saved(tmp_path, episodes=range(1, 6))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "000003",
        "000004",
        "000005",
    ]


def test_saving_the_same_episode_again_wins(tmp_path):
    saved(tmp_path, episodes=[3])
    checkpoints, variable = make(tmp_path, 3.5)
    checkpoints.save(3)
    assert restored(tmp_path) == (3, 3.5, [])


@pytest.mark.parametrize("damage", [truncate, flip, lambda file: file.unlink()])
@pytest.mark.parametrize(
    "name", ["variables.index", "variables.data-00001-of-00002", "manifest.json"]
)
def test_damaged_checkpoint_is_put_aside_and_the_one_before_is_used(tmp_path, name, damage):
    saved(tmp_path)
    damage(tmp_path / "000003" / name)
    episodes, value, (line,) = restored(tmp_path)
    assert (episodes, value) == (2, 2.0)
    assert str(tmp_path / "000003") in line
    assert name in line or name == "manifest.json"
    assert "\n" not in line
    assert (tmp_path / "damaged" / "000003").is_dir()
    assert restored(tmp_path) == (2, 2.0, [])


@pytest.mark.parametrize("changed", [{"episodes": 4}, {"sha256": {}}])
def test_a_manifest_that_tells_of_another_checkpoint_is_not_believed(tmp_path, changed):
    saved(tmp_path)
    manifest = tmp_path / "000003" / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | changed))
    episodes, value, (line,) = restored(tmp_path)
    assert (episodes, value) == (2, 2.0)
    assert "manifest.json has changed" in line


def test_what_is_added_to_a_model_between_two_saves_is_saved(tmp_path):
    module = tf.Module()
    module.first = tf.Variable(1.0)
    checkpoints = Checkpoints(tmp_path, module=module)
    checkpoints.save(1)
    module.second = tf.Variable(2.0)
    checkpoints.save(2)
    module.second.assign(3.0)
    assert checkpoints.restore() == 2
    assert module.second.numpy() == 2.0


def test_a_third_save_of_an_episode_does_not_replace_the_second(tmp_path):
    saved(tmp_path, episodes=[7, 7, 7])
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "000007",
        "000007-1",
        "000007-2",
    ]


def test_a_reader_of_a_damaged_checkpoint_uses_the_one_before_and_moves_nothing(tmp_path):
    saved(tmp_path)
    flip(tmp_path / "000003" / "variables.index")
    before = sorted(tmp_path.rglob("*"))
    episodes, value, (line,) = restored(tmp_path, owned=False)
    assert (episodes, value) == (2, 2.0)
    assert "000003 is damaged (variables.index has changed); trying the one before" in line
    assert sorted(tmp_path.rglob("*")) == before


def test_a_full_disk_is_an_error_of_the_system_and_keeps_what_was_saved(tmp_path):
    saved(tmp_path, episodes=[1])
    checkpoints, _ = make(tmp_path, 2.0)
    with pytest.raises(OSError) as caught, files_up_to(100):  # noqa: PT011  see below
        checkpoints.save(2)
    assert caught.value.errno == errno.EFBIG
    assert caught.value.filename.startswith(f"{tmp_path}/.000002.")
    assert [path.name for path in tmp_path.iterdir()] == ["000001"]
    assert restored(tmp_path) == (1, 1.0, [])


@pytest.fixture
def fail_to_open(monkeypatch):
    """Lets `open` fail for paths that hold a text, as where too many files are open."""

    def fail(text, number):
        def open_(file, *args, **kwargs):
            if text in str(file):
                raise OSError(number, os.strerror(number))
            return open(file, *args, **kwargs)

        monkeypatch.setattr(checkpoints_module, "open", open_, raising=False)

    return fail


@pytest.mark.parametrize("number", [errno.EMFILE, errno.EIO, errno.ESTALE])
def test_an_error_of_the_system_is_no_damage(tmp_path, fail_to_open, number):
    saved(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    fail_to_open("000003", number)
    episodes, value, (line,) = restored(tmp_path, owned=False)
    assert (episodes, value) == (2, 2.0)
    assert f"000003 cannot be read now ({os.strerror(number)}); trying the one" in line
    with pytest.raises(
        UserError, match="000003 cannot be read now .*; nothing was changed"
    ):
        restored(tmp_path)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_checkpoint_that_goes_while_it_is_read_is_passed_over(tmp_path, monkeypatch):
    saved(tmp_path)

    def verify(folder):
        if folder.name == "000003":
            shutil.rmtree(folder)
            return 3, None
        return verified(folder)

    verified = checkpoints_module._verify
    monkeypatch.setattr(checkpoints_module, "_verify", verify)
    episodes, value, (line,) = restored(tmp_path, owned=False)
    assert (episodes, value) == (2, 2.0)
    assert "000003 cannot be read now" in line


def test_all_damaged_is_none(tmp_path):
    saved(tmp_path)
    for episodes in (1, 2, 3):
        flip(tmp_path / f"00000{episodes}" / "variables.index")
    episodes, value, lines = restored(tmp_path)
    assert (episodes, value, len(lines)) == (None, 0.0, 3)


def test_checkpoint_that_was_being_written_does_not_count(tmp_path):
    saved(tmp_path, episodes=[1])
    (tmp_path / ".000002.tmp").mkdir()
    (tmp_path / ".000002.tmp" / "variables.index").write_bytes(b"half")
    assert restored(tmp_path) == (1, 1.0, [])
    saved(tmp_path, episodes=[2])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["000001", "000002"]


def test_checkpoint_of_another_model_is_an_error(tmp_path):
    saved(tmp_path)
    other = Checkpoints(tmp_path, another=tf.Variable(0.0))
    with pytest.raises(UserError, match="000003 was saved by another model"):
        other.restore()
    assert (tmp_path / "000003").is_dir()


def test_checkpoint_of_another_shape_is_an_error(tmp_path):
    saved(tmp_path)
    other = Checkpoints(tmp_path, variable=tf.Variable(tf.zeros([3])))
    with pytest.raises(UserError, match="000003 was saved by another model"):
        other.restore()


def test_the_newest_is_told_by_the_folders(tmp_path):
    checkpoints, _ = make(tmp_path)
    assert checkpoints.newest is None
    for episodes in (9, 10, 10):
        checkpoints.save(episodes)
        assert checkpoints.newest == episodes


@pytest.mark.parametrize("name", ["lr[0.1]", "seed*", "seed?", "back\\slash"])
def test_checkpoints_are_read_where_their_path_is_like_a_pattern(tmp_path, name):
    saved(tmp_path / "seed1", episodes=[3], value=7.0)  # which two of the patterns match
    saved(tmp_path / name)
    assert restored(tmp_path / name) == (3, 3.0, [])


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

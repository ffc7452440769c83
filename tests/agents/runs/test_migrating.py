"""Tests of agents.runs.migrating: once, whole, and by nobody else at the same time."""

import os
import pathlib
import subprocess
import sys
import textwrap

import pytest
import yaml

from agents.runs.config.resolving import resolve
from agents.runs.config.schema import as_dict
from agents.runs.folder import load_config, open_run
from agents.runs.migrating import migrate
from agents.runs.records import append_metrics
from agents.system import files
from agents.system.errors import InUseError, UserError
from agents.system.locking import lock_folder
from tests.agents.presets import FAKE, used


def resolved(config):
    return resolve(config, FAKE)


def undecided(config):
    raise AssertionError("nothing is left open")


@pytest.fixture
def config(tmp_path):
    return used("task=fake", f"logdir={tmp_path}/run")


@pytest.fixture
def earlier(config):
    """Folder of a run as the version before wrote it."""
    values = as_dict(config)
    values = {{"devices": "strategy"}.get(key, key): values[key] for key in values}
    values |= {"action_repeat": None, "compile": None}
    folder = pathlib.Path(config.logdir)
    folder.mkdir()
    (folder / "config.yaml").write_text(yaml.safe_dump(values, sort_keys=False))
    return folder


def test_a_run_of_before_gets_the_form_of_today_once(earlier, config):
    before = (earlier / "config.yaml").read_bytes()
    kept = migrate(earlier, resolved)
    assert kept == earlier / "config.earlier.yaml"
    assert kept.read_bytes() == before
    assert load_config(earlier) == config
    after = os.stat(earlier / "config.yaml").st_mtime_ns
    assert migrate(earlier, undecided) is None
    assert os.stat(earlier / "config.yaml").st_mtime_ns == after
    open_run(config).close()


def test_episodes_that_were_counted_are_as_long_as_those_of_the_run(config):
    values = as_dict(config)
    del values["updates_per_step"]
    folder = pathlib.Path(config.logdir)
    folder.mkdir()
    values |= {"updates_per_episode": 300}
    (folder / "config.yaml").write_text(yaml.safe_dump(values, sort_keys=False))
    for row in (
        {"episodes": 1, "environment_steps": 7},
        {"episodes": 4, "environment_steps": 80},
    ):
        append_metrics(folder, row)
    migrate(folder, undecided)
    assert load_config(folder).updates_per_step == 15


def test_a_run_of_today_is_left_alone(config):
    open_run(config).close()
    found = sorted(os.listdir(config.logdir))
    assert migrate(config.logdir, undecided) is None
    assert sorted(os.listdir(config.logdir)) == found


def test_what_is_set_needs_no_task(earlier):
    text = (earlier / "config.yaml").read_text().replace("null", "1", 1)
    (earlier / "config.yaml").write_text(text.replace("compile: null", "compile: true"))
    assert migrate(earlier, undecided)


def test_each_file_that_was_replaced_is_kept(earlier):
    (earlier / "config.earlier.yaml").write_text("of a version before that\n")
    assert migrate(earlier, resolved) == earlier / "config.earlier.2.yaml"
    assert (earlier / "config.earlier.yaml").read_text() == "of a version before that\n"


def test_a_run_that_a_process_trains_is_refused(earlier):
    before = (earlier / "config.yaml").read_bytes()
    with (
        lock_folder(earlier),
        pytest.raises(InUseError, match=r"process \(\d+\); migrate the run once that"),
    ):
        migrate(earlier, resolved)
    assert (earlier / "config.yaml").read_bytes() == before
    assert migrate(earlier, resolved)


def test_a_run_whose_values_no_version_knows_is_told_and_left(earlier):
    with open(earlier / "config.yaml", "a") as file:
        file.write("colour: red\n")
    before = (earlier / "config.yaml").read_bytes()
    with pytest.raises(UserError, match="config.yaml is not valid: there is no key 'col"):
        migrate(earlier, resolved)
    assert (earlier / "config.yaml").read_bytes() == before
    assert not (earlier / "config.earlier.yaml").exists()


@pytest.mark.slow
@pytest.mark.parametrize("at", range(6))
def test_killed_at_any_moment_it_leaves_the_old_or_the_new_file(earlier, config, at):
    """The process dies before the n-th of the calls that change the disk."""
    before = (earlier / "config.yaml").read_bytes()
    code = f"""
        import itertools, os, signal
        from agents.runs.config.resolving import resolve
        from agents.runs.migrating import migrate
        from tests.agents.presets import FAKE

        calls = itertools.count()

        def deadly(function):
            def call(*args):
                if next(calls) == {at}:
                    os.kill(os.getpid(), signal.SIGKILL)
                return function(*args)
            return call

        os.replace, os.fsync = deadly(os.replace), deadly(os.fsync)
        migrate({str(earlier)!r}, lambda config: resolve(config, FAKE))
    """
    root = pathlib.Path(files.__file__).parents[2]
    code = [sys.executable, "-c", textwrap.dedent(code)]
    ended = subprocess.run(code, cwd=root, check=False, stderr=subprocess.PIPE)
    assert ended.returncode == -9, ended.stderr
    if (earlier / "config.yaml").read_bytes() == before:
        assert migrate(earlier, resolved)
    assert load_config(earlier) == config
    assert (earlier / "config.earlier.yaml").read_bytes() == before
    assert migrate(earlier, undecided) is None

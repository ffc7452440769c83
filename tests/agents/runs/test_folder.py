import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import textwrap

import pytest

from agents.runs.config import overrides
from agents.runs.folder import (
    as_begun,
    check_run,
    load_config,
    open_run,
    read_config,
    runs_below,
)
from agents.runs.records import SCORE_COLUMNS, append_metrics, append_scores
from agents.system.errors import UserError
from tests.agents.presets import FAKE, used


@pytest.fixture
def config(tmp_path):
    return used("task=fake", f"logdir={tmp_path}/a/run")


def test_run_keeps_its_config(config):
    with open_run(config) as run:
        assert load_config(run.folder) == config


def test_a_config_whose_parts_were_replaced_is_checked_before_it_is_written(config):
    wrong = dataclasses.replace(config, transition="deterministic")
    with pytest.raises(UserError, match="transition=deterministic has no draws"):
        open_run(wrong)
    open_run(config).close()


def test_same_config_resumes(config):
    open_run(config).close()
    before = os.stat(f"{config.logdir}/config.yaml").st_mtime_ns
    open_run(config).close()
    assert os.stat(f"{config.logdir}/config.yaml").st_mtime_ns == before


def test_changed_values_are_refused_with_both_values(config):
    open_run(config).close()
    planner = dataclasses.replace(config.planner, horizon=8)
    changed = dataclasses.replace(config, action_repeat=4, planner=planner)
    with pytest.raises(UserError) as error:
        open_run(changed)
    assert str(error.value) == (
        f"{config.logdir} holds a run with other values (action_repeat: 1 -> 4, "
        "planner.horizon: 6 -> 8); set them back to resume it, or start a new run "
        "with another logdir"
    )
    assert load_config(config.logdir) == config


def test_no_run_is_saved_that_leaves_something_open(config):
    with pytest.raises(ValueError, match="compile must be set before a run is saved"):
        open_run(dataclasses.replace(config, compile=None))
    assert not pathlib.Path(config.logdir).exists()


def test_the_same_words_resume_a_run_whatever_is_decided_today(config):
    """A run keeps the action repeat with which it began when a table of tasks changes."""
    words = ["task=fake", f"logdir={config.logdir}"]
    later = dataclasses.replace(FAKE, action_repeat=2, episode_length=10)
    open_run(config).close()
    assert used(*words, surroundings=later) != config
    typed = overrides.load(words)
    check_run(typed)
    assert as_begun(typed) == config
    open_run(as_begun(typed)).close()
    assert load_config(config.logdir) == config


def test_what_is_typed_in_place_of_what_was_decided_is_refused(config):
    open_run(config).close()
    words = ["task=fake", f"logdir={config.logdir}", "world_model.belief_size=8"]
    with pytest.raises(UserError, match=r"\(world_model.belief_size: 64 -> 8\); set"):
        check_run(overrides.load(words))
    check_run(overrides.load([*words[:2], "world_model.belief_size=64"]))


def test_a_run_of_an_earlier_version_is_told_the_command_and_left(config):
    with open_run(config) as run:
        text = run.config_file.read_text().replace("devices: default", "strategy: default")
        run.config_file.write_text(text)
    for use in (open_run, check_run, as_begun, lambda config: read_config(config.logdir)):
        with pytest.raises(UserError) as error:
            use(config)
        assert str(error.value) == (
            f"{run.config_file} is of an earlier version; bring it to today's form: "
            f"bayes-rl migrate {config.logdir}"
        )
    assert run.config_file.read_text() == text


def test_what_of_an_earlier_version_was_cut_is_damaged(config):
    with open_run(config) as run:
        text = run.config_file.read_text().replace("devices: default", "strategy: default")
        run.config_file.write_text(text[: text.index("compute_dtype")])
    with pytest.raises(UserError, match="before compute_dtype, compile, threads and "):
        read_config(run.folder)


def test_run_may_become_longer_but_not_shorter(config):
    open_run(config).close()
    longer = dataclasses.replace(config, environment_steps=config.environment_steps + 1)
    open_run(longer).close()
    assert load_config(config.logdir) == longer
    with pytest.raises(UserError, match="environment_steps: 40001 -> 40000"):
        open_run(config)


def test_a_run_of_logged_episodes_may_not_become_longer(config):
    logged = dataclasses.replace(config, data="logs")
    open_run(logged).close()
    longer = dataclasses.replace(logged, environment_steps=logged.environment_steps + 1)
    with pytest.raises(UserError, match="environment_steps: 40000 -> 40001"):
        open_run(longer)


def test_settings_of_speed_and_of_measuring_may_change_and_are_told(config):
    with open_run(config) as run:
        assert run.changed == ()
    evaluation = dataclasses.replace(config.evaluation, every_steps=0)
    faster = {"environments": 4, "evaluation": evaluation, "compile": not config.compile}
    other = dataclasses.replace(config, **faster)
    with open_run(other) as run:
        assert run.changed == (
            "environments: 1 -> 4",
            "evaluation.every_steps: 10000 -> 0",
            f"compile: {config.compile} -> {other.compile}",
        )
    assert load_config(config.logdir) == other
    with open_run(other) as run:
        assert run.changed == ()


def test_run_may_be_moved(config, tmp_path):
    open_run(config).close()
    os.rename(config.logdir, tmp_path / "moved")
    open_run(dataclasses.replace(config, logdir=str(tmp_path / "moved"))).close()


@pytest.mark.parametrize("damage", [b"", b"\x00\xff\x00", b"task: [", b"just words"])
def test_damaged_config_is_an_error(config, damage):
    open_run(config).close()
    with open(f"{config.logdir}/config.yaml", "wb") as file:
        file.write(damage)
    for use in (open_run, lambda config: load_config(config.logdir)):
        with pytest.raises(UserError, match=r"config\.yaml is damaged"):
            use(config)


@pytest.mark.slow
def test_a_config_that_was_cut_anywhere_is_told_and_left_as_it_is(config):
    """Without its end it would be that of an earlier version: without value, say."""
    with open_run(config) as run:
        file, whole = run.config_file, run.config_file.read_bytes()
    for end in [len(whole) - 1, *(found.start() for found in re.finditer(rb"\n", whole))]:
        for cut in {whole[:end], whole[: end + 1]} - {whole}:
            file.write_bytes(cut)
            line = cut.count(b"\n") + (not cut.endswith(b"\n"))
            for use in (open_run, lambda config: read_config(config.logdir)):
                with pytest.raises(UserError, match=r"config\.yaml is damaged: ") as error:
                    use(config)
                assert f"line {line}" in str(error.value).replace("last line, ", "line ")
            assert file.read_bytes() == cut


def test_what_a_cut_config_lacks_and_what_to_do_is_told(config):
    with open_run(config) as run:
        text = run.config_file.read_text()
    run.config_file.write_text(text[: text.index("value:\n")])
    with pytest.raises(UserError) as error:
        load_config(run.folder)
    assert str(error.value) == (
        f"{run.config_file} is damaged: it ends with line 113, before value, act, latents; "
        "put a copy back, or, to begin anew, remove the folder or use another logdir"
    )
    run.config_file.write_text(text[: text.index("environment_steps")])
    with pytest.raises(
        UserError, match="before environment_steps, logdir, seed_steps and "
    ):
        load_config(run.folder)


def test_config_with_a_wrong_value_is_an_error(config):
    open_run(config).close()
    with open(f"{config.logdir}/config.yaml", "a") as file:
        file.write("batch_size: -1\n")
    with pytest.raises(
        UserError, match=r"is not valid: batch_size must be at least 1, got -1"
    ):
        load_config(config.logdir)


def test_config_that_was_cut_is_told_and_not_taken_for_other_values(config):
    with open_run(config) as run:
        whole = run.config_file.read_text()
        run.config_file.write_text(whole[: whole.index("evaluation:")])
    message = r"config\.yaml is damaged: it ends with line 51, before evaluation, video_"
    for use in (open_run, lambda config: load_config(config.logdir)):
        with pytest.raises(UserError, match=message):
            use(config)


def test_lost_config_is_an_error(config):
    with open_run(config) as run:
        (run.episodes / "ready").mkdir(parents=True)
        (run.episodes / "ready" / ".lock").touch()
        run.config_file.unlink()
    open_run(config).close()  # a run that was killed at its very start
    run.config_file.unlink()
    (run.episodes / "ready" / "one.npz").touch()
    with pytest.raises(UserError, match=r"has episodes or checkpoints, but config\.yaml"):
        open_run(config)


@pytest.mark.parametrize("kept", ["scores.csv", "metrics.jsonl"])
def test_a_run_that_is_kept_for_its_numbers_alone_is_not_begun_anew(config, kept):
    with open_run(config) as run:
        file = run.folder / kept
        if kept == "scores.csv":
            append_scores(run.folder, [dict.fromkeys(SCORE_COLUMNS, 1)])
        else:
            append_metrics(run.folder, {"episodes": 1, "environment_steps": 1000})
    before = file.read_bytes()
    with pytest.raises(UserError, match="its checkpoints and episodes are missing"):
        open_run(config)
    assert file.read_bytes() == before
    run.episodes.mkdir()
    (run.episodes / "000000.npz").touch()
    open_run(config).close()


def test_threads_may_differ_from_machine_to_machine(config):
    open_run(config).close()
    open_run(dataclasses.replace(config, threads=3)).close()
    assert load_config(config.logdir).threads == config.threads


def test_folder_that_is_no_run_is_an_error(config, tmp_path):
    with pytest.raises(UserError, match="there is no such folder"):
        load_config(tmp_path / "nowhere")
    open_run(config).close()
    with pytest.raises(UserError, match=f"has no config.yaml; .* such as {config.logdir}"):
        load_config(tmp_path)


@pytest.fixture
def make_file(tmp_path):
    """Makes a file and the folders that it lies in."""

    def make(name, text="task: fake\n"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    return make


def test_runs_below_a_folder_are_found_in_order(make_file, tmp_path):
    for name in ("b", "a/1", "a/0"):
        make_file(f"{name}/config.yaml")
    assert list(runs_below(tmp_path)) == [tmp_path / x for x in ("a/0", "a/1", "b")]
    assert list(runs_below(tmp_path / "b")) == [tmp_path / "b"]


def test_neither_hidden_folders_nor_runs_are_searched(make_file, tmp_path):
    make_file(".venv/a/config.yaml")
    make_file("run/config.yaml")
    make_file("run/copy/config.yaml")
    assert list(runs_below(tmp_path)) == [tmp_path / "run"]


def test_files_of_other_programs_are_no_runs(make_file, tmp_path):
    make_file("other/config.yaml", "name: x\nnested:\n  task: y\n")
    assert list(runs_below(tmp_path)) == []
    with pytest.raises(UserError, match=r"it has no config\.yaml$"):
        load_config(tmp_path)


def test_run_whose_config_is_damaged_is_found(make_file, tmp_path):
    make_file("run/config.yaml", "[1, 2]")
    make_file("run/metrics.jsonl", "")
    assert list(runs_below(tmp_path)) == [tmp_path / "run"]


def test_logdir_that_is_a_file_is_an_error(config, tmp_path):
    (tmp_path / "a").write_text("")
    with pytest.raises(UserError, match="cannot be a folder: .*/a is a file"):
        open_run(config)


def test_check_writes_nothing(config, tmp_path):
    check_run(config)
    assert list(tmp_path.iterdir()) == []


def test_run_in_use_is_refused(config):
    with (
        open_run(config),
        pytest.raises(UserError, match=rf"is in use by another process \({os.getpid()}\)"),
    ):
        open_run(config)
    open_run(config).close()


@pytest.mark.slow
def test_death_of_the_process_frees_the_run(config):
    code = f"""
        import os
        from agents.runs.folder import open_run
        from tests.agents.presets import used
        run = open_run(used("task=fake", "logdir={config.logdir}"))
        os.kill(os.getpid(), 9)
    """
    root = pathlib.Path(__file__).parents[3]
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], cwd=root, check=False)
    assert load_config(config.logdir) == config
    open_run(config).close()


def test_a_config_that_cannot_be_read_is_not_called_damaged(tmp_path, monkeypatch):
    (tmp_path / "config.yaml").write_text("task: fake\n")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(pathlib.Path, "read_bytes", refuse)
    with pytest.raises(UserError, match=r"cannot read .*config.yaml: Permission denied"):
        read_config(tmp_path)

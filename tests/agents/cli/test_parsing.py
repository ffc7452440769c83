"""Tests of agents.cli.parsing: what is typed, and what --help shows."""

import re

import pytest

from agents.__main__ import main
from agents.cli.parsing import parse, train_help
from agents.runs.config import choices, overrides
from agents.runs.config.overrides import all_keys
from agents.runs.config.schema import as_dict, flatten
from agents.system.errors import UserError


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (
            ["trian"],
            "there is no command 'trian'; did you mean 'train'?",
        ),
        (
            ["7"],
            "there is no command '7'; there are train, learn, evaluate, probe, calibrate, "
            "plot, compare, video, export, migrate",
        ),
        (
            ["-m", "train", "seed=0,1"],
            "options come after the command: bayes-rl train -m ...",
        ),
        (
            ["--jobs", "2", "train", "-m"],
            "options come after the command: bayes-rl train --jobs ...",
        ),
        (["--foo"], "options come after the command: bayes-rl COMMAND --foo ..."),
        (
            ["train", "--seed", "1"],
            "train has no option '--seed'; write seed=1 (see bayes-rl train --help)",
        ),
        (
            ["train", "--seed=1", "task=fake"],
            "train has no option '--seed=1'; write seed=1 (see bayes-rl train --help)",
        ),
        (
            ["train", "--batch-size", "-m"],
            "train has no option '--batch-size'; write batch_size=VALUE "
            "(see bayes-rl train --help)",
        ),
        (
            ["train", "--seed", "task=fake"],
            "train has no option '--seed'; write seed=VALUE (see bayes-rl train --help)",
        ),
        (
            ["train", "--explore.beta", "2"],
            "train has no option '--explore.beta'; write explore.beta=2 "
            "(see bayes-rl train --help)",
        ),
        (
            ["train", "--sed", "1"],
            "train has no option '--sed' (see bayes-rl train --help)",
        ),
        (
            ["train", "--mulitrun"],
            "train has no option '--mulitrun'; did you mean '--multirun'? "
            "(see bayes-rl train --help)",
        ),
        (
            ["evaluate", "run", "--seed", "1"],
            "evaluate has no option '--seed' (see bayes-rl evaluate --help)",
        ),
        (["video", "a", "b"], "video has no argument 'b' (see bayes-rl video --help)"),
    ],
)
def test_mistake_says_what_would_be_right(argv, message):
    with pytest.raises(UserError) as error:
        parse(argv)
    assert str(error.value) == message


def test_words_of_train_are_those_of_the_config():
    options = parse(["train", "seed=0,1", "-m", "--jobs", "2", "task=fake"])
    assert options.name == "train"
    assert options.overrides == ["seed=0,1", "task=fake"]
    assert (options.multirun, options.jobs, options.print_config) == (True, 2, False)


def test_calibrate_takes_a_run_and_maybe_a_twin():
    assert parse(["calibrate", "a"]).twin is None
    assert parse(["calibrate", "a", "b"]).twin == "b"


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("calibrate", "RUN [TWIN]"),
        ("probe", "Measure how well the latent encodes velocities and positions."),
        (
            "video",
            "Film an episode of the newest checkpoint, and the predictions of its model.",
        ),
    ],
)
def test_help_tells_what_the_command_does(command, text, capsys):
    with pytest.raises(SystemExit) as end:
        parse([command, "--help"])
    assert end.value.code == 0
    assert text in capsys.readouterr().out


def test_without_words_the_help_is_shown_and_the_status_is_2(capsys):
    with pytest.raises(SystemExit) as end:
        parse([])
    assert end.value.code == 2
    assert "commands:" in capsys.readouterr().out


@pytest.fixture(params=["60", "80", "200"])
def text(request, monkeypatch):
    monkeypatch.setenv("COLUMNS", request.param)
    return train_help()


@pytest.fixture
def entries(text):
    """Maps what stands in the first column to the words beside it, without line breaks."""
    lines = re.sub(r"\n {3,}", " ", text).splitlines()
    found = (re.fullmatch(r"  (\S+)(  .*)?", line) for line in lines)
    return {each[1]: " ".join((each[2] or "").split()) for each in found if each}


def test_every_key_that_only_some_choices_have_is_listed_with_its_units(entries):
    for key in all_keys():
        group, _, name = key.rpartition(".")
        if group in ("explore", "planner") and name != "kind":
            assert entries[key] == " ".join(choices.units(group, name))


def test_the_last_part_of_every_key_is_there(text):
    for key in all_keys():
        assert re.search(rf"\b{key.rpartition('.')[2]}\b", text), key


def test_every_choice_is_followed_by_its_keys(entries):
    for group, names in choices.groups().items():
        for name in names:
            own = choices.settings(group, name).items()
            expected = [choices.about(group, name), *(f"{k}={v}" for k, v in own)]
            assert entries[f"{group}={name}"] == " ".join(expected)


def test_descriptions_of_a_group_stand_below_each_other(text):
    for group in choices.groups():
        rows = re.findall(rf"^  {group}=\w+ +(?=\w)", text, re.MULTILINE)
        assert len(rows) == len(choices.groups()[group])
        assert len({len(row) for row in rows}) == 1


def test_descriptions_are_wrapped_to_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "90")
    listed = train_help().partition("configs/train.yaml:")[0].splitlines()
    assert max(map(len, listed)) <= 90


def test_help_of_train_shows_every_key_and_choice(capsys):
    main(["train", "--help"])
    output = capsys.readouterr().out
    assert all(
        key.rpartition(".")[2] in output for key in flatten(as_dict(overrides.load([])))
    )
    for group, names in choices.groups().items():
        assert all(f"{group}={name}" in output for name in names)


def test_a_change_of_the_task_is_a_name_and_a_factor(capsys):
    assert main(["evaluate", "run", "--physics", "mass=2", "gain"]) == 2
    said = capsys.readouterr().err
    assert "must be a name and a factor, such as mass=1.5, got 'gain'" in said

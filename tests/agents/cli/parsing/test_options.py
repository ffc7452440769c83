import re

import pytest

from agents.__main__ import main
from agents.cli.parsing.options import train_help
from agents.runs.config import choices, overrides
from agents.runs.config.overrides import all_keys
from agents.runs.config.schema import as_dict, flatten


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

import dataclasses

import pytest

from agents.planet.model.transitions import SOURCES
from agents.runs.config import choices, overrides
from agents.runs.config.schema import as_dict

WITH_KIND = [
    (group, name)
    for group in ("explore", "planner", "value")
    for name in choices.groups()[group]
]


@pytest.mark.parametrize(("group", "name"), WITH_KIND)
def test_settings_are_the_keys_of_the_composed_config(group, name):
    composed = getattr(overrides.load([f"{group}={name}"]), group)
    keys = {field.name for field in dataclasses.fields(composed)}
    assert choices.settings(group, name).keys() == keys


@pytest.mark.parametrize("group", ["world_model", "experiment"])
def test_choices_without_a_kind_have_no_settings_of_their_own(group):
    for name in choices.groups()[group]:
        assert choices.settings(group, name) == {}


def test_settings_are_as_they_are_written():
    assert choices.settings("explore", "pets")["trajectories"] == "each"
    assert choices.settings("planner", "cem")["common_noise"] == "false"
    assert "kind" in as_dict(overrides.load([]))["planner"]


def test_choices_that_have_a_key_are_found():
    assert choices.having("explore", "alpha") == ["conditional_value_at_risk"]
    assert choices.having("explore", "elites") == []
    assert choices.having("nothing", "elites") == []


def test_units_are_told_once_and_by_the_key_alone():
    assert choices.units("explore", "alpha") == [
        "share of the draws; only those of the lowest return count"
    ]
    assert len(choices.units("explore", "beta")) == 3  # of a bonus, a penalty, the draws
    (final,) = choices.units("explore", "final_beta")
    assert final.startswith("same unit as beta")


def test_a_file_that_says_nothing_of_itself_is_read(tmp_path, monkeypatch):
    (tmp_path / "explore").mkdir()
    (tmp_path / "explore" / "own.yaml").write_text("# @package _global_\nexplore: {}\n")
    monkeypatch.setattr(choices, "FOLDER", tmp_path)
    assert choices.about("explore", "own") == ""


def test_the_comment_of_the_transition_names_all_sources():
    (line,) = (line for line in choices.read("train") if line.startswith("transition:"))
    listed = line.partition("uncertainty: ")[2].replace(" (none)", "").split(", ")
    assert set(listed) == set(SOURCES)


def test_every_choice_says_what_it_is():
    for group, names in choices.groups().items():
        for name in names:
            about = choices.about(group, name)
            assert about[-1] == "."
            assert "@package" not in about

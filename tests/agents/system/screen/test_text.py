"""Tests of agents.system.screen.text."""

import csv
import math

from agents.system.files import write_csv
from agents.system.screen.text import decimals, folded, show


def test_rows_are_read_back(tmp_path):
    rows = [{"a": 1, "b": "x, y"}, {"a": 2, "b": ""}]
    write_csv(tmp_path / "table.csv", rows)
    with open(tmp_path / "table.csv") as file:
        found = list(csv.DictReader(file))
    assert found == [{"a": "1", "b": "x, y"}, {"a": "2", "b": ""}]


def test_numbers_stand_to_the_right_and_words_are_shown_as_they_are(capsys):
    rows = [["a [b]", 1.0, "-"], ["c", "1,234", "1.0 [0.5, 2.0]"]]
    show(["[x]", "long header", "IQM"], rows, title="The [title]")
    title, *lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert title == "The [title]"
    assert lines == [
        "[x]    long header  IQM",
        "a [b]         1.00  -",
        "c            1,234  1.0 [0.5, 2.0]",
    ]


def test_a_name_with_colons_is_no_emoji(capsys):
    show(["task"], [["python:eye:Eye"]])
    assert capsys.readouterr().out.split() == ["task", "python:eye:Eye"]


def test_lines_in_a_file_are_not_broken(capsys):
    show(["a"], [["word " * 100]])
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_what_is_not_a_number_is_a_dash():
    assert [decimals(value) for value in (0.125, math.nan, math.inf)] == ["0.12", "-", "-"]


def test_a_folded_part_is_markdown_between_lines_of_html():
    lines = folded("More", "One.", "", "Two.").split("\n\n")
    assert lines == ["<details><summary>More</summary>", "One.", "Two.", "</details>"]
    assert folded("More", "", "") == ""

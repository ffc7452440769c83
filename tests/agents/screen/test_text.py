"""Tests of agents.screen.text."""

import csv
import math

from agents.files import write_csv
from agents.screen.text import as_text


def test_rows_are_read_back(tmp_path):
    rows = [{"a": 1, "b": "x, y"}, {"a": 2, "b": ""}]
    write_csv(tmp_path / "table.csv", rows)
    with open(tmp_path / "table.csv") as file:
        found = list(csv.DictReader(file))
    assert found == [{"a": "1", "b": "x, y"}, {"a": "2", "b": ""}]


def test_columns_line_up():
    text = as_text(["name", "long header"], [["a", 1.0], ["bcdefg", "12 (3)"]])
    assert len({len(line) for line in text.splitlines()}) == 1


def test_what_is_not_a_number_is_a_dash():
    assert as_text(["a", "b"], [["x", math.nan]]).splitlines()[1].split() == ["x", "-"]

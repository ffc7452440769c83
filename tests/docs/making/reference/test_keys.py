"""Every config key and every choice has a row in the reference."""

import re

from agents.runs.config import choices, overrides
from docs.making.reference import keys


def documented(page):
    """The keys and choices that a page has a row of."""
    return set(re.findall(r"^\| `([\w.=]+)` \|", page, re.MULTILINE))


def test_no_key_is_without_a_row():
    wanted = set(overrides.all_keys()) - set(choices.groups())
    wanted = {key for key in wanted if not key.endswith(".kind")}
    assert wanted - documented(keys.page()) == set()


def test_no_choice_is_without_a_row():
    wanted = {
        f"{group}={name}" for group, all_ in choices.groups().items() for name in all_
    }
    assert wanted - documented(keys.page()) == set()


def test_row_has_value_range_and_unit():
    page = keys.page()
    assert "| `seed` | `0` | whole number, at least 0, below 2,147,483,648 |" in page
    row = next(line for line in page.splitlines() if line.startswith("| `planner.horizon`"))
    assert "`12` (cem)" in row
    assert "`6` (icem)" in row
    assert row.endswith("agent steps; how far a plan looks ahead |")


def test_no_key_is_without_a_meaning():
    rows = [
        line.split(" | ") for line in keys.page().splitlines() if line.startswith("| `")
    ]
    assert [row[0] for row in rows if row[-1].strip(" |") == ""] == []

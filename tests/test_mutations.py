"""Tests of tests.mutations; `make mutations` tries all of them, which takes minutes."""

import pytest

from tests import mutations as module
from tests.mutations import ROOT, main, mutated, mutations


@pytest.mark.parametrize("mutation", mutations(), ids=lambda each: each["is"][:50])
def test_each_mutation_can_be_made_and_its_tests_are_there(mutation):
    text = (ROOT / mutation["file"]).read_text()
    assert mutated(text, mutation) != text
    assert all((ROOT / test).exists() for test in mutation["tests"])


def test_what_is_not_there_once_is_no_mutation():
    with pytest.raises(ValueError, match="a.py: 'b' is there 2 times"):
        mutated("b b", {"file": "a.py", "was": "b", "is": "c"})


def test_a_mutation_that_takes_a_line_away_has_a_line_too(monkeypatch, capsys):
    monkeypatch.setattr(module, "_PACKAGES", ())
    monkeypatch.setattr(module, "lives", lambda mutation, copy: mutation["is"] != "")
    assert main("bayes_rl/compatibility/versions.py") == 0
    told = "killed bayes_rl/compatibility/versions.py \n1 of 1 killed\n"
    assert capsys.readouterr().out == told

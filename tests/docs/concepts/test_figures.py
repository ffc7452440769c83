"""The table of the paper's figures names what is there."""

import importlib

import pytest
import yaml

from docs.keeping import ROOT
from docs.making import pages

PLACE = ROOT / "docs" / "concepts"
FIGURES = yaml.safe_load((PLACE / "figures.yaml").read_text())


@pytest.fixture(scope="module")
def made():
    """Pages that are made of the code, by their paths."""
    return pages.made()


@pytest.mark.parametrize("figure", FIGURES, ids=lambda each: str(each["figure"]))
def test_names_and_files_of_a_figure_are_there(figure, made):
    for name in figure.get("names", []):
        module, _, last = name.rpartition(".")
        assert hasattr(importlib.import_module(module), last), name
    for file in figure["files"]:
        assert (ROOT / file).exists(), file
    title, page = figure["page"]
    assert title
    before, _, path = page.partition("../made/")
    assert (PLACE / page).exists() if before else path in made

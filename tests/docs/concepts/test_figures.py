"""The table of the paper's figures names what is there."""

import importlib

import pytest
import yaml

from docs.keeping import ROOT
from docs.making import pages

PLACE = ROOT / "docs" / "concepts"
MADE = pages.made()
FIGURES = yaml.safe_load((PLACE / "figures.yaml").read_text())


@pytest.mark.parametrize("figure", FIGURES, ids=lambda each: str(each["figure"]))
def test_names_and_files_of_a_figure_are_there(figure):
    for name in figure.get("names", []):
        module, _, last = name.rpartition(".")
        assert hasattr(importlib.import_module(module), last), name
    for file in figure["files"]:
        assert (ROOT / file).exists(), file
    title, page = figure["page"]
    assert title
    made, _, path = page.partition("../made/")
    assert (PLACE / page).exists() if made else path in MADE

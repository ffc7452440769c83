"""Pages of `agents` name what is there, every source of uncertainty among it."""

from agents.planet.model.transitions import SOURCES
from docs.making.reference import agent_names


def test_every_name_is_there_and_every_page_in_the_index():
    pages = agent_names.pages()  # a name that is gone is an error
    listed = set(pages["index.rst"].split())
    assert {file.removesuffix(".rst") for file in pages} - {"index"} <= listed


def test_every_source_has_an_entry():
    page = agent_names.pages()["transitions.rst"]
    for place in SOURCES.values():
        assert f".. autoclass:: {place.partition(':')[2]}" in page


def test_strategies_and_planners_have_entries():
    pages = agent_names.pages()
    assert ".. autoclass:: InformationGain" in pages["explore.rst"]
    assert ".. autoclass:: ImprovedCrossEntropy" in pages["planning.rst"]

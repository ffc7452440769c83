"""Pages of results have the pictures that they show."""

from docs.making import results


def test_every_picture_is_there():
    pictures = results.pictures()
    assert "suite/curves.png" in pictures
    assert [name for name, file in pictures.items() if not file.exists()] == []


def test_every_page_is_listed():
    pages = results.pages()
    listed = pages["README.md"].partition("```{toctree}")[2].split()
    assert {path.removesuffix(".md") for path in pages} - {"README"} <= set(listed)

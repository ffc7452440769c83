"""Pages of results have what they show and link."""

import pathlib
import posixpath
import re

from docs.making import results


def test_every_picture_is_there():
    files = results.files()
    assert "suite/curves.png" in files
    assert [name for name, file in files.items() if not file.exists()] == []


def test_every_page_is_listed():
    pages = results.pages()
    listed = pages["README.md"].partition("```{toctree}")[2].split()
    assert {path.removesuffix(".md") for path in pages} - {"README"} <= set(listed)


def test_a_film_of_a_page_is_reached_in_the_gallery():
    page = results.pages()["suite/README.md"]
    assert "](films/cheetah_run_0.png)](#film-cheetah_run_0)" in page
    assert not re.search(r"\]\([^)]+\.mp4\)", "".join(results.pages().values()))


def test_what_a_page_links_is_carried_over():
    for path, text in results.pages().items():
        folder = pathlib.PurePosixPath(path).parent
        for link in re.findall(r"\]\(([^)#:\s]+)\)", text):
            name = posixpath.normpath(folder / link)
            assert name in results.pages() or name in results.files(), (path, link)

"""What is broken in a site is found, and what is not is left alone."""

import pytest

from docs.links import broken


@pytest.fixture
def site(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "other.html").write_text('<h1 id="top">Other</h1>')
    (tmp_path / "picture.png").write_bytes(b"")

    def write(text):
        (tmp_path / "index.html").write_text(text)
        return broken(tmp_path)

    return write


def test_what_is_there_is_not_broken(site):
    good = '<a href="folder/other.html#top">x</a> <a href="#own" id="own">y</a>'
    outside = '<a href="https://example.org">z</a>'
    assert site(good + outside + '<img src="picture.png">') == []


def test_missing_file_anchor_and_picture_are_named(site):
    assert site('<a href="gone.html">x</a>') == ["index.html: no such file: gone.html"]
    found = site('<a href="folder/other.html#gone">x</a><img src="no.png">')
    assert found == [
        "index.html: no such anchor: folder/other.html#gone",
        "index.html: no such file: no.png",
    ]


def test_what_a_page_needs_is_inside(site):
    assert site('<script src="https://example.org/x.js"></script>') == [
        "index.html: needs a network: https://example.org/x.js"
    ]

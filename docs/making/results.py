"""Pages of what was measured: those of `results/`, with what they show and link."""

import pathlib
import posixpath
import re

RESULTS = pathlib.Path(__file__).parents[2] / "results"
_LINK = re.compile(r"\]\(([^)#:\s]+)\)")
_FILM = re.compile(r"\]\((?:[^)#:\s]*/)?([^)/]+)\.mp4\)")


def pages():
    """Dict of path -> text, in Markdown; README.md is the first of them."""
    files = sorted(RESULTS.rglob("*.md"))
    texts = {f"{file.relative_to(RESULTS)}": file.read_text() for file in files}
    texts = {path: _shown(text) for path, text in texts.items() if text.startswith("# ")}
    others = [path.removesuffix(".md") for path in texts if path != "README.md"]
    listed = "\n".join(["```{toctree}", ":hidden:", *others, "```"])
    return texts | {"README.md": f"{texts['README.md'].rstrip()}\n\n{listed}\n"}


def files():
    """Dict of path beside the pages -> file of each picture or table that a page links."""
    made, found = pages(), {}
    for path, text in made.items():
        folder = pathlib.PurePosixPath(path).parent
        for link in _LINK.findall(text):
            name = posixpath.normpath(folder / link)
            if name not in made:
                found[name] = RESULTS / name
    return found


def _shown(text):
    """Its films play in the gallery, which has the target of each."""
    return _FILM.sub(r"](#film-\1)", text)

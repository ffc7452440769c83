"""Pages of what was measured: those of `results/`, with their pictures."""

import pathlib
import re

RESULTS = pathlib.Path(__file__).parents[2] / "results"
_PICTURE = re.compile(r"!\[[^\]]*\]\(([^)]+)\)")


def pages():
    """Dict of path -> text, in Markdown; README.md is the first of them."""
    files = sorted(RESULTS.rglob("*.md"))
    texts = {f"{file.relative_to(RESULTS)}": file.read_text() for file in files}
    texts = {path: text for path, text in texts.items() if text.startswith("# ")}
    others = [path.removesuffix(".md") for path in texts if path != "README.md"]
    listed = "\n".join(["```{toctree}", ":hidden:", *others, "```"])
    return texts | {"README.md": f"{texts['README.md'].rstrip()}\n\n{listed}\n"}


def pictures():
    """Dict of path beside the pages -> file of each picture that a page shows."""
    shown = {}
    for path, text in pages().items():
        folder = pathlib.Path(path).parent
        for name in _PICTURE.findall(text):
            shown[(folder / name).as_posix()] = RESULTS / folder / name
    return shown

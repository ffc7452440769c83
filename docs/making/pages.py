"""Writes all pages that are made of the code."""

import shutil

from docs.making import gallery, results
from docs.making.reference import agent_names, columns, helps, keys, names

FILMS = "films"  # of static files: Sphinx does not follow what HTML in a page plays


def made():
    """Dict of path below `docs/made/` -> text."""
    texts = {f"api/{file}": text for file, text in names.pages().items()}
    texts |= {f"agents/{file}": text for file, text in agent_names.pages().items()}
    texts |= {f"results/{file}": text for file, text in results.pages().items()}
    return texts | {
        "columns.md": columns.page(),
        "commands.md": helps.page(),
        "gallery.md": gallery.page(),
        "keys.md": keys.page(),
    }


def write(folder):
    """Writes the pages that have changed, and takes all else out of the folder."""
    texts = made()
    for path, text in texts.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
    copies = {folder / "results" / path: file for path, file in results.files().items()}
    copies |= {folder / FILMS / name: file for name, file in gallery.films().items()}
    (folder / FILMS).mkdir(exist_ok=True)
    for file, source in copies.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, file)
    kept = {folder / path for path in texts} | set(copies)
    for file in folder.rglob("*.*"):
        if file.is_file() and file not in kept:
            file.unlink()

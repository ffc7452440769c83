"""Outputs of pages, kept in docs/outputs: what has not changed is not run again.

They belong to the code of a page and to the files that it may use. A page says in its front
matter, below `uses`, which files and folders of the repository those are. Below `runs` it
may name trained runs of logdir/start to work with.
"""

import base64
import hashlib
import io
import json
import pathlib
import re

import yaml

ROOT = pathlib.Path(__file__).parents[1]
_CELL = re.compile(r"^```\{code-cell\}.*?^```$", re.MULTILINE | re.DOTALL)


def with_code():
    """The pages that have code to run."""
    pages = sorted((ROOT / "docs").glob("*/*.md"))
    return [page for page in pages if _CELL.search(page.read_text())]


def read(page):
    """The notebook of a page, as MyST-NB reads it."""
    from myst_nb.core.read import read_myst_markdown_notebook

    return read_myst_markdown_notebook(page.read_text(), add_source_map=True, path=page)


def key(page):
    """Digits that name what outputs of a page belong to: its code, and all it may use.

    No version of Python or of a library changes them.

    Raises:
        ValueError: the page does not say what it uses, or names what is not there.
    """
    found = hashlib.sha256("\n".join(_CELL.findall(page.read_text())).encode())
    for file in used(page):
        name = file.relative_to(ROOT).as_posix()
        found.update(f"\n{name}\n".encode() + file.read_bytes())
    return found.hexdigest()[:16]


def used(page):
    """The files that a page may use, in order; bytecode aside.

    Raises:
        ValueError: as of `key`.
    """
    name, files, paths = page.relative_to(ROOT), set(), _front(page).get("uses")
    if not paths:
        raise ValueError(
            f"{name} has code: say `uses: [bayes_rl]`, or what else it may use"
        )
    for path in paths:
        place = ROOT / path
        if not place.exists():
            raise ValueError(f"{name} uses {path}, which is not there")
        inside = place.rglob("*") if place.is_dir() else [place]
        files |= {file for file in inside if file.is_file() and _counts(file)}
    return sorted(files)


def runs(page):
    """Names of the trained runs that a page works with, see `make runs`."""
    return _front(page).get("runs", [])


def _front(page):
    text = page.read_text()
    return yaml.safe_load(text.split("---\n", 2)[1]) if text.startswith("---\n") else {}


def _counts(file):
    return "__pycache__" not in file.parts and not file.name.startswith(".")


def is_kept(page):
    """Whether outputs are kept of the page as it is now."""
    file = _file(page)
    return file.exists() and json.loads(file.read_text())["key"] == key(page)


def keep(page, belongs, notebook, folder):
    """Writes the outputs of a page, those of its notebook after it ran.

    `belongs` is the `key` that it had before. Paths that outputs print are relative to the
    folder in which it ran, or to the repository.
    """
    outputs = [_tidy(cell.outputs, folder) for cell in _code(notebook)]
    file = _file(page)
    file.parent.mkdir(parents=True, exist_ok=True)
    kept = {"key": belongs, "outputs": outputs}
    file.write_text(json.dumps(kept, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def forget(pages):
    """Takes away the outputs of all but these pages."""
    for file in set(_folder().rglob("*.json")) - {_file(page) for page in pages}:
        file.unlink()


def cache():
    """Hands kept outputs to MyST-NB: the folder of a jupyter-cache, named after them."""
    from jupyter_cache import get_cache
    from jupyter_cache.base import CacheBundleIn

    files = sorted(_folder().rglob("*.json"))
    name = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
    folder = ROOT / "docs" / "_build" / "cache" / name
    for page in filter(is_kept, with_code()):
        bundle = CacheBundleIn(_with_outputs(page), str(page))
        get_cache(folder).cache_notebook_bundle(
            bundle, check_validity=False, overwrite=True
        )
    return folder


def _with_outputs(page):
    import nbformat

    notebook, kept = read(page), json.loads(_file(page).read_text())
    notebook.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}
    for cell, outputs in zip(_code(notebook), kept["outputs"], strict=True):
        cell.outputs = [nbformat.from_dict(_joined(output)) for output in outputs]
    return notebook


def _joined(output):
    return output | {"text": "".join(output["text"])} if "text" in output else output


def _code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _folder():
    return ROOT / "docs" / "outputs"


def _file(page):
    return _folder() / page.relative_to(ROOT / "docs").with_suffix(".json")


def _tidy(outputs, folder):
    """Outputs as they are shown, in few bytes, without names of places on this machine."""
    made = []
    for output in outputs:
        if output["output_type"] != "stream":
            data = output.get("data", {}).items()  # an error has none
            data = {kind: _short(kind, value, folder) for kind, value in data}
            made.append(output | {"data": data} if data else output)
        elif output["name"] == "stdout":  # no other is shown
            if not made or made[-1]["output_type"] != "stream":
                made.append(output | {"text": ""})
            made[-1]["text"] += _inside(output["text"], folder)
    for output in made:
        if output["output_type"] == "stream":  # a difference is one of lines
            output["text"] = output["text"].splitlines(keepends=True)
    return made


def _short(kind, value, folder):
    if kind == "image/png":
        return min(value, _of_few_colors(value), key=len)
    return _inside(value, folder) if isinstance(value, str) else value


def _inside(text, folder):
    return text.replace(f"{folder}/", "").replace(f"{ROOT}/", "").replace("\r\n", "\n")


def _of_few_colors(picture):
    """A picture, in base64, of 256 colors: a third of the bytes."""
    import PIL.Image

    image, made = PIL.Image.open(io.BytesIO(base64.b64decode(picture))), io.BytesIO()
    image = image.convert("RGB").quantize(256, dither=PIL.Image.Dither.NONE)
    image.save(made, "png", optimize=True)
    return base64.b64encode(made.getvalue()).decode()

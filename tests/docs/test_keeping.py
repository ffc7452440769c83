"""Outputs are kept for the code of a page and what it uses, and for nothing else."""

import ast
import base64
import io
import json
import re
import types

import grimp
import PIL.Image
import pytest

from docs import keeping

DOCS = keeping.ROOT / "docs"
OURS = "agents", "bayes_rl", "benchmarks", "configs", "docs", "envs", "examples"
COMMAND = "agents", "bayes_rl", "configs", "envs"  # what `bayes-rl` may use
CELL = re.compile(r"^```\{code-cell\}\n(?::[^\n]*\n)*(.*?)^```$", re.DOTALL | re.MULTILINE)
PAGE = """---
uses: [layers, data.csv]
---
# A page

```{code-cell}
print(1)
```
"""


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A page of a small repository."""
    monkeypatch.setattr(keeping, "ROOT", tmp_path)
    for name in ("layers/a.py", "layers/__pycache__/a.pyc", "data.csv", "requirements.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text("1")
    file = tmp_path / "docs/tutorials/page.md"
    file.parent.mkdir(parents=True)
    file.write_text(PAGE)
    return file


def run(page, outputs=()):
    """Keeps outputs of the only cell of a page."""
    cell = types.SimpleNamespace(cell_type="code", outputs=outputs)
    keeping.keep(page, keeping.key(page), types.SimpleNamespace(cells=[cell]), "/place")
    file = keeping.ROOT / "docs/outputs/tutorials/page.json"
    return json.loads(file.read_text())["outputs"][0]


def test_outputs_are_kept_while_code_and_files_are_the_same(page):
    assert not keeping.is_kept(page)
    run(page)
    assert keeping.is_kept(page)
    page.write_text(PAGE.replace("# A page", "# Other words"))
    (keeping.ROOT / "requirements.txt").write_text("2")
    (keeping.ROOT / "layers/__pycache__/a.pyc").write_text("2")
    (keeping.ROOT / "other.py").write_text("2")
    assert keeping.is_kept(page)


@pytest.mark.parametrize("changed", ["layers/a.py", "layers/new.py", "data.csv"])
def test_outputs_are_not_of_other_files(page, changed):
    run(page)
    (keeping.ROOT / changed).write_text("2")
    assert not keeping.is_kept(page)


def test_outputs_are_not_of_a_file_of_another_name(page):
    run(page)
    (keeping.ROOT / "layers/a.py").rename(keeping.ROOT / "layers/b.py")
    assert not keeping.is_kept(page)


@pytest.mark.parametrize("code", ["print(2)", "print(1)\n```\n\n```{code-cell}\nprint(3)"])
def test_outputs_are_not_of_other_code(page, code):
    run(page)
    page.write_text(PAGE.replace("print(1)", code))
    assert not keeping.is_kept(page)


def test_a_page_says_what_it_uses(page):
    page.write_text(PAGE.replace("data.csv", "gone.csv"))
    with pytest.raises(
        ValueError, match="docs/tutorials/page.md uses gone.csv, which is not"
    ):
        keeping.key(page)
    page.write_text(PAGE.replace("uses: [layers, data.csv]", "title: a"))
    with pytest.raises(ValueError, match="docs/tutorials/page.md has code: say `uses: "):
        keeping.key(page)


def test_outputs_of_a_page_that_is_gone_are_taken_away(page):
    run(page)
    keeping.forget([page])
    assert keeping.is_kept(page)
    keeping.forget([])
    assert not keeping.is_kept(page)


def stream(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


def test_what_is_kept_depends_on_no_place_and_on_no_pace(page):
    root = keeping.ROOT
    printed = [stream("a "), stream("warning", "stderr"), stream(f"/place/b {root}/c\r\nd")]
    assert run(page, printed) == [stream(["a b c\n", "d"])]


def test_an_error_that_a_page_shows_is_kept(page):
    error = {"output_type": "error", "ename": "ValueError", "evalue": "x", "traceback": []}
    assert run(page, [error]) == [error]


def test_a_picture_is_kept_in_fewer_bytes(page):
    image, written = PIL.Image.effect_noise((64, 64), 20).convert("RGBA"), io.BytesIO()
    image.save(written, "png")
    data = {"image/png": base64.b64encode(written.getvalue()).decode(), "text/plain": "x"}
    (kept,) = run(page, [{"output_type": "display_data", "data": data, "metadata": {}}])
    assert kept["data"]["text/plain"] == "x"
    small = base64.b64decode(kept["data"]["image/png"])
    assert len(small) < len(written.getvalue())
    assert PIL.Image.open(io.BytesIO(small)).size == (64, 64)


@pytest.fixture(scope="module")
def modules():
    """Which module of ours imports which."""
    return grimp.build_graph(*OURS)


def imported(cell, modules):
    """The modules of ours that a cell names."""
    lines = re.sub(r"^( *)[!%](.*\\\n)*.*", r"\1pass", cell, flags=re.MULTILINE)
    for node in ast.walk(ast.parse(lines)):
        names = [
            alias.name for alias in getattr(node, "names", ()) if hasattr(alias, "name")
        ]
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{name}" for name in names] + [node.module]
        yield from set(names) & modules.modules


def file_of(module):
    path = keeping.ROOT / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@pytest.mark.parametrize("page", keeping.with_code(), ids=lambda page: page.stem)
def test_a_page_uses_what_it_says(page, modules):
    cells = CELL.findall(page.read_text())
    named = {module for cell in cells for module in imported(cell, modules)}
    # Of `agents` alone a page needs its place, or else `agents.load`, which needs the rest.
    found = {
        module
        for name in named - {"agents"}
        for module in modules.find_upstream_modules(name)
    }
    files = {file_of(module) for module in found | named}
    if re.search(r"^ *!bayes-rl|agents.load|__main__", "".join(cells), re.MULTILINE):
        files |= {file_of(name) for name in modules.modules if name.startswith(COMMAND)}
    used = keeping.used(page)
    assert files - set(used) == set()
    for path in re.findall(r"(?:results|docs|configs)/[\w./-]+", "".join(cells)):
        below = keeping.ROOT / path
        assert any(file == below or below in file.parents for file in used), path

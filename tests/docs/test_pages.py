"""What pages of the site say without running it: files, layers, an environment, acting."""

import re
import sys
import types

import pytest

from agents.runs.config import overrides
from docs.keeping import ROOT

DOCS = ROOT / "docs"


def read(page):
    return (DOCS / page).read_text()


def cells(page):
    """The code of a page, cell by cell."""
    return re.findall(r"```\{code-cell\}\n(?::[^\n]*\n)*(.*?)```", read(page), re.DOTALL)


def test_files_to_change_are_there():
    found = re.findall(
        r"`((?:agents|bayes_rl|configs|envs)/[^`]*)`",
        read("project/where_to_change_what.md"),
    )
    assert [path for path in found if not (ROOT / path).exists()] == []
    assert len(found) > 40


def test_rooms_are_those_of_agents():
    page = read("project/where_to_change_what.md")
    table = page.partition("| room |")[2].partition("\n\n")[0]
    rooms = {file.parent.name for file in (ROOT / "agents").glob("*/__init__.py")}
    assert {path for path in re.findall(r"`agents/(\w+)/`", table)} == rooms


def test_links_of_pages_lead_to_pages():
    for page in DOCS.glob("[!m_]*/*.md"):
        for path in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            # What is made by the build, or by code of the page, is checked by the build.
            if "made/" not in path and "{" not in path:
                assert (page.parent / path).exists(), (page.name, path)


def test_own_environment_of_the_tutorial_is_one(tmp_path, monkeypatch):
    import envs

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    name, _, code = cells("tutorials/own_environment.md")[0].partition("\n")
    (tmp_path / name.removeprefix("%%writefile ")).write_text(code)
    config = overrides.load(["task=python:hover:Hover"])
    assert config.logdir == "logdir/python_hover_Hover/disagreement_if_rare/0"
    environment = envs.load(config.task, seed=1)
    assert environment.entries == {("height",): 1, ("speed",): 1}
    step, count = environment.reset(), 0
    height = step.observation["observation"][0]
    while not step.is_last():
        step, count = environment.step([1.0]), count + 1
    assert (count, float(step.discount)) == (100, 1.0)
    # speed n / 10 after n steps: height + sum of n / 100
    assert step.observation["observation"] == pytest.approx([height + 50.5, 10.0], rel=1e-5)


def test_agent_of_the_tutorial_acts_until_the_end_of_an_episode(monkeypatch):
    import agents

    given = []
    loaded = types.SimpleNamespace(reset=lambda: None, act=lambda seen: [0.5])
    monkeypatch.setattr(agents, "load", lambda *run: given.append(run) or loaded)
    names = {}
    exec(cells("tutorials/act_in_a_notebook.md")[0], names)  # noqa: S102
    assert names["step"].is_last()
    assert given == [("logdir/start/cartpole_swingup",)]


def test_layers_of_the_table_exist():
    import bayes_rl as ed

    table = read("guide/layers.md").partition("| idea | layers")[2].partition("\n\n")[0]
    rows = [row.split("|")[2:4] for row in table.splitlines()[2:]]
    assert len(rows) > 8
    for layers, places in rows:
        names = re.findall(r"`(\w+)`", layers)
        found = [name for name in names if hasattr(ed.layers, name)]
        parts = [name for name in names if name not in found]
        public = ed.layers.__all__
        assert all(any(part in name for name in public) for part in parts), parts
        for place in re.findall(r"`([^`]+)`", places):
            assert (ROOT / "bayes_rl" / "layers" / place).exists(), place


_TESTS = {  # of a column of the guide's tables: the heading of results/examples.md
    "digits": "Digits",
    "digits rotated": "Digits rotated by 15 to 45 degrees, the shift",
    "strings": "Strings",
    "longer strings": "Longer strings, the shift",
    "four tables": "Mean of the four tables",
    "four tables, outside": "Mean of the four, the shift",
    "images": "Digits of 16x16",
    "images rotated": "Digits of 16x16, rotated by 15 to 45 degrees, the shift",
}
_METHODS = {"plain": "deterministic", "Flipout": "flipout"}
_OF_IMAGES = {"deterministic": "transformer", "flipout": "bayesian transformer"}


def scores(title):
    """Dict of method -> its cell of likelihood or bits, from results/examples.md."""
    page = (ROOT / "results" / "examples.md").read_text()
    head, _, *rows = page.partition(f"**{title}**\n\n")[2].partition("\n\n")[0].split("\n")
    names = [each.strip() for each in head.split("|")]
    column = names.index("NLL, nats" if "NLL, nats" in names else "bits per dimension")
    split = [[each.strip() for each in row.split("|")] for row in rows]
    return {row[1]: row[column].partition(" ")[0] for row in split}


def test_likelihoods_of_the_guide_are_those_of_the_page_of_examples():
    guide = read("guide/layers.md").partition("Which posterior when")[2]
    tables = re.findall(r"^\| \| .*\n\| ---.*\n((?:\|.*\n)+)", guide, re.MULTILINE)
    heads = re.findall(r"^\| \| (.*) \|\n", guide, re.MULTILINE)
    told = 0
    for head, table in zip(heads, tables, strict=True):
        for row in table.splitlines():
            name, *values = [each.strip() for each in row.strip("|").split("|")]
            name = name.partition(" of ")[0]
            for title, value in zip(head.split(" | "), values, strict=True):
                method = _METHODS.get(name, name.lower())
                if title.startswith("images"):
                    method = _OF_IMAGES.get(method, method)
                if not value:
                    continue
                cell = scores(_TESTS[title])[method]
                assert value.startswith("**") == cell.startswith("**"), (title, name)
                number = value.strip("*")
                digits = len(number.partition(".")[2])
                right = float(cell.strip("*~"))
                assert abs(float(number) - right) <= 0.5 * 10**-digits + 5e-4, (title, name)
                told += 1
    assert told > 50

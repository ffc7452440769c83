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
    assert config.logdir == "logdir/python_hover_Hover/information_gain_if_rare/0"
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

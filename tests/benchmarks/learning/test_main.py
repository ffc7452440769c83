"""Tests of python -m benchmarks.learning."""

import pytest
import yaml

from benchmarks.learning.__main__ import main


def test_help_says_how_to_run_it(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert capsys.readouterr().out.startswith("usage: python -m benchmarks.learning [-h]")


def test_an_unknown_study_is_named_with_those_that_there_are(capsys):
    with pytest.raises(SystemExit):
        main(["pairty"])
    assert "no study 'pairty'; there are suite, " in capsys.readouterr().err


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """A results/ with two studies of a run each, of which none was done."""
    monkeypatch.setattr("benchmarks.learning.__main__._FOLDER", tmp_path)
    studies = {}
    for name in ("suite", "levers"):
        run = f"{tmp_path}/logdir/{name}/0"
        command = f"bayes-rl train task=fake environment_steps=4000 logdir={run}"
        studies[name] = {"runs": f"{tmp_path}/logdir/{name}", "commands": [command]}
    (tmp_path / "experiments.yaml").write_text(yaml.safe_dump(studies))
    return tmp_path


def test_runs_of_the_suite_that_are_missing_are_commands(folder, capsys):
    main(["--missing"])
    of_suite = capsys.readouterr().out
    assert of_suite.startswith("bayes-rl train ")
    assert "/logdir/suite/0" in of_suite
    main(["--missing", "suite", "levers"])
    first, second = capsys.readouterr().out.splitlines(keepends=True)
    assert first == of_suite
    assert "/logdir/levers/0" in second


def test_nothing_is_printed_of_a_study_without_missing_runs(folder, make_run, capsys):
    make_run(folder / "logdir/suite/0", 0, [[1.0]] * 4, environment_steps=4000)
    main(["--missing"])
    assert not capsys.readouterr().out


def test_pages_that_were_made_stay_where_a_later_study_has_no_runs(folder, monkeypatch):
    """A study is made in place of its folder, page and all."""
    page = folder / "levers" / "README.md"

    def make(made, study):
        if made.name == "suite":
            raise SystemExit("no finished runs")
        (made / "tables").mkdir(parents=True)
        (made / "tables" / "summary.json").write_text("{}")

    monkeypatch.setattr("benchmarks.learning.__main__.studies.make", make)
    monkeypatch.setattr("benchmarks.learning.__main__.suite_page.make", make)
    monkeypatch.setattr("benchmarks.learning.__main__.page", lambda *_: "what was found")
    monkeypatch.setattr("benchmarks.learning.__main__.readme", lambda *_: "all")
    with pytest.raises(SystemExit, match="no finished runs"):
        main(["levers", "suite"])
    assert page.read_text() == "what was found"
    assert (folder / "README.md").read_text() == "all"

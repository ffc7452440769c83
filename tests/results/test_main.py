"""Tests of python -m results."""

import pytest

from results.__main__ import main


def test_help_says_how_to_run_it(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert capsys.readouterr().out.startswith("usage: python -m results [-h]")


def test_an_unknown_study_is_named_with_those_that_there_are(capsys):
    with pytest.raises(SystemExit):
        main(["pairty"])
    assert "no study 'pairty'; there are suite, " in capsys.readouterr().err


def test_runs_of_the_suite_that_are_missing_are_commands(capsys):
    main(["--missing"])
    of_suite = capsys.readouterr().out
    main(["--missing", "suite", "levers"])
    both = capsys.readouterr().out
    assert both.startswith(of_suite)
    levers = both.removeprefix(of_suite).splitlines()
    assert levers
    assert all("logdir/results/levers/" in line for line in levers)

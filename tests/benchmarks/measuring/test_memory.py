"""Tests of benchmarks.measuring.memory."""

import pytest

from benchmarks.measuring.memory import measured_by


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The name of a module that measures; takes its lines."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def write(code):
        (tmp_path / "measuring_nothing.py").write_text(code)
        return "measuring_nothing"

    return write


def test_the_last_line_is_what_was_measured(module):
    name = module("import sys; print('a warning'); print(f'[{sys.argv[1]}, 2.5]')")
    assert measured_by(name, 7) == [7, 2.5]


def test_a_process_that_fails_is_told_with_its_words_and_what_it_said(module):
    name = module("import sys; sys.exit('no memory')")
    with pytest.raises(RuntimeError) as caught:
        measured_by(name, "big", 3)
    assert str(caught.value) == f"python -m {name} big 3 failed:\nno memory\n"

import pytest

from benchmarks.speed import optimizers


def test_a_line_shows_a_case_and_its_ratio(capsys):
    optimizers.main(["--repeats", "1", "--only", "dense"], scale=0.01)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" ms")[0].split()[-2] for line in lines] == ["Adam", "IVON"] * 2
    assert "at most 1.2" in lines[1]


def test_an_unknown_case_is_an_error():
    with pytest.raises(SystemExit, match="no case has 'x' in its name"):
        optimizers.main(["--only", "x"])

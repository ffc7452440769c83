import pytest

from benchmarks.speed import optimizers


@pytest.mark.slow
def test_all_cases_of_a_layer_are_measured(capsys):
    optimizers.main(["--repeats", "1", "--threads", "0", "--only", "dense"], scale=0.01)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" ms")[0].split()[-2] for line in lines] == ["Adam", "IVON"] * 2
    assert "at most 1.2" in lines[1]


def test_a_line_shows_a_case_and_its_ratio():
    row = {"group": "dense", "case": "IVON", "milliseconds": 2.0, "at_most": "1.2"}
    ratios = {"over_reference": 1.1, "over_reference_low": 1.0, "over_reference_high": 1.3}
    assert optimizers.line(row | ratios).split() == [
        *("dense", "IVON", "2.00", "ms", "1.10", "[1.00,", "1.30],", "at", "most", "1.2")
    ]
    assert optimizers.line(row | dict.fromkeys(ratios)).split()[-1] == "ms"


def test_an_unknown_case_is_an_error():
    with pytest.raises(SystemExit, match="no case has 'y' in its name"):
        optimizers.main(["--threads", "0", "--only", "y"])

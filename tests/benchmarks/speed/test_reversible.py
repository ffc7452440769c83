import pytest

from benchmarks.speed import reversible


def test_row_shows_the_growth_of_a_block():
    assert reversible.row([10.0, 66.0]).split() == ["10", "66", "1.00"]


@pytest.mark.slow
def test_reversible_chain_keeps_no_activations():
    """A block more costs less than a tenth of its inputs, which take 4 MiB."""
    peaks = [reversible.peak("reversible", "eager", x, reversible.BATCH) for x in (8, 40)]
    assert (peaks[1] - peaks[0]) / 32 < 0.4

"""Tests of agents.training.memory."""

import numpy as np

from agents.training.memory import release, resident_mib


def test_memory_that_is_freed_is_given_back():
    pieces = [np.ones(1000) for _ in range(20_000)]  # 153 MiB in small pieces
    held = resident_mib()
    cycle = [pieces]
    cycle.append(cycle)
    del pieces, cycle
    release(collect=True)
    assert held - resident_mib() > 100

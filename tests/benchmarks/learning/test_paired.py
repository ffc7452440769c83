"""Tests of benchmarks.learning.paired, by hand."""

import math

import pytest

from benchmarks.learning.paired import ALL_TASKS, differences

TWIN = "transition=deterministic"
SCORES = {  # task, transition, seed: score after 1,000 and 2,000 steps
    ("a", "laplace", 0): [5.0, 10.0],
    ("a", "laplace", 1): [7.0, 30.0],
    ("a", "laplace", 2): [9.0, 99.0],  # without a twin
    ("a", "deterministic", 0): [2.0, 2.0],
    ("a", "deterministic", 1): [6.0, 10.0],
    ("b", "laplace", 0): [1.0, 1.0],
    ("b", "deterministic", 0): [2.0, 5.0],
}


@pytest.fixture
def rows(make_run, tmp_path):
    runs = [
        make_run(
            tmp_path / task / transition / str(seed),
            seed,
            [[score] for score in scores],
            task=task,
            transition=transition,
            environment_steps=2000,
        )
        for (task, transition, seed), scores in SCORES.items()
    ]
    return {(row["task"], row["environment_steps"]): row for row in differences(runs, TWIN)}


def test_each_seed_is_compared_with_its_twin(rows):
    assert {row["than"] for row in rows.values()} == {TWIN}
    assert (rows["a", 2000]["seeds"], rows["a", 2000]["difference"]) == (2, 14.0)
    assert rows["a", 1000]["difference"] == 2.0
    ends = rows["a", 2000]["difference_low"], rows["a", 2000]["difference_high"]
    assert ends == (8.0, 20.0)
    assert math.isnan(rows["b", 2000]["difference_low"])


def test_each_task_counts_alike(rows):
    assert rows[ALL_TASKS, 2000]["difference"] == 0.5 * (14.0 - 4.0)
    assert rows[ALL_TASKS, 2000]["seeds"] == 1
    assert (rows[ALL_TASKS, 2000]["ahead"], rows[ALL_TASKS, 2000]["pairs"]) == (2, 3)

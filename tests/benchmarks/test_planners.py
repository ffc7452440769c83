"""Tests of benchmarks.planners."""

from benchmarks.planners import conclusion, fewest_evaluations, planners


def test_fewest_evaluations_of_those_that_reach_the_score():
    rows = [
        {"planner": "A", "evaluations": 100, "mean_return": 9.0},
        {"planner": "A", "evaluations": 10, "mean_return": 8.0},
        {"planner": "A", "evaluations": 1, "mean_return": 1.0},
        {"planner": "B", "evaluations": 2, "mean_return": 9.0},
    ]
    assert fewest_evaluations(rows, "A", 7.5) == 10
    assert fewest_evaluations(rows, "B", 9.5) is None


def test_planners_of_each_kind_get_cheaper():
    kinds = {}
    for planner in planners(horizon=12):
        kinds.setdefault(type(planner), []).append(planner.evaluations)
    assert len(kinds) == 2
    for evaluations in kinds.values():
        assert evaluations == sorted(evaluations, reverse=True)


def test_conclusion_tells_how_many_times_fewer():
    rows = [
        {"planner": "CrossEntropy", "evaluations": 1000, "mean_return": 100.0},
        {"planner": "CrossEntropy", "evaluations": 300, "mean_return": 98.0},
        {"planner": "ImprovedCrossEntropy", "evaluations": 100, "mean_return": 97.0},
        {"planner": "ImprovedCrossEntropy", "evaluations": 10, "mean_return": 50.0},
    ]
    assert conclusion(rows) == (
        "for 97, 97% of CrossEntropy's best, CrossEntropy takes 300 evaluations; "
        "ImprovedCrossEntropy takes 100 evaluations: 3.0 times fewer"
    )

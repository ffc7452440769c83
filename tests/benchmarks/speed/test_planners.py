"""Tests of benchmarks.speed.planners."""

from benchmarks.speed.planners import conclusion, fewest_evaluations, planners


def scores(planner, *found):
    """Rows of a planner: pairs of evaluations and mean return; a standard error of 1."""
    columns = ("evaluations", "mean_return")
    return [
        {"planner": planner, "standard_error": 1.0, **dict(zip(columns, each, strict=True))}
        for each in found
    ]


def test_fewest_evaluations_of_those_that_reach_the_score():
    rows = scores("A", (100, 9.0), (10, 8.0), (1, 1.0)) + scores("B", (2, 9.0))
    assert fewest_evaluations(rows, "A", 7.5) == 10
    assert fewest_evaluations(rows, "B", 9.5) is None
    assert fewest_evaluations(rows, "B", 9.5, grace=1) == 2


def test_planners_of_each_kind_get_cheaper():
    kinds = {}
    for planner in planners(horizon=12):
        kinds.setdefault(type(planner), []).append(planner.evaluations)
    assert len(kinds) == 2
    for evaluations in kinds.values():
        assert evaluations == sorted(evaluations, reverse=True)


def test_conclusion_tells_how_many_times_fewer():
    rows = scores("CrossEntropy", (1000, 100.0), (300, 98.0))
    rows += scores("ImprovedCrossEntropy", (100, 97.0), (10, 50.0))
    assert conclusion(rows) == (
        "To reach 97 (97% of CrossEntropy's best), CrossEntropy takes 300 evaluations and "
        "ImprovedCrossEntropy takes 100 evaluations, 3.0 times fewer"
    )


def test_conclusion_tells_what_a_standard_error_changes():
    rows = scores("CrossEntropy", (1000, 100.0), (300, 97.5), (200, 96.5))
    rows += scores("ImprovedCrossEntropy", (100, 97.5))
    assert conclusion(rows).endswith(
        "3.0 times fewer (2.0 times if a mean may be one standard error lower)"
    )


def test_conclusion_is_within_three_per_cent_of_a_best_score_below_zero():
    rows = scores("CrossEntropy", (1000, -100.0), (300, -102.0), (200, -110.0))
    rows += scores("ImprovedCrossEntropy", (100, -103.0), (10, -110.0))
    assert conclusion(rows) == (
        "To reach -103 (103% of CrossEntropy's best), CrossEntropy takes 300 evaluations "
        "and ImprovedCrossEntropy takes 100 evaluations, 3.0 times fewer"
    )

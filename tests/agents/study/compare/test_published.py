"""Tests of agents.study.compare.published."""

import csv

import pytest

from agents.study.compare.published import _FILE, nearest, protocol, published_scores


def test_every_row_names_its_source_and_its_seeds():
    with open(_FILE, newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 1900
    assert all(row["source"] and int(row["seeds"] or 1) > 0 for row in rows)
    assert all(int(row["environment_steps"]) > 0 for row in rows)
    assert all(0 <= float(row["mean_return"]) <= 1000 for row in rows)


def test_a_method_has_one_score_of_a_task_after_so_many_steps():
    keys = ("method", "observation", "task", "environment_steps")
    with open(_FILE, newline="") as file:
        rows = [tuple(row[key] for key in keys) for row in csv.DictReader(file)]
    assert len(set(rows)) == len(rows)


def protocols(task, observation="state"):
    """Dict of method -> (seeds, action repeat)."""
    found = published_scores({"task": task, "observation": observation})
    return {method: protocol(points) for method, points in found.groupby("method")}


def test_seeds_are_the_fewest_of_a_curve_and_unknown_where_one_does_not_state_them():
    found = protocols("walker_walk")
    assert found["DreamerV3 (run by TD-MPC2)"][0] == 2
    assert (found["MR.Q"][0], found["BMPC"][0]) == (10, None)


def test_nearest_point_is_nearest_in_proportion():
    points = published_scores({"task": "cartpole_swingup", "observation": "state"})
    dreamer = points[points["method"] == "DreamerV3"]
    found = [nearest(dreamer, steps) for steps in (15_000, 30_000, 34_000)]
    assert [point["environment_steps"].item() for point in found] == [
        20_000,
        20_000,
        50_000,
    ]
    assert nearest(dreamer, 10_000).empty
    assert nearest(dreamer, 31_000).empty
    assert nearest(dreamer, 50_000)["mean"].item() == pytest.approx(321.6)


def test_each_method_has_its_nearest_point():
    points = published_scores({"task": "cartpole_swingup", "observation": "state"})
    found = nearest(points, 50_000)
    assert len(found) > 3
    assert found["method"].is_unique


def test_action_repeat_is_told_where_all_points_have_one():
    state = protocols("cartpole_swingup")
    assert (state["DreamerV3"][1], state["D4PG"][1]) == (2, None)
    assert (state["TD-MPC (own repeats)"][1], state["BMPC"][1]) == (8, None)
    assert protocols("finger_spin")["TD-MPC (own repeats)"][1] == 2
    assert state["TD-MPC (run by TD-MPC2)"] == (3, 2)
    # 8 in its paper, 2 in that of Dreamer
    assert protocols("cartpole_swingup", "pixels")["PlaNet"][1] is None
    assert protocols("cartpole_balance", "pixels")["PlaNet"][1] == 8


@pytest.mark.parametrize(
    "config",
    [
        {"task": "cartpole_swingup", "observation": "position"},
        {"task": "gym:Pendulum-v1", "observation": "state"},
        {"task": "cartpole_swingup", "observation": "state", "action_cost": 0.1},
        {"task": "cartpole_swingup", "observation": "state", "data": "logdir/logged"},
    ],
)
def test_what_is_not_comparable_is_left_out(config):
    assert published_scores(config).empty

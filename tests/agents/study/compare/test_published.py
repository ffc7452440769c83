"""Tests of agents.study.compare.published."""

import csv

import pytest

from agents.study.compare.published import _FILE, published_scores


def test_every_row_names_its_source_and_its_seeds():
    with open(_FILE, newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 1000
    assert all(row["source"] and int(row["seeds"] or 1) > 0 for row in rows)
    assert all(int(row["environment_steps"]) > 0 for row in rows)
    assert all(0 <= float(row["mean_return"]) <= 1000 for row in rows)


def test_a_method_has_one_score_of_a_task_after_so_many_steps():
    keys = ("method", "observation", "task", "environment_steps")
    with open(_FILE, newline="") as file:
        rows = [tuple(row[key] for key in keys) for row in csv.DictReader(file)]
    assert len(set(rows)) == len(rows)


def test_seeds_are_the_fewest_of_a_curve_and_unknown_where_one_does_not_state_them():
    found = published_scores({"task": "walker_walk", "observation": "state"})
    seeds = {each.method: each.seeds for each in found}
    assert len(seeds) == len(found)  # a curve is not split where its seeds differ
    assert seeds["DreamerV3 (run by TD-MPC2)"] == 2
    assert (seeds["MR.Q"], seeds["BMPC"]) == (10, None)


def test_nearest_point_is_nearest_in_proportion():
    curves = published_scores({"task": "cartpole_swingup", "observation": "state"})
    dreamer = next(each for each in curves if each.method == "DreamerV3")
    nearest = [dreamer.nearest(steps) for steps in (15_000, 30_000, 34_000)]
    assert [point.environment_steps for point in nearest] == [20_000, 20_000, 50_000]
    assert dreamer.nearest(10_000) is None
    assert dreamer.nearest(31_000) is None
    assert dreamer.nearest(50_000).mean == pytest.approx(321.6)


def test_action_repeat_is_told_where_all_points_have_one():
    def repeats(task, observation):
        found = published_scores({"task": task, "observation": observation})
        return {each.method: each.action_repeat for each in found}

    state = repeats("cartpole_swingup", "state")
    assert (state["DreamerV3"], state["D4PG"]) == (2, None)
    assert (state["TD-MPC (own repeats)"], state["BMPC"]) == (8, None)
    assert repeats("finger_spin", "state")["TD-MPC (own repeats)"] == 2
    # 8 in its paper, 2 in that of Dreamer
    assert repeats("cartpole_swingup", "pixels")["PlaNet"] is None
    assert repeats("cartpole_balance", "pixels")["PlaNet"] == 8


@pytest.mark.parametrize(
    "config",
    [
        {"task": "cartpole_swingup", "observation": "position"},
        {"task": "gym:Pendulum-v1", "observation": "state"},
        {"task": "cartpole_swingup", "observation": "state", "action_cost": 0.1},
    ],
)
def test_what_is_not_comparable_is_left_out(config):
    assert published_scores(config) == []

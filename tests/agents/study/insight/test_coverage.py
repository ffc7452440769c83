"""Tests of agents.study.insight.coverage."""

import math

import numpy as np
import pytest

import envs
from agents.study.insight.coverage import GRIDS, Axis, Coverage, grid_of
from envs import tasks
from envs.simulations import dm_control


def test_share_counts_each_cell_once():
    coverage = Coverage(
        [Axis("position", 0, 0.0, 2.0, 2), Axis("velocity", 1, 0.0, 5.0, 5)]
    )
    episode = {
        "position": np.array([[0.5], [0.6], [1.5]]),
        "velocity": np.array([[9.0, 0.5], [9.0, 0.6], [9.0, 4.5]]),
    }
    coverage.add(episode)
    assert coverage.share == 2 / 10
    coverage.add(episode)
    assert coverage.share == 2 / 10


def test_beyond_the_limits_is_the_outermost_bin():
    axis = Axis("velocity", 0, -1.0, 1.0, 4)
    values = np.array([[-9.0], [-1.0], [0.0], [1.0], [9.0]])
    assert axis.bin_of({"velocity": values}).tolist() == [0, 0, 2, 3, 3]


def test_angles_start_again():
    axis = Axis("position", 0, -math.pi, math.pi, 4, wraps=True)
    angles = np.array([0.1, 2 * math.pi + 0.1, -2 * math.pi + 0.1, math.pi + 0.1])[:, None]
    assert axis.bin_of({"position": angles}).tolist() == [2, 2, 2, 0]


@pytest.mark.parametrize("domain", sorted(GRIDS))
def test_grids_are_of_coordinates_that_the_task_has(domain):
    task = (
        f"{domain}_{tasks.DM_CONTROL[domain][0]}" if domain in tasks.DM_CONTROL else domain
    )
    environment = envs.load(task)
    spec = environment.observation_spec()
    environment.close()
    for axis in grid_of(task):
        assert axis.index < spec[axis.kind].shape[0]


@pytest.mark.parametrize(
    "task",
    [
        task
        for task in tasks.dm_control_names()
        if task.startswith(("cheetah", "walker", "hopper", "swimmer")) and grid_of(task)
    ],
)
def test_joints_of_grids_have_the_range_of_the_model(task):
    """In the simulator's own numbering, which episodes keep."""
    physics = dm_control.import_suite().load(*task.split("_", 1)).physics
    ranges = {
        int(start): edges
        for start, edges, limited in zip(
            physics.model.jnt_qposadr,
            physics.model.jnt_range,
            physics.model.jnt_limited,
            strict=True,
        )
        if limited
    }
    joints = [axis for axis in grid_of(task) if axis.kind == "position" and not axis.wraps]
    assert joints
    for axis in joints:
        np.testing.assert_allclose([axis.low, axis.high], ranges[axis.index], atol=0.01)


def test_a_task_without_a_grid_has_none():
    assert grid_of("humanoid_walk") is None
    assert grid_of("swimmer_swimmer15") is None
    assert grid_of("ball_in_cup_catch") is GRIDS["ball_in_cup"]


def test_visits_of_a_state_are_the_rows_that_its_cell_has_had():
    coverage = Coverage([Axis("position", 0, 0.0, 3.0, 3)])
    for _ in range(2):
        coverage.add({"position": np.array([[0.1], [0.9], [2.5]])})
    rows = np.array([[2.9], [1.5], [0.5]])
    assert coverage.visits({"position": rows}).tolist() == [2, 0, 4]

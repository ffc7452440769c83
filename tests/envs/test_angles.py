"""Tests of envs.angles."""

import pytest

import envs


@pytest.mark.parametrize(
    ("task", "columns"),
    [
        ("cartpole_swingup", (1,)),
        ("pendulum_swingup", (0,)),
        ("acrobot_swingup", (0, 1)),
        ("reacher_easy", (0,)),  # the wrist has limits
        ("ball_in_cup_catch", ()),
        ("gym:Pendulum-v1", ()),
    ],
)
def test_hinges_without_limits_are_angles(task, columns):
    assert envs.wrapping_angles(task) == columns

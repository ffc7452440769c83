"""How much of a task's physics a run has visited: the share of a grid's cells.

The grid of a task is fixed, so that runs can be compared. It divides a few coordinates of
the simulator, which the agent never sees, into equal bins; what lies beyond a limit counts
for the outermost bin. A cell is visited when an episode starts or an agent step ends in it.
"""

import dataclasses
import math

import numpy as np


@dataclasses.dataclass(frozen=True)
class Axis:
    """One coordinate of a grid."""

    kind: str  # "position" or "velocity", the array of the episode
    index: int  # column of that array
    low: float  # limits, in the simulator's units
    high: float
    bins: int  # at least 1
    wraps: bool = False  # whether it is an angle that starts again at `high`

    def bin_of(self, episode):
        """The bin of each row, [T + 1]."""
        width = self.high - self.low
        share = (episode[self.kind][:, self.index].astype(np.float64) - self.low) / width
        if self.wraps:
            share = share % 1.0
        return np.clip((share * self.bins).astype(int), 0, self.bins - 1)


def _angle(index, bins):
    return Axis("position", index, -math.pi, math.pi, bins, wraps=True)


def _position(index, limit, bins):
    return Axis("position", index, -limit, limit, bins)


def _joint(index, low, high, bins):
    return Axis("position", index, low, high, bins)


def _velocity(index, limit, bins):
    return Axis("velocity", index, -limit, limit, bins)


# Limits hold what random actions and good policies reach; velocities in 1/s.
GRIDS = {
    "pendulum": (_angle(0, 20), _velocity(0, 10.0, 20)),
    "cartpole": (_position(0, 1.8, 6), _angle(1, 20), _velocity(1, 10.0, 20)),
    "acrobot": (_angle(0, 12), _angle(1, 12), _velocity(0, 10.0, 8), _velocity(1, 20.0, 8)),
    "ball_in_cup": (_position(2, 0.5, 20), _joint(3, -0.3, 0.7, 20)),
    "reacher": (_angle(0, 20), _angle(1, 20)),
    "point_mass": (_position(0, 0.3, 20), _position(1, 0.3, 20)),
    "finger": (_angle(0, 12), _angle(1, 12), _angle(2, 12)),
    # pitch of the trunk, both hips in their range, speed ahead
    "cheetah": (
        _angle(2, 12),
        _joint(3, -0.52, 1.05, 5),
        _joint(6, -0.99, 0.01, 5),
        Axis("velocity", 0, -2.0, 10.0, 6),
    ),
    "walker": (
        _angle(2, 12),
        _joint(3, -0.35, 1.75, 5),
        _joint(6, -0.35, 1.75, 5),
        Axis("velocity", 1, -2.0, 10.0, 6),
    ),
    # pitch of the trunk, hip, knee
    "hopper": (_angle(2, 12), _joint(4, -2.97, 0.17, 8), _joint(5, 0.09, 2.62, 8)),
    # heading, the two joints behind the head; with more bodies joints have less range
    "swimmer_swimmer6": (_angle(2, 12), _position(3, 1.05, 8), _position(4, 1.05, 8)),
    "fake": (Axis("position", 0, -1.0, 1.0, 10),),
}


def grid_of(task):
    """The axes of the grid of a task or its domain, or None where there is none.

    Example:
        >>> [axis.bins for axis in grid_of("pendulum_swingup")]
        [20, 20]
    """
    names = [name for name in GRIDS if task == name or task.startswith(f"{name}_")]
    return GRIDS[names[0]] if names else None


def coverage_of(task, episode=None):
    """A `Coverage` of a task without visits; None where nobody can tell what is visited.

    Logged episodes may lack what a simulator knows: give one of those that will be added.

    Example:
        >>> coverage_of("pendulum_swingup").share
        0.0
        >>> nothing = np.zeros([9, 0])
        >>> coverage_of("pendulum_swingup", {"position": nothing, "velocity": nothing})
    """
    grid = grid_of(task)
    if grid is None:
        return None
    lacks = episode and any(episode[a.kind].shape[1] <= a.index for a in grid)
    return None if lacks else Coverage(grid)


class Coverage:
    """The cells that the episodes of a run have visited, and how often.

    Example:
        >>> coverage = Coverage([Axis("position", 0, 0.0, 1.0, bins=4)])
        >>> coverage.add({"position": np.array([[0.1], [0.2], [0.9]])})
        >>> coverage.share
        0.5
    """

    def __init__(self, grid):
        self._grid = grid
        self._visits = np.zeros([axis.bins for axis in grid], int)

    def add(self, episode):
        """Counts the rows of an episode; see `agents.episodes.layout` for its layout."""
        np.add.at(self._visits, self._cells(episode), 1)

    def visits(self, episode):
        """How many rows the cell of each row of an episode has had, [T + 1]."""
        return self._visits[self._cells(episode)]

    @property
    def share(self) -> float:
        """Visited cells over all cells."""
        return float((self._visits > 0).mean())

    def _cells(self, episode):
        return tuple(axis.bin_of(episode) for axis in self._grid)

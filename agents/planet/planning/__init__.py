"""Planners, and what they imagine.

A planner is a frozen dataclass (see `Planner`) whose fields are the keys of its files in
configs/planner/. To add one: the class, a file that holds its values, a line here.
"""

from agents.planet.planning.cross_entropy import CrossEntropy
from agents.planet.planning.icem import ImprovedCrossEntropy
from agents.planet.planning.planner import Planner

PLANNERS = {
    "cem": CrossEntropy,
    "icem": ImprovedCrossEntropy,
}

__all__ = ["PLANNERS", "CrossEntropy", "ImprovedCrossEntropy", "Planner"]

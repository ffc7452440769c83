"""Figures of a comparison."""

from agents.compare.figures.curves import coverage, profiles, sample_efficiency, scores
from agents.compare.figures.dots import costs, final_scores, first_rewards, improvement

__all__ = [
    "costs",
    "coverage",
    "final_scores",
    "first_rewards",
    "improvement",
    "profiles",
    "sample_efficiency",
    "scores",
]

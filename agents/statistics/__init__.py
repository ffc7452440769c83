"""Statistics of runs whose unit is the seed: curves, summaries and intervals."""

from agents.statistics.bootstrap import interval
from agents.statistics.curves import align, sample_efficiency
from agents.statistics.improvement import probability_of_improvement
from agents.statistics.profiles import performance_profile
from agents.statistics.summaries import interquartile_mean, mean, median, spread

__all__ = [
    "align",
    "interquartile_mean",
    "interval",
    "mean",
    "median",
    "performance_profile",
    "probability_of_improvement",
    "sample_efficiency",
    "spread",
]

"""Statistics of runs whose unit is the seed: curves, summaries and intervals."""

from agents.study.statistics.bootstrap import interval
from agents.study.statistics.curves import align, sample_efficiency
from agents.study.statistics.improvement import probability_of_improvement
from agents.study.statistics.profiles import performance_profile
from agents.study.statistics.summaries import interquartile_mean, mean, median, spread

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

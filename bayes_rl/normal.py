"""The older name of `bayes_rl.families`."""

from bayes_rl.families import draw_from, mean_of, normal_parameters

__all__ = ["draw_from", "mean_of", "normal_parameters"]

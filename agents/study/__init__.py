"""What runs tell: this room reads runs, and changes nothing in how they go on.

frames       `runs` and `evaluations`: tables of pandas, a row a run or an episode
insight/     what a model knows, and whether it knows how well it knows
compare/     groups of runs, with intervals over seeds
figures/     figures and films
statistics   means, intervals and probabilities over seeds

Nothing is imported until it is used: training reads `insight` and needs no pandas.
"""

__all__ = ["evaluations", "runs"]


def __getattr__(name):
    if name in __all__:
        from agents.study import frames

        return getattr(frames, name)
    raise AttributeError(f"module 'agents.study' has no attribute {name!r}")

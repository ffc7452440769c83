"""`bayes-rl compare`: groups of runs compared with honest statistics."""

from agents.study.compare.comparing import compare

__all__ = ["compare"]

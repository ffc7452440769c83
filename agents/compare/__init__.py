"""`bayes-rl compare`: groups of runs compared with honest statistics."""

from agents.compare.comparing import compare

__all__ = ["compare"]

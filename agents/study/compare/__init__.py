"""`bayes-rl compare`: groups of runs compared with honest statistics.

What the modules hand to each other, tables of pandas unless something else is said:

frames   `agents.study.frames.Frames` of the runs that take part: `ends.taking_part`
at       environment steps at which runs are compared, or None: see `ends`
final    the last evaluations of runs before that: `scores.final_evaluations`
seeds    a row a run, with its score: `scores.seed_scores`
points   a row an evaluation of a run, with its value: `scores.seed_curves`
found    a row a run, with how it explored: `discovery.explorations`
others   dict of task -> what others published of it: `published.published_scores`
methods  dict of label -> list with the scores of each task, [seeds]: `scores.comparable`
"""

from agents.study.compare.comparing import compare

__all__ = ["compare"]

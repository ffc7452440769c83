"""Every pair of groups: how likely one beats the other."""

import dataclasses
import itertools

from agents.statistics import probability_of_improvement


@dataclasses.dataclass(frozen=True)
class Improvement:
    """P(a run of `better` scores more than one of `worse`) over all tasks."""

    better: str
    worse: str
    runs: tuple  # how many the two groups have, over all tasks
    fewest: int  # seeds of a group on a task
    probability: float
    lower: float
    upper: float


def improvements(methods):
    """The pairs of groups, each the way round in which it improves.

    Groups with a single run of a task are left out: one run beats another or does not.

    Args:
        methods: dict of label -> list with the scores of each task, [seeds].

    Returns:
        List of `Improvement`.
    """
    methods = {name: tasks for name, tasks in methods.items() if min(map(len, tasks)) > 1}
    pairs = []
    for one, two in itertools.combinations(methods, 2):
        better, worse = one, two
        result = probability_of_improvement(methods[one], methods[two])
        if result[0] < 0.5:
            better, worse = two, one
            result = probability_of_improvement(methods[two], methods[one])
        runs = tuple(sum(map(len, methods[name])) for name in (better, worse))
        fewest = min(map(len, [*methods[one], *methods[two]]))
        pairs.append(Improvement(better, worse, runs, fewest, *result))
    return pairs

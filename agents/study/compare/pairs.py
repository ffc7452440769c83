"""Every pair of groups: how likely one beats the other."""

import dataclasses
import itertools

from agents.study.statistics import probability_of_improvement


@dataclasses.dataclass(frozen=True)
class Improvement:
    """P(a run of `better` scores more than one of `worse`) over the tasks of both."""

    better: str
    worse: str
    tasks: tuple
    runs: tuple  # how many the two groups have, over those tasks
    fewest: int  # seeds of a group on a task
    probability: float
    lower: float
    upper: float


def improvements(scores):
    """The pairs of groups that share a task, each the way round in which it improves.

    A group with a single run of a task is left out there: one run beats another or not.

    Args:
        scores: dict of task -> list of `agents.study.compare.scores.Scores`.

    Returns:
        List of `Improvement`.
    """
    groups = {}  # label -> task -> [seeds]
    for task, own in scores.items():
        for each in own:
            if len(each.seeds) > 1:
                groups.setdefault(each.group.label, {})[task] = each.seeds
    pairs = []
    for one, two in itertools.combinations(groups, 2):
        tasks = tuple(task for task in groups[one] if task in groups[two])
        if tasks:
            alike = {name: [groups[name][task] for task in tasks] for name in (one, two)}
            pairs.append(_improvement(tasks, alike))
    return pairs


def _improvement(tasks, groups):
    """Of two groups, dict of label -> list with the scores of each task, [seeds]."""
    (better, ours), (worse, theirs) = groups.items()
    result = probability_of_improvement(ours, theirs)
    if result[0] < 0.5:
        better, ours, worse, theirs = worse, theirs, better, ours
        result = probability_of_improvement(ours, theirs)
    runs = tuple(sum(map(len, own)) for own in (ours, theirs))
    fewest = min(map(len, [*ours, *theirs]))
    return Improvement(better, worse, tasks, runs, fewest, *result)

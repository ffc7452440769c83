"""What a group scores more than its twin, of the same seeds, at every evaluation."""

import numpy as np

from agents.study.compare.tables import with_interval
from agents.study.frames import evaluations
from agents.study.statistics import mean
from benchmarks.learning.suite.tables import means_of_tasks

ALL_TASKS = "mean over tasks"


def differences(runs, than):
    """The paired differences of scores, seed by seed.

        difference = mean over tasks of mean over seeds of (score - score of the twin)

    A score is the mean return of an evaluation. The interval draws the seeds of each task
    anew, see `agents.study.statistics.interval`; tasks are the same in all draws. `than` is
    the group of the twins, as `agents.study.frames.evaluations` names it. For each other
    group and each number of environment steps that any of its pairs has, there is a row a
    task, and one over all tasks where there are several. `ahead` counts the pairs in which
    it scores more than its twin.
    """
    keys = ["group", "environment_steps", "task", "seed"]
    scores = evaluations(runs).groupby(keys)["return"].mean().unstack("group")
    apart = scores.drop(columns=than, errors="ignore").sub(scores.get(than, np.nan), axis=0)
    apart = apart.stack().dropna()
    rows = []
    for (group, steps), own in apart.groupby(["group", "environment_steps"]):
        pairs = {task: each.to_numpy() for task, each in own.groupby("task")}
        start = {"group": group, "than": than, "environment_steps": steps}
        rows += [start | _row(task, [each]) for task, each in pairs.items()]
        if len(pairs) > 1:
            rows.append(start | _row(ALL_TASKS, [*pairs.values()]))
    return rows


def _row(task, apart):
    """Of one task, or of several: a list of arrays [seeds]; the fewest seeds count."""

    def statistic(values):
        return mean(means_of_tasks(values, apart))

    pairs = np.concatenate(apart)
    row = {"task": task, "seeds": min(map(len, apart))}
    row |= {"pairs": len(pairs), "ahead": int(np.sum(pairs > 0))}
    return row | with_interval("difference", apart, statistic)

"""The numbers of the suite: each task, against each published method, and twins."""

import collections

import numpy as np
import pandas as pd

from agents.study import statistics
from agents.study.compare.report import FEWEST_SEEDS
from agents.study.compare.tables import with_interval
from benchmarks.learning.suite.standings import (
    EARLIER,
    METHODS,
    STEPS,
    TODAY,
    TWIN,
    published_at_end,
    shown,
)
from benchmarks.learning.summary import sources_of

_CORE = 5  # seeds of a core task


def tables(found):
    """Dict of name -> rows of a table, of standings as of `standings.standings`."""
    own = shown(found)
    done = {task: each.values for task, each in own.items()}
    most = collections.Counter()
    for (task, _), each in found.items():
        most[task] = max(most[task], each.wanted)
    core = {task: done[task] for task in done if most[task] >= _CORE}
    others = len(done) - len(core)
    kinds = {"core": core} | ({f"core and {others} more": done} if others else {})
    return {
        "scores": [_score(each) for each in found.values() if each.scores],
        "against": [
            {"tasks": name, **row}
            for name, scores in kinds.items()
            for row in _against(scores)
        ],
        "pairs": [*_pairs(found, TODAY, EARLIER), *_pairs(found, EARLIER, TWIN)],
    }


def _score(each):
    row = {"task": each.task, "transition": each.transition}
    row |= {"seeds": len(each.scores), "wanted": each.wanted, "environment_steps": STEPS}
    row |= with_interval("mean", [each.values], statistics.mean)
    row["iqm"] = float(statistics.interquartile_mean(each.values))
    row["each_seed"] = ", ".join(f"{score:.0f}" for score in each.values)
    finished = [run.folder for run in each.runs if run.config["seed"] in each.scores]
    commits = dict.fromkeys(source["commit"][:7] for source in sources_of(finished))
    row["commits"] = ", ".join(commits)
    return row | {"minutes": float(np.median(each.minutes))}


def _against(scores):
    rows = [against(scores, method) for method in METHODS]
    rows.insert(1, against(scores, "TD-MPC (own repeats)", stand_in="MR.Q"))
    return [row for row in rows if row]


def _pairs(found, ours, theirs):
    """A row for each task that two transitions have run, and one over them all."""
    pairs = {
        task: (each.values, found[task, theirs].values)
        for (task, kind), each in found.items()
        if kind == ours and each.scores and (task, theirs) in found
        if found[task, theirs].scores
    }
    rows = [_pair(task, (own,), (others,)) for task, (own, others) in pairs.items()]
    if len(pairs) > 1:
        rows.append(_pair("mean over tasks", *zip(*pairs.values(), strict=True)))
    return [{"transition": ours, "than": theirs, **row} for row in rows]


def _pair(name, ours, theirs):
    """A row of the scores of each task, tuples of [seeds]; the fewest seeds count."""
    means = [float(np.mean(list(map(statistics.mean, way)))) for way in (ours, theirs)]
    counts = [min(map(len, way)) for way in (ours, theirs)]
    row = {"task": name, "seeds": counts[0], "mean": means[0]}
    row |= {"than_seeds": counts[1], "than_mean": means[1]}
    return row | difference(ours, theirs)


def against(own, method, stand_in=None):
    """A row: how scores of tasks stand against those of a published method.

    `own` is a dict of task -> scores [seeds]; the scores of `stand_in` count where the
    method has none. Only tasks that it has count; None where there is none. `ahead` is the
    mean over tasks of our mean less theirs, `iqm` our interquartile mean over tasks.
    """
    known = {task: published_at_end(task) for task in own}
    theirs = {
        task: means.get(method, means.get(stand_in))
        for task, means in known.items()
        if means.keys() & {method, stand_in}
    }
    if not theirs:
        return None
    theirs, scores = pd.Series(theirs), [own[task] for task in theirs]
    means = pd.Series([each.mean() for each in scores], theirs.index)
    ratios, leads = means / theirs.clip(lower=1.0), means - theirs  # theirs may be 0
    greatest = leads.idxmax()
    many = [task for task in theirs.index if len(own[task]) >= FEWEST_SEEDS]
    lows = {task: statistics.interval([own[task]], statistics.mean)[0] for task in many}
    row = {
        "method": method,
        "stand_in": stand_in or "",
        "n": len(theirs),
        "runs": sum(map(len, scores)),
        "above": int((leads > 0).sum()),
        "with_interval": len(many),
        "surely": sum(lows[task] > theirs[task] for task in many),  # by whole intervals
        "least": ratios.min(),
        "least_task": ratios.idxmin(),
        "greatest_task": greatest,
        "ahead_elsewhere": leads.drop(greatest).mean(),  # of one task it is nan
        "published": float(statistics.interquartile_mean(theirs)),
    }

    # of means: tasks weigh alike whatever their seeds, and what was published are means
    def ahead(values):
        return statistics.mean(means_of_tasks(values, scores)) - theirs.mean()

    def iqm(values):
        return statistics.interquartile_mean(means_of_tasks(values, scores))

    return row | with_interval("ahead", scores, ahead) | with_interval("iqm", scores, iqm)


def difference(ours, theirs):
    """Mean over tasks of the differences of means, with its interval.

    Seeds of both are drawn anew, not in pairs: two runs of one seed share their first
    episodes and little else. Both have the scores of each task, [seeds].
    """

    def statistic(values):
        means = means_of_tasks(values, [*ours, *theirs])
        mine, others = np.split(means, [len(ours)], axis=-1)
        return statistics.mean(mine) - statistics.mean(others)

    return with_interval("difference", [*ours, *theirs], statistic)


def means_of_tasks(values, scores):
    """The mean of each task, [..., tasks], of drawn seeds of all, [..., seeds]."""
    ends = np.cumsum([len(each) for each in scores])[:-1]
    parts = np.split(values, ends, axis=-1)
    return np.stack([statistics.mean(part) for part in parts], axis=-1)

"""Tables of a comparison, and their csv files.

A table is a `pandas.DataFrame`. Columns that end in `_low` and `_high` are the 95 %
bootstrap interval of the column before them; `spread_low` and `spread_high` are percentiles
5 and 95 of all evaluation episodes of all seeds.
"""

import itertools

import numpy as np
import pandas as pd

from agents.study import statistics
from agents.study.compare.discovery import EXPLORED, FIRSTS
from agents.study.compare.published import nearest
from agents.study.compare.scores import action_repeat, curves_of, seed_scores
from agents.study.statistics import interquartile_mean, median, probability_of_improvement
from agents.system.files import write_text

_COUNTS = dict.fromkeys(["found", "found_before", "tenth_found"], "Int64")


def scores(frames, final):
    """A row for each group of each task."""
    rows = [_score(group, own, frames) for group, own in frames.by_group(final)]
    return pd.DataFrame(rows).astype({"action_repeat": "Int64"} if rows else {})


def curves(frames, points):
    """A row for each group and evaluation, as far as all its seeds have come."""
    names = ["environment_steps", "iqm", "iqm_low", "iqm_high"]
    found = []
    for group, own in frames.by_group(points):
        seeds = curves_of(own)
        curve = dict(zip(names, statistics.sample_efficiency([seeds]), strict=True))
        found.append(pd.DataFrame(_start(group, len(seeds)) | curve))
    return pd.concat(found) if found else pd.DataFrame()


def published(seeds, others):
    """A row for each published method that has a score near that number of steps."""
    ends = seeds.groupby("task", sort=False)["environment_steps"].first()
    found = [nearest(others[task], end).assign(task=task) for task, end in ends.items()]
    found = [points for points in found if len(points)]
    if not found:
        return pd.DataFrame()
    table = pd.concat(found)
    return table[["task", *table.columns.drop("task")]]


def exploration(frames, found):
    """A row for each group of each task."""
    rows = [_exploration(group, own) for group, own in frames.by_group(found)]
    return pd.DataFrame(rows).astype(_COUNTS if rows else {})


def runs(frames, seeds, found):
    """A row for each run, compared or not: what the other tables are made of."""
    table = frames.runs[["task", "group", "seed", "folder"]]
    scored = seeds.set_index("run")[["environment_steps", "score"]]
    table = table.join(scored.astype({"environment_steps": "Int64"}))
    table = table.assign(minutes=frames.runs["minutes"])
    diverged = frames.runs["ended"] == "diverged"
    if diverged.any():
        reached = frames.runs["reached"].astype("Int64")
        table = table.assign(diverged=reached.where(diverged))
    return table.join(found.set_index("run")[EXPLORED])


def write(tables, folder):
    """Writes tables that have rows as csv files: numbers with 8 digits, unknown ones empty.

    The tables are a dict by name; the folder is made if need be. Returns the files' paths.
    """
    files = []
    for name, table in tables.items():
        if len(table):
            folder.mkdir(parents=True, exist_ok=True)
            files.append(folder / f"{name}.csv")
            write_text(files[-1], table.to_csv(index=False, float_format="%.8g"))
    return files


def _start(group, seeds):
    return {"task": group.task, "group": group.label, "seeds": seeds}


def _score(group, own, frames):
    """The row of a group whose last evaluations these are."""
    seeds, episodes = seed_scores(own), own["return"]
    steps = int(own["environment_steps"].iloc[0])
    row = _start(group, len(seeds)) | {"evaluation_episodes": len(episodes)}
    row |= {"environment_steps": steps}
    row |= {"action_repeat": action_repeat(group.runs[0].config)}
    row["each_seed"] = ", ".join(
        f"{seed.score:.0f}{' (diverged)' * seed.diverged}" for seed in seeds.itertuples()
    )
    row["minutes"] = _minutes(frames.episodes, seeds["run"], steps)
    scores = seeds["score"].to_numpy()
    row |= with_interval("iqm", [scores], interquartile_mean) | {"mean": scores.mean()}
    edges = episodes.quantile([0.5, 0.05, 0.95])
    return row | dict(zip(["median", "spread_low", "spread_high"], edges, strict=True))


def _minutes(episodes, runs, steps):
    """The median time that runs took up to so many steps."""
    by_then = episodes[episodes["environment_steps"] <= steps]
    seconds = by_then["speed/seconds"].fillna(0.0).groupby(by_then["run"]).agg(list)
    return (seconds.map(sum).reindex(runs, fill_value=0.0) / 60).median()


def _exploration(group, own):
    """The row of a group of which these are the runs."""
    row = _start(group, len(own)) | {"environment_steps": own["environment_steps"].iloc[0]}
    row |= {"found": _count(own["first_reward_steps"])}
    row |= {"found_before": own["found_before"].sum(skipna=False)}
    row |= {"tenth_found": _count(own["tenth_episode"])}
    for column in EXPLORED:
        is_first = column in (*FIRSTS, "tenth_episode")  # inf: never
        statistic = median if is_first else interquartile_mean
        row |= with_interval(column, [own[column].to_numpy()], statistic)
    return row


def _count(firsts):
    """How many have found what they sought; None where that is not told."""
    return None if firsts.isna().any() else int(np.isfinite(firsts).sum())


def with_interval(name, scores, statistic):
    """Dict of `name`, `name_low` and `name_high`; see `statistics.interval`."""
    low, high = statistics.interval(scores, statistic)
    value = statistic(np.concatenate(scores))
    return {name: float(value), f"{name}_low": float(low), f"{name}_high": float(high)}


def improvement(seeds):
    """A row for each pair of groups that share a task, the way round in which it improves.

    P(a run of `group` scores more than one of `than`) over the tasks of both. A group with
    a single run of a task is left out there: one run beats another or not.
    """
    groups = {}  # label -> task -> [seeds]
    for (name, task, _), own in seeds.groupby(["group", "task", "place"], sort=False):
        if len(own) > 1:
            groups.setdefault(name, {})[task] = own["score"].to_numpy()
    pairs = []
    for one, two in itertools.combinations(groups, 2):
        tasks = [task for task in groups[one] if task in groups[two]]
        if tasks:
            alike = {name: [groups[name][task] for task in tasks] for name in (one, two)}
            pairs.append(_improvement(tasks, alike))
    return pd.DataFrame(pairs)


def _improvement(tasks, groups):
    """Of two groups, dict of label -> list with the scores of each task, [seeds]."""
    (better, ours), (worse, theirs) = groups.items()
    result = probability_of_improvement(ours, theirs)
    if result[0] < 0.5:
        better, ours, worse, theirs = worse, theirs, better, ours
        result = probability_of_improvement(ours, theirs)
    runs = [str(sum(map(len, own))) for own in (ours, theirs)]
    row = {"group": better, "than": worse, "tasks": ", ".join(tasks)}
    row |= {"runs": " and ".join(runs), "seeds": min(map(len, [*ours, *theirs]))}
    names = ["probability", "probability_low", "probability_high"]
    return row | dict(zip(names, result, strict=True))

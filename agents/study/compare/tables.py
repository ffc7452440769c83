"""Tables of a comparison, and their csv files.

A table is a list of rows, dicts of column -> number or text. Columns that end in `_low`
and `_high` are the 95 % bootstrap interval of the column before them; `spread_low` and
`spread_high` are percentiles 5 and 95 of all evaluation episodes of all seeds.
"""

import dataclasses
import itertools
import math

import numpy as np

from agents.study import statistics
from agents.study.compare.ends import reached
from agents.study.compare.scores import curve_of, seed_curves
from agents.study.statistics import interquartile_mean, probability_of_improvement
from agents.system.files import write_csv

# column -> array of `agents.study.compare.discovery.Exploration`
_EXPLORED = {
    "first_reward_episode": "episodes",
    "first_reward_steps": "steps",
    "rewarded_share": "rewarded",
    "tenth_episode": "tenth",
    "collected_return": "returns",
    "collected_cost": "cost",
    "coverage": "coverage",
    "epistemic_ratio": "ratio",
}
_FIRSTS = ("first_reward_episode", "first_reward_steps", "tenth_episode")  # inf: never


def scores(scores):
    """A row for each group of each task.

    Args:
        scores: dict of task -> list of `agents.study.compare.scores.Scores`.
    """
    return [_score(task, each) for task, own in scores.items() for each in own]


def curves(groups):
    """A row for each group and evaluation, as far as all its seeds have come.

    Args:
        groups: list of `agents.runs.grouping.Group`.
    """
    return [
        {
            "task": group.task,
            "group": group.label,
            "seeds": len(own),
            "environment_steps": int(steps),
            "iqm": float(iqm),
            "iqm_low": float(low),
            "iqm_high": float(high),
        }
        for group in groups
        if (own := seed_curves(group))
        for steps, iqm, low, high in zip(*curve_of(own), strict=True)
    ]


def published(scores, others):
    """A row for each published method that has a score near that number of steps.

    Args:
        scores: dict of task -> list of `agents.study.compare.scores.Scores`.
        others: dict of task -> list of `agents.study.compare.published.Published`.
    """
    rows = []
    for task, methods in others.items():
        for each in methods if scores[task] else []:
            point = each.nearest(scores[task][0].steps)
            if point is None:
                continue
            rows.append({"task": task, "method": each.method} | vars(point))
    return rows


def exploration(found):
    """A row for each group of each task.

    Args:
        found: dict of task -> list of `agents.study.compare.discovery.Exploration`.
    """
    return [_exploration(task, each) for task, own in found.items() for each in own]


def improvement(pairs):
    """A row for each `agents.study.compare.tables.Improvement`."""
    return [
        {
            "group": pair.better,
            "than": pair.worse,
            "tasks": ", ".join(pair.tasks),
            "runs": " and ".join(map(str, pair.runs)),
            "seeds": pair.fewest,
            "probability": pair.probability,
            "probability_low": pair.lower,
            "probability_high": pair.upper,
        }
        for pair in pairs
    ]


def runs(groups, scores, found):
    """A row for each run: what the other tables are made of."""
    score = {
        run.folder: (each.steps, value)
        for own in scores.values()
        for each in own
        for run, value in zip(each.runs, each.seeds, strict=True)
    }
    explored = {
        run.folder: {
            column: float(getattr(each, name)[index]) for column, name in _EXPLORED.items()
        }
        for own in found.values()
        for each in own
        for index, run in enumerate(each.group.runs)
    }
    unknown = dict.fromkeys(_EXPLORED, math.nan)
    diverged = any(run.diverged for group in groups for run in group.runs)
    rows = []
    for group in groups:
        for run in group.runs:
            steps, value = score.get(run.folder, (math.nan, math.nan))
            row = {
                "task": group.task,
                "group": group.label,
                "seed": run.config.get("seed", ""),
                "folder": str(run.folder),
                "environment_steps": steps,
                "score": value,
                "minutes": minutes(run),
            }
            if diverged:
                row["diverged"] = reached(run) if run.diverged else None
            rows.append(row | explored.get(run.folder, unknown))
    return rows


def minutes(run, steps=math.inf):
    """How long a run took, all its sessions together, start-up aside.

    Args:
        run: `agents.runs.history.History`.
        steps: environment steps up to which that counts.
    """
    rows = (row for row in run.metrics if row["environment_steps"] <= steps)
    return sum(row.get("speed/seconds", 0.0) for row in rows) / 60


def write(tables, folder):
    """Writes tables that have rows as csv files.

    Args:
        tables: dict of name -> rows.
        folder: `pathlib.Path`, made if need be.

    Returns:
        The paths of the files.
    """
    files = []
    for name, rows in tables.items():
        if rows:
            folder.mkdir(parents=True, exist_ok=True)
            files.append(folder / f"{name}.csv")
            cells = [{key: _cell(value) for key, value in row.items()} for row in rows]
            write_csv(files[-1], cells)
    return files


def _score(task, each):
    seeds, episodes = each.seeds, each.episodes
    median, low, high = (float(edge) for (edge,) in statistics.spread(episodes[np.newaxis]))
    row = {
        "task": task,
        "group": each.group.label,
        "seeds": len(seeds),
        "evaluation_episodes": len(episodes),
        "environment_steps": each.steps,
        "action_repeat": each.action_repeat,
    }
    row["each_seed"] = ", ".join(
        f"{score:.0f}{' (diverged)' * (run in each.diverged)}"
        for run, score in zip(each.runs, seeds, strict=True)
    )
    row["minutes"] = float(np.median([minutes(run, each.steps) for run in each.runs]))
    row |= with_interval("iqm", [seeds], interquartile_mean)
    spread = {"median": median, "spread_low": low, "spread_high": high}
    return row | {"mean": float(seeds.mean())} | spread


def _exploration(task, each):
    row = {"task": task, "group": each.group.label, "seeds": len(each.steps)}
    row |= {"environment_steps": int(each.seen.max()), "found": None, "found_before": None}
    row["tenth_found"] = None
    if not np.isnan(each.tenth).any():
        row["tenth_found"] = int(np.isfinite(each.tenth).sum())
    if each.is_rare:
        row |= {"found": each.found, "found_before": int(each.before.sum())}
    for column, name in _EXPLORED.items():
        statistic = statistics.median if column in _FIRSTS else interquartile_mean
        row |= with_interval(column, [getattr(each, name)], statistic)
    return row


def with_interval(name, scores, statistic):
    """Dict of `name`, `name_low` and `name_high`; see `statistics.interval`."""
    low, high = statistics.interval(scores, statistic)
    value = statistic(np.concatenate(scores))
    return {name: float(value), f"{name}_low": float(low), f"{name}_high": float(high)}


def _cell(value):
    """Numbers of csv files: 8 digits, unknown ones empty."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.8g}" if isinstance(value, float) else value


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

"""Tables of a comparison, and their csv files.

A table is a list of rows, dicts of column -> number or text. Columns that end in `_low`
and `_high` are the 95 % bootstrap interval of the column before them; `spread_low` and
`spread_high` are percentiles 5 and 95 of all evaluation episodes of all seeds.
"""

import csv
import io
import math

import numpy as np

from agents import statistics
from agents.files import replacing
from agents.statistics import interquartile_mean


def scores(scores):
    """A row for each group of each task.

    Args:
        scores: dict of task -> list of `agents.compare.scores.Scores`.
    """
    return [_score(task, each) for task, own in scores.items() for each in own]


def published(scores, others):
    """A row for each published method: its score at the nearest number of steps.

    Args:
        scores: dict of task -> list of `agents.compare.scores.Scores`.
        others: dict of task -> list of `agents.compare.published.Published`.
    """
    rows = []
    for task, methods in others.items():
        for each in methods if scores[task] else []:
            point = each.nearest(scores[task][0].steps)
            rows.append({"task": task, "method": each.method, "seeds": each.seeds})
            rows[-1] |= vars(point)
    return rows


def exploration(found):
    """A row for each group of each task.

    Args:
        found: dict of task -> list of `agents.compare.discovery.Exploration`.
    """
    return [_exploration(task, each) for task, own in found.items() for each in own]


def improvement(pairs):
    """A row for each `agents.compare.improvement.Improvement`."""
    return [
        {
            "group": pair.better,
            "than": pair.worse,
            "seeds": " and ".join(map(str, pair.seeds)),
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
        run.folder: [
            values[index]
            for values in (each.episodes, each.steps, each.coverage, each.ratio)
        ]
        for own in found.values()
        for each in own
        for index, run in enumerate(each.group.runs)
    }
    rows = []
    for group in groups:
        for run in group.runs:
            steps, value = score.get(run.folder, (math.nan, math.nan))
            episode, reward_steps, coverage, ratio = map(
                float, explored.get(run.folder, [math.nan] * 4)
            )
            rows.append(
                {
                    "task": group.task,
                    "group": group.label,
                    "seed": run.config.get("seed", ""),
                    "folder": str(run.folder),
                    "environment_steps": steps,
                    "score": value,
                    "first_reward_episode": episode,
                    "first_reward_steps": reward_steps,
                    "coverage": coverage,
                    "epistemic_ratio": ratio,
                }
            )
    return rows


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
        if not rows:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        text = io.StringIO()
        writer = csv.DictWriter(text, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)
        files.append(folder / f"{name}.csv")
        with replacing(files[-1]) as file:
            file.write(text.getvalue().encode())
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
    }
    row |= _with_interval("iqm", seeds, interquartile_mean)
    spread = {"median": median, "spread_low": low, "spread_high": high}
    return row | {"mean": float(seeds.mean())} | spread


def _exploration(task, each):
    row = {"task": task, "group": each.group.label, "seeds": len(each.steps)}
    row |= {"found": each.found, "environment_steps": int(each.seen.max())}
    for name, values in (("episode", each.episodes), ("steps", each.steps)):
        row |= _with_interval(f"first_reward_{name}", values, statistics.median)
    row |= _with_interval("coverage", each.coverage, interquartile_mean)
    return row | _with_interval("epistemic_ratio", each.ratio, interquartile_mean)


def _with_interval(name, values, statistic):
    lower, upper = statistics.interval([values], statistic)
    return {
        name: float(statistic(values)),
        f"{name}_low": float(lower),
        f"{name}_high": float(upper),
    }


def _cell(value):
    """Numbers of csv files: 8 digits, unknown ones empty."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.8g}" if isinstance(value, float) else value

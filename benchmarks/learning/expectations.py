"""What agents that learned from logs expected, beside what came."""

import csv
import io

import numpy as np

from agents.runs.grouping import arrange
from agents.runs.history import load
from agents.study import statistics

EXPECTATIONS = "expectations.csv"
_VALUES = ("expected", "returned")


def expectations(runs):
    """Rows of the last evaluations of runs that learned from logs, as text of a csv file.

    Of each task and group the mean over seeds of

        score     return of evaluations
        expected  value that critics gave their first states
        returned  discounted return that came of them

    with 95 % bootstrap intervals over seeds.

    Args:
        runs: `pathlib.Path` of folders of runs.

    Returns:
        The text; empty where none of them learned from logs.
    """
    loaded = [load(run) for run in runs]
    groups = arrange([run for run in loaded if run.config.get("data")])
    rows = [_row(group) for group in groups]
    if not rows:
        return ""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _end(run):
    """Dict of the numbers of the last evaluation of a run; fewer where it has no value."""
    values = [row for row in run.metrics if "value/expected" in row][-1:]
    score = {"score": float(np.nanmean(run.score_curve()[1][-1]))}
    return score | {name: row[f"value/{name}"] for row in values for name in _VALUES}


def _row(group):
    ends = [_end(run) for run in group.runs]
    row = {"task": group.task, "group": group.label, "seeds": len(ends)}
    for name in ("score", *_VALUES):
        row |= _mean(name, [end[name] for end in ends if name in end])
    return row


def _mean(name, values):
    """The mean and its interval; nothing where there are no values."""
    found = dict.fromkeys((name, f"{name}_low", f"{name}_high"), "")
    if values:
        found[name] = f"{np.mean(values):.8g}"
    if len(values) > 1:
        ends = statistics.interval([np.array(values)], statistics.mean)
        found |= dict(zip([*found][1:], (f"{end:.8g}" for end in ends), strict=True))
    return found

"""What agents that learned from logs expected, beside what came; and seeds in pairs."""

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

    Of each group the mean over seeds of

        score       return of evaluations
        expected    value that critics gave their first states
        returned    discounted return that came of them
        difference  score minus that of the deterministic group, seed by seed

    with 95 % bootstrap intervals over seeds.

    Args:
        runs: `pathlib.Path` of folders of runs.

    Returns:
        The text; empty where none of them learned from logs.
    """
    loaded = [load(run) for run in runs]
    groups = arrange([run for run in loaded if run.config.get("data")])
    ends = [{run.config["seed"]: _end(run) for run in group.runs} for group in groups]
    twins = [
        own
        for group, own in zip(groups, ends, strict=True)
        if group.runs[0].config["transition"] == "deterministic"
    ]
    rows = [
        _row(group, own, twins[0] if len(twins) == 1 else {})
        for group, own in zip(groups, ends, strict=True)
    ]
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


def _row(group, ends, twins):
    row = {"task": group.task, "group": group.label, "seeds": len(ends)}
    for name in ("score", *_VALUES):
        row |= _mean(name, [end[name] for end in ends.values() if name in end])
    paired = [ends[seed]["score"] - twins[seed]["score"] for seed in ends if seed in twins]
    is_twin = ends is twins
    row |= _mean("difference", [] if is_twin else paired)
    return row | {"pairs": 0 if is_twin else len(paired)}


def _mean(name, values):
    """The mean and its interval; nothing where there are no values."""
    found = dict.fromkeys((name, f"{name}_low", f"{name}_high"), "")
    if values:
        found[name] = f"{np.mean(values):.8g}"
    if len(values) > 1:
        ends = statistics.interval([np.array(values)], statistics.mean)
        found |= dict(zip([*found][1:], (f"{end:.8g}" for end in ends), strict=True))
    return found

"""What `bayes-rl probe` and `bayes-rl calibrate` left in the folders of runs, over seeds.

Each number is the median over seeds, beside the lowest and the highest of them.
"""

import csv

import numpy as np

_PROBED = ("environment_steps", "episodes", "actions", "target", "input", "probe")
_FORECAST = ("episodes", "actions", "forecast", "step")


def probes(groups):
    """A row for each group and each line of its probe.csv.

    Args:
        groups: list of `agents.curves.Group`; runs that were not probed are left out.

    Returns:
        List of dicts.
    """
    return _rows(groups, "probe.csv", _PROBED, ("r_squared",))


def calibration(groups):
    """A row for each group and each line of its calibration.csv, likewise."""
    scores = ("coverage_50", "coverage_80", "coverage_95", "negative_log_likelihood")
    return _rows(groups, "calibration.csv", _FORECAST, scores)


def _rows(groups, name, keys, columns):
    rows = []
    for group in groups:
        lines = [line for run in group.runs for line in _lines(run.folder / name)]
        found = {}
        for line in lines:
            found.setdefault(tuple(line[key] for key in keys), []).append(line)
        for values, own in found.items():
            row = {"task": group.task, "group": group.label, "seeds": len(own)}
            row |= dict(zip(keys, values, strict=True))
            for column in columns:
                row |= _median(column, [float(line[column] or "nan") for line in own])
            rows.append(row)
    return rows


def _lines(file):
    if not file.exists():
        return []
    with open(file, newline="") as handle:
        return list(csv.DictReader(handle))


def _median(column, values):
    edges = {f"{column}_lowest": min(values), f"{column}_highest": max(values)}
    return {column: float(np.median(values))} | edges

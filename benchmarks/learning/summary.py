"""The numbers of an experiment that `bayes-rl compare` does not tell."""

import json
import pathlib

import numpy as np
import pandas as pd

from agents.runs.grouping import arrange
from agents.runs.history import load
from agents.runs.records import read_sessions
from agents.study import statistics
from agents.study.compare.tables import with_interval

_WEIGHTS = ("train/weight_kl", "train/weight_stddev", "train/weight_ratio")
_VALUES = ("expected", "returned")


def summarize(runs):
    """How the weights of each group moved, and the sources of all numbers."""
    groups = [
        {"task": group.task, "group": group.label, "weights": _weights(group.runs)}
        for group in arrange([load(pathlib.Path(run)) for run in runs])
    ]
    return {"groups": groups, "sources": sources_of(runs)}


def _weights(runs):
    """First and last value of each weight statistic, the median over seeds."""
    rows = [row for run in runs for row in run.metrics]
    names = dict.fromkeys(key for row in rows for key in row if key.startswith(_WEIGHTS))
    table = {}
    for name in names:
        # what was not finite is None in metrics.jsonl
        values = [[r[name] for r in run.metrics if r.get(name) is not None] for run in runs]
        ends = [float(np.median([v[at] for v in values if v])) for at in (0, -1)]
        table[name.removeprefix("train/")] = ends
    return table


def sources_of(runs):
    """The distinct commits and machines of all sessions."""
    sources = {}
    for run in runs:
        for session in read_sessions(run):
            source = {
                key: session[key] for key in ("commit", "processor", "cores", "memory_gib")
            }
            sources[json.dumps(source, sort_keys=True)] = source
    return list(sources.values())


def expectations(runs):
    """A table of what agents that learned from logs expected, beside what came.

    Of each task and group the mean over seeds, of the last evaluation, of

        score     return of evaluations
        expected  value that critics gave their first states
        returned  discounted return that came of them

    with 95 % bootstrap intervals over seeds; empty where no run learned from logs.
    """
    loaded = [load(run) for run in runs]
    groups = arrange([run for run in loaded if run.config.get("data")])
    return pd.DataFrame([_expectation(group) for group in groups])


def _expectation(group):
    ends = [_end(run) for run in group.runs if run.scores]  # else it diverged before
    row = {"task": group.task, "group": group.label, "seeds": len(ends)}
    for name in ("score", *_VALUES):
        values = [end[name] for end in ends if name in end]
        row |= dict.fromkeys((name, f"{name}_low", f"{name}_high"), np.nan)
        if values:
            row |= with_interval(name, [values], statistics.mean)
    return row


def _end(run):
    """Dict of the numbers of the last evaluation of a run; fewer where it has no value."""
    values = [row for row in run.metrics if "value/expected" in row][-1:]
    score = {"score": float(np.nanmean(run.score_curve()[1][-1]))}
    return score | {name: row[f"value/{name}"] for row in values for name in _VALUES}

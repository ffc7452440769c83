"""The numbers of an experiment that `bayes-rl compare` does not tell."""

import json
import pathlib

import numpy as np

from agents.runs.grouping import arrange
from agents.runs.history import load
from agents.runs.records import read_sessions

_WEIGHTS = ("train/weight_kl", "train/weight_stddev", "train/weight_ratio")


def summarize(runs):
    """How the weights of each group moved, and where all numbers come from.

    Args:
        runs: folders of runs.

    Returns:
        Dict with `groups`, and `sources`: the commits and machines of all sessions.
    """
    groups = arrange([load(pathlib.Path(run)) for run in runs])
    return {
        "groups": [
            {"task": group.task, "group": group.label, "weights": _weights(group.runs)}
            for group in groups
        ],
        "sources": sources_of(runs),
    }


def _weights(runs):
    """First and last value of each weight statistic, the median over seeds."""
    rows = [row for run in runs for row in run.metrics]
    names = dict.fromkeys(key for row in rows for key in row if key.startswith(_WEIGHTS))
    table = {}
    for name in names:
        values = [_finite(run, name) for run in runs]
        ends = [float(np.median([v[at] for v in values if v])) for at in (0, -1)]
        table[name.removeprefix("train/")] = ends
    return table


def _finite(run, name):
    """Values of a metric; what was not finite is None in metrics.jsonl."""
    return [row[name] for row in run.metrics if row.get(name) is not None]


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

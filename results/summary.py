"""The numbers of an experiment, read from the folders of its runs."""

import csv
import json
import pathlib

import numpy as np

from agents import statistics
from agents.curves import load
from agents.records import SCORE_COLUMNS


def summarize(runs, scores_file):
    """Groups runs that differ in their seed alone and sums up their last scores.

    Args:
        runs: folders of runs.
        scores_file: csv that takes every evaluation episode of every run.

    Returns:
        Dict with `groups`, and `sources`: the commits and machines of all sessions.
    """
    loaded = [load(pathlib.Path(run)) for run in runs]
    _write_scores(loaded, scores_file)
    configs = [run.config for run in loaded]
    groups = []
    for members in statistics.group(configs):
        groups.append(_group([loaded[index] for index in members]))
    return {"groups": groups, "sources": _sources(runs)}


def _group(runs):
    config = runs[0].config
    last = [_last_scores(run) for run in runs]
    return {
        "task": config["task"],
        "observation": config["observation"],
        "transition": config["transition"],
        "environment_steps": max(run.metrics[-1]["environment_steps"] for run in runs),
        "seeds": [run.config["seed"] for run in runs],
        "returns": [round(float(np.mean(scores)), 1) for scores in last],
        "evaluation_episodes": len(last[0]),
        "minutes": [round(_seconds(run) / 60, 1) for run in runs],
        "weights": _weights(runs),
    }


def _last_scores(run):
    newest = max((row["environment_steps"] for row in run.scores), default=None)
    return [row["return"] for row in run.scores if row["environment_steps"] == newest]


def _seconds(run):
    return sum(row.get("speed/seconds", 0.0) for row in run.metrics)


def _weights(runs):
    """First and last value of each weight statistic, the median over seeds."""
    names = [
        name
        for name in dict.fromkeys(key for run in runs for row in run.metrics for key in row)
        if name.startswith(("train/weight_kl", "train/weight_stddev", "train/weight_ratio"))
    ]
    table = {}
    for name in names:
        curves = [[row[name] for row in run.metrics if name in row] for run in runs]
        ends = [float(np.median([c[at] for c in curves if c])) for at in (0, -1)]
        table[name.removeprefix("train/")] = ends
    return table


def _sources(runs):
    """The distinct commits and machines of all sessions."""
    sources = {}
    for run in runs:
        file = pathlib.Path(run) / "sessions.jsonl"
        for line in file.read_text().splitlines() if file.exists() else []:
            session = json.loads(line)
            source = {
                key: session[key] for key in ("commit", "processor", "cores", "memory_gib")
            }
            sources[json.dumps(source, sort_keys=True)] = source
    return list(sources.values())


def _write_scores(runs, file):
    with open(file, "w", newline="") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(["task", "transition", "run_seed", *SCORE_COLUMNS])
        for run in runs:
            about = [run.config[key] for key in ("task", "transition", "seed")]
            writer.writerows([*about, *row.values()] for row in run.scores)

"""What `bayes-rl probe` and `bayes-rl calibrate` left in the folders of runs, over seeds.

Each number is the median over the seeds that have it, beside the lowest and the highest of
them; nan where none has. `seeds` is of the number that the fewest have. Runs whose episodes
end differ in environment steps: up to 5 per cent above the least they are pooled under it.
"""

import csv
import io
import itertools
import logging
import math

import numpy as np

_ALIKE = 1.05  # times the least environment steps of runs that are pooled
_COUNTS = ("environment_steps", "episodes", "step")
_PROBED = ("environment_steps", "episodes", "actions", "target", "input", "probe")
_FORECAST = (
    "actions",
    "forecast",
    "judged",
    "transition",
    "environment_steps",
    "episodes",
    "dimension",
    "step",
)
_SCORES = (
    *(f"{kind}_{level}" for kind in ("coverage", "deviation") for level in (50, 80, 95)),
    "negative_log_likelihood",
)
_WORTH = ("judged", "environment_steps", "episodes", "spread", "measure")

log = logging.getLogger(__name__)


def probes(groups):
    """A row for each group and each line of its probe.csv.

    Args:
        groups: list of `agents.runs.grouping.Group`; runs that were not probed are left
            out, and with a warning those whose file cannot be read.

    Returns:
        List of dicts.
    """
    return _rows(groups, "probe", "probe.csv", _PROBED, ("r_squared",))


def calibration(groups):
    """A row for each group and each line of its calibration.csv that is of all dimensions.

    `forecast` says by its name whose it is: of a run of the group, where `judged` is `run`,
    or of the `other` run that this one was compared with.
    """
    rows = _rows(groups, "calibrate", "calibration.csv", _FORECAST, _SCORES)
    return [row for row in rows if row.pop("dimension") == "all"]


def spread(groups):
    """A row for each group and each line of its spread.csv that is on runs of the group."""
    rows = _rows(groups, "calibrate", "spread.csv", _WORTH, ("value",))
    return [row for row in rows if row.pop("judged") == "run"]


def _rows(groups, command, name, keys, columns):
    rows = []
    for group in groups:
        found = {}
        for run in group.runs:
            for line in _lines(run.folder / name, command, keys, columns):
                what = tuple(line[key] for key in keys if key != "environment_steps")
                found.setdefault(what, []).append((run.folder, line))
        for own in itertools.chain.from_iterable(map(_pool, found.values())):
            row = {"task": group.task, "group": group.label, "seeds": _seeds(own, columns)}
            row |= {key: own[0][key] for key in keys}
            for column in columns:
                row |= _median(column, [line[column] for line in own])
            rows.append(row)
    return rows


def _pool(found):
    """Lists of lines of about as many environment steps, a run's once, the least first."""
    pools, most = [], -1
    for run, line in sorted(found, key=lambda each: each[1]["environment_steps"]):
        steps = line["environment_steps"]
        if steps > most or run in pools[-1]:
            pools.append({})
            most = _ALIKE * steps
        pools[-1][run] = line
    return [list(pool.values()) for pool in pools]


def _seeds(lines, columns):
    """How many have the number that the fewest have; one that none has does not count."""
    known = np.isfinite([[line[column] for column in columns] for line in lines])
    counts = known.sum(axis=0)
    return int(min(counts[counts > 0], default=len(lines)))


def _lines(file, command, keys, columns):
    """The lines of a file, with numbers; none where it is missing or cannot be read."""
    if not file.exists():
        return []
    types = dict.fromkeys(keys, str) | dict.fromkeys(columns, float)
    types |= {key: int for key in _COUNTS if key in keys}
    try:
        text = file.read_bytes().decode()
        reader = csv.DictReader(io.StringIO(text, newline=""))
        missing = [each for each in types if each not in (reader.fieldnames or ())]
        if missing:
            problem = f"has no column {missing[0]!r}"
        elif not text.endswith("\n"):
            problem = "is damaged"  # its last number may be cut
        else:
            return [{key: types[key](line[key]) for key in types} for line in reader]
    except (OSError, TypeError, ValueError, csv.Error):  # a short line has None
        problem = "is damaged"
    log.warning("left out: %s %s; run bayes-rl %s again", file, problem, command)
    return []


def _median(column, values):
    """The median of seeds and its extremes; one seed has none."""
    known = [value for value in values if math.isfinite(value)] or [math.nan]
    edges = [None, None] if len(values) == 1 else [min(known), max(known)]
    names = column, f"{column}_lowest", f"{column}_highest"
    return dict(zip(names, [float(np.median(known)), *edges], strict=True))

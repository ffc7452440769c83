"""What `bayes-rl probe` and `bayes-rl calibrate` left in the folders of runs, over seeds.

Each number is the median over the seeds that have it, beside the lowest and the highest of
them; nan where none has. `seeds` is of the number that the fewest have. Runs whose episodes
end differ in environment steps: up to 5 per cent above the least they are pooled under it.
"""

import csv
import io
import logging
import pathlib

import numpy as np
import pandas as pd

_ALIKE = 1.05  # times the least environment steps of runs that are pooled
_COUNTS = ("environment_steps", "episodes", "step")
_PROBED = ("environment_steps", "episodes", "actions", "target", "input", "probe")
_FORECAST = ("actions", "forecast", "judged", "transition", "environment_steps")
_FORECAST += ("episodes", "dimension", "step")
_SCORES = (
    *(f"{kind}_{level}" for kind in ("coverage", "deviation") for level in (50, 80, 95)),
    "negative_log_likelihood",
)
_WORTH = ("judged", "environment_steps", "episodes", "spread", "measure")

log = logging.getLogger(__name__)


def probes(runs):
    """A row for each group and each line of its probe.csv.

    Runs that were not probed are left out, and with a warning those whose file cannot be
    read.
    """
    return _over_seeds(_lines(runs, "probe", "probe.csv", _PROBED, ("r_squared",)), _PROBED)


def calibration(runs):
    """A row for each group and each line of its calibration.csv that is of all dimensions.

    `forecast` says by its name whose it is: of a run of the group, where `judged` is `run`,
    or of the `other` run that this one was compared with.
    """
    lines = _lines(runs, "calibrate", "calibration.csv", _FORECAST, _SCORES)
    lines = lines[lines.pop("dimension") == "all"]
    return _over_seeds(lines, [key for key in _FORECAST if key != "dimension"])


def spread(runs):
    """A row for each group and each line of its spread.csv that is on runs of the group."""
    lines = _lines(runs, "calibrate", "spread.csv", _WORTH, ("value",))
    return _over_seeds(lines[lines.pop("judged") == "run"], _WORTH[1:])


def _lines(runs, command, name, keys, columns):
    """The lines of a file of all runs."""
    rows = [
        {"place": run.place, "task": run.task, "group": run.group, "run": run.Index} | line
        for run in runs.itertuples()
        for line in _read(pathlib.Path(run.folder) / name, command, keys, columns)
    ]
    return pd.DataFrame(rows, columns=["place", "task", "group", "run", *keys, *columns])


def _over_seeds(lines, keys):
    """A row for each group and what `keys` say: the median of each number, its extremes."""
    what = ["place", *(key for key in keys if key != "environment_steps")]
    numbers = [*lines.columns[lines.columns.get_loc(keys[-1]) + 1 :]]
    lines = lines.assign(what=lines.groupby(what, sort=False).ngroup())
    lines[numbers] = lines[numbers].where(np.isfinite(lines[numbers].astype(float)))
    pools = lines.sort_values("environment_steps", kind="stable").assign(pool=_pool)
    pools = pools.groupby(["what", "pool"])
    found = pools[["task", "group", *keys]].first().reset_index(drop=True)
    known = pools[numbers].count().to_numpy()
    fewest = np.where(known > 0, known, np.inf).min(axis=1, initial=np.inf)
    sizes = pools.size().to_numpy()
    found.insert(2, "seeds", np.where(np.isinf(fewest), sizes, fewest).astype(int))
    for name in numbers:
        found[name] = pools[name].median().to_numpy()
        for end, edge in (("lowest", pools[name].min()), ("highest", pools[name].max())):
            found[f"{name}_{end}"] = np.where(sizes > 1, edge, np.nan)
    return found


def _pool(lines):
    """The pool of each line: of about as many environment steps, a run's once."""
    newest = {}  # what -> number of its pool, the most steps of that, its runs
    pools = []
    for line in lines.itertuples():
        pool, most, runs = newest.get(line.what, (-1, -1, ()))
        if line.environment_steps > most or line.run in runs:
            pool, most, runs = pool + 1, _ALIKE * line.environment_steps, ()
        newest[line.what] = pool, most, (*runs, line.run)
        pools.append(pool)
    return pools


def _read(file, command, keys, columns):
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
    log.warning(f"left out: {file} {problem}; run bayes-rl {command} again")
    return []

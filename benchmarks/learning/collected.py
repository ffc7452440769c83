"""The small files of a study's runs, kept where its tables can be made anew from them."""

import csv
import gzip
import json
import pathlib
import shutil

import yaml

from agents.files import replacing_folder
from agents.runs.folder import read_config, runs_below
from agents.runs.records import METRICS, read_metrics, read_scores, read_sessions

KEPT = "runs"  # where, in the folder of a study
_CONFIG = "config.yaml"
_NAMING = ("calibration.csv", "spread.csv")  # files whose rows name the folder of a run
_FILES = ("scores.csv", "sessions.jsonl", "diverged.json")
_MEASURED = ("probe.csv", "planners.csv", "planners.txt")  # afterwards, from the weights
_DIGITS = 5  # of a number; curves show no more, and they cost a third of the space


def collect(root, folder):
    """Copies the small files of runs that are finished or were evaluated.

    A run that came less far than its copy leaves that alone: another machine may have
    begun it anew. What was measured of a run stays where the same run, which began when
    it did and has as many steps, lacks it: another machine may have measured it. What
    names a folder below `root` names it in a copy as that is given: where a run lay on one
    machine tells others nothing.

    Args:
        root: folder that holds runs; it need not be there.
        folder: `pathlib.Path` that keeps them, by their paths below `root`.

    Returns:
        The folders of all copies, those of earlier calls among them.
    """
    for run in runs_below(root):
        name = run.relative_to(root)
        is_worth_it = has_all_steps(run) or read_scores(run)
        if is_worth_it and _steps(run) >= _steps(folder / name):
            _copy(run, folder / name, pathlib.Path(root))
    return list(runs_below(folder))


def has_all_steps(run, steps=None):
    """Whether a run, or the copy of one, has seen all its environment steps.

    Args:
        run: `pathlib.Path` of its folder, which need not be there.
        steps: environment steps; None: those of its config.
    """
    if not (run / _CONFIG).is_file():
        return False
    return _steps(run) >= (steps or read_config(run)["environment_steps"])


def _steps(run):
    return max((row["environment_steps"] for row in read_metrics(run)), default=0)


def _identity(run):
    """When a run began, and how far its weights have come."""
    return read_sessions(run)[:1], _steps(run)


def _copy(run, kept, root):
    kept.parent.mkdir(parents=True, exist_ok=True)
    is_the_same = _identity(run) == _identity(kept)
    config = read_config(run) | {"logdir": _below(root, run)}
    with replacing_folder(kept) as folder:
        (folder / _CONFIG).write_text(yaml.safe_dump(config, sort_keys=False))
        for name in (*_FILES, *_MEASURED):
            if (run / name).exists():
                shutil.copy(run / name, folder)
        for name in _NAMING:
            if (run / name).exists():
                _copy_rows(run / name, folder / name, root)
        for name in (*_MEASURED, *_NAMING) if is_the_same else ():
            if (kept / name).exists() and not (folder / name).exists():
                shutil.copy(kept / name, folder)
        rows = (map(_round, row.items()) for row in read_metrics(pathlib.Path(run)))
        text = "".join(json.dumps(dict(row)) + "\n" for row in rows)
        # without the time the same run gives the same bytes
        packed = gzip.compress(text.encode(), mtime=0)
        (folder / f"{METRICS}.gz").write_bytes(packed)


def _copy_rows(source, target, root):
    """Copies a table, of forecasts the rows of all dimensions: the others are megabytes."""
    with open(source, newline="") as read, open(target, "w", newline="") as written:
        rows = csv.DictReader(read)
        copy = csv.DictWriter(written, rows.fieldnames, lineterminator="\n")
        copy.writeheader()
        for row in rows:
            if row.get("dimension", "all") == "all":
                numbers = {name: _shorter(word) for name, word in row.items()}
                copy.writerow(numbers | {"run": _below(root, row["run"])})


def _shorter(word):
    """A fraction as it is kept; any other word as it is."""
    try:
        return str(_rounded(float(word))) if "." in word else word
    except ValueError:
        return word


def _below(root, run):
    """The folder of a run as it is named from `root`; one elsewhere, as it is named."""
    whole = pathlib.Path(run).absolute()
    if not whole.is_relative_to(root.absolute()):
        return str(run)
    return (root / whole.relative_to(root.absolute())).as_posix()


def _round(pair):
    name, value = pair
    return name, _rounded(value) if isinstance(value, float) else value


def _rounded(number):
    return float(f"{number:.{_DIGITS}g}")

"""Packs the runs of a study into few files, and makes folders of runs of those again."""

import contextlib
import csv
import gzip
import io
import json
import pathlib
import tempfile

import numpy as np
import yaml

from agents.runs import history, records
from agents.runs.config.schema import flatten
from agents.runs.folder import read_config, runs_below
from agents.runs.migrating import migrate as migrate_run
from agents.study.frames import minutes
from agents.system.files import replacing, write_text
from benchmarks.learning import packed
from benchmarks.learning.packed import word

_CONFIG, _DIVERGED = "config.yaml", "diverged.json"
_TABLES = ("calibration.csv", "spread.csv", "probe.csv", "planners.csv")
_SESSION = ("started", "commit", "processor", "cores", "memory_gib")
_EVERY = 10  # episodes, of those that somebody logged, or of very many
_MANY = 1000  # episodes
_SELDOM = ("train/", "memory/", "speed/train_steps", "speed/collect", "explore/coverage")
_DIGITS = 5  # of a number; curves show no more, and they cost a third of the space


def pack(root, folder):
    """Packs runs that are finished or were evaluated, beside those packed before.

    A run that came less far than its packed one leaves that alone: another machine may have
    begun it anew. What was measured of a run stays where the same run, which began when
    it did and has as many steps, lacks it: another machine may have measured it. Of
    forecasts the rows of all dimensions are packed: the others are megabytes. Of a run that
    learned from logged episodes, or from a thousand and more, losses are packed after
    every tenth: many such runs look at the same episodes.

    The folder is that of the study; `root`, which holds runs, need not be there.
    """
    with unpacked(folder) as kept:
        found = _furthest(pathlib.Path(root), kept)
        if not found:
            return
        folder.mkdir(parents=True, exist_ok=True)
        runs = {name: history.load(folders[0]) for name, folders in found.items()}
        _write_configs(folder, str(root), runs)
        curves = {
            name: [*map(_rounded, _told(run)), *run.scores] for name, run in runs.items()
        }
        _write_table(folder / packed.CURVES, curves)
        for table in _TABLES:
            rows = {name: _measured(own, table) for name, own in found.items()}
            _write_table(folder / f"{table}.gz", rows)


@contextlib.contextmanager
def unpacked(folder):
    """Yields a folder, runs/, that holds the runs of a study for a while."""
    with tempfile.TemporaryDirectory() as place:
        runs = pathlib.Path(place, "runs")
        unpack(folder, runs)
        yield runs


def unpack(folder, place):
    """Makes folders of the runs that a study has packed, for `bayes-rl compare`."""
    folder, place = pathlib.Path(folder), pathlib.Path(place)
    if not (folder / packed.CONFIGS).exists():
        return
    runs, curves = packed.read_runs(folder), packed.read_curves(folder)
    for name, config in _configs(folder, runs).items():
        run, (metrics, scores) = place / name, curves[name]
        run.mkdir(parents=True, exist_ok=True)
        (run / _CONFIG).write_text(yaml.safe_dump(config, sort_keys=False))
        (run / records.SESSIONS).write_text(_lines(_sessions(runs[name])))
        (run / records.METRICS).write_text(_lines(metrics))
        if scores:
            own = [{key: row[key] for key in records.SCORE_COLUMNS} for row in scores]
            (run / records.SCORES).write_text(_text(own))
        if "diverged" in runs[name]:
            (run / _DIVERGED).write_text(json.dumps(runs[name]["diverged"]))
    for table in _TABLES:
        for name, rows in packed.read_table(folder / f"{table}.gz").items():
            (place / name / table).write_text(_text(rows))


def migrate(folder, resolve):
    """Brings the configs of the runs that a study has packed to today's form.

    Returns how many of them an earlier version wrote; where none, nothing is written. The
    last argument is that of `agents.runs.migrating.migrate`.
    """
    with unpacked(folder) as kept:
        runs = list(runs_below(kept)) if kept.is_dir() else []
        count = sum(migrate_run(run, resolve) is not None for run in runs)
        if count:
            names = sorted((_name(run, kept) for run in runs), key=_in_order)
            root = yaml.safe_load((folder / packed.CONFIGS).read_text())["logdir"]
            loaded = {name: history.load(kept / name) for name in names}
            _write_configs(folder, root, loaded)
    return count


def has_all_steps(run, steps=None):
    """Whether a run, which need not be there, has seen so many environment steps.

    None: those of its config.
    """
    if not (run / _CONFIG).is_file():
        return False
    return _steps(run) >= (steps or read_config(run)["environment_steps"])


def _furthest(root, kept):
    """Dict of name -> folders of a run: that which came furthest, then its like."""
    found = {_name(run, kept): [run] for run in runs_below(kept)}
    for run in runs_below(root):
        before = found.get(_name(run, root), [])
        is_worth_it = has_all_steps(run) or records.read_scores(run)
        if is_worth_it and _steps(run) >= max(map(_steps, before), default=0):
            like = [each for each in before if _identity(each) == _identity(run)]
            found[_name(run, root)] = [run, *like]
    return {name: found[name] for name in sorted(found, key=_in_order)}


def _in_order(name):
    return name.split("/")


def _name(run, root):
    return run.relative_to(root).as_posix()


def _steps(run):
    return max((row["environment_steps"] for row in records.read_metrics(run)), default=0)


def _identity(run):
    """When a run began, and how far its weights have come."""
    return [row["started"] for row in records.read_sessions(run)[:1]], _steps(run)


def _write_configs(folder, root, runs):
    flats = {name: flatten(run.config) for name, run in runs.items()}
    keys = dict.fromkeys(key for flat in flats.values() for key in flat)
    keys.pop("logdir", None)  # where a run lay on one machine tells others nothing
    words = {
        key: {word(flat[key]) if key in flat else "" for flat in flats.values()}
        for key in keys
    }
    differ = [key for key, own in words.items() if len(own) > 1]
    first = next(iter(flats.values()))
    same = _nested({key: first[key] for key in keys if key not in differ})
    known = {"logdir": root, "differ": differ, "same": same}
    write_text(folder / packed.CONFIGS, yaml.safe_dump(known, sort_keys=False))
    rows = [
        {"folder": name}
        | {key: flats[name][key] for key in differ if key in flats[name]}
        | _facts(run)
        for name, run in runs.items()
    ]
    columns = dict.fromkeys(["folder", *differ, *(key for row in rows for key in row)])
    write_text(folder / packed.RUNS, _text(rows, columns))


def _configs(folder, runs):
    """Dict of name -> config of each run.

    What differs comes first: it names groups, in the order in which it stands.
    """
    known = yaml.safe_load((folder / packed.CONFIGS).read_text())
    same = flatten(known["same"])
    return {
        name: _nested({key: row[key] for key in known["differ"] if key in row} | same)
        | {"logdir": (pathlib.Path(known["logdir"]) / name).as_posix()}
        for name, row in runs.items()
    }


def _nested(flat):
    values = {}
    for key, value in flat.items():
        *groups, name = key.split(".")
        place = values
        for group in groups:
            place = place.setdefault(group, {})
        place[name] = value
    return values


def _facts(run):
    """What runs.csv says of a run beside what was set."""
    facts = {"steps": _steps(run.folder)}
    if run.scores:
        facts["score"] = float(f"{np.nanmean(run.score_curve()[1][-1]):.8g}")
    facts["minutes"] = float(f"{minutes(run):.8g}")
    sessions = records.read_sessions(run.folder)
    for key in _SESSION if sessions else ():
        found = [session[key] for session in sessions]
        facts[key] = found if len(found) > 1 else found[0]
    if (run.folder / _DIVERGED).exists():
        facts["diverged"] = json.loads((run.folder / _DIVERGED).read_text())
    return facts


def _sessions(row):
    """Rows of sessions.jsonl of what `_facts` says of them."""
    found = [row[key] for key in _SESSION if key in row]
    columns = [each if isinstance(each, list) else [each] for each in found]
    start = {"episodes": 0, "environment_steps": 0}
    rows = zip(*columns, strict=True)
    return [start | dict(zip(_SESSION, each, strict=True)) for each in rows]


def _measured(folders, table):
    """What was measured of a run, in the first of its folders that has it."""
    file = next((run / table for run in folders if (run / table).exists()), None)
    if file is None:
        return []
    rows = map(packed.values, packed.read_rows(file))
    found = [_rounded(row) for row in rows if row.get("dimension", "all") == "all"]
    # where a run lay on one machine tells others nothing
    return [{key: row[key] for key in row if key != "run"} for row in found]


def _told(run):
    if run.config.get("data") is None and len(run.metrics) < _MANY:
        return run.metrics
    return map(_thinned, run.metrics)


def _thinned(row):
    if row["episodes"] % _EVERY in (0, 1) or "evaluate/return" in row:
        return row
    return {key: row[key] for key in row if not key.startswith(_SELDOM)}


def _rounded(row):
    return {
        key: float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value
        for key, value in row.items()
    }


def _write_table(file, runs):
    """Writes the rows of all runs; the same rows give the same bytes."""
    rows = [{"folder": run} | row for run, own in runs.items() for row in own]
    if rows:
        with replacing(file) as handle:
            handle.write(gzip.compress(_text(rows).encode(), mtime=0))
    else:
        file.unlink(missing_ok=True)


def _text(rows, columns=None):
    """A csv with the columns of all rows, or with these."""
    text = io.StringIO()
    columns = columns or dict.fromkeys(key for row in rows for key in row)
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        name = {"folder": row["folder"]} if "folder" in row else {}  # 0 is the name of one
        writer.writerow({key: word(value) for key, value in row.items()} | name)
    return text.getvalue()


def _lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)

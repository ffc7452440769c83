"""Rows of numbers on disk: metrics.jsonl, scores.csv and sessions.jsonl of a run.

A row counts when its line is whole, has its numbers of episodes and environment steps, and
ends in a newline. Lines that a killed process tore are named in a warning and left out.
Nothing here needs TensorFlow, so that curves can be drawn from a run's folder alone.
"""

import contextlib
import datetime
import importlib.metadata
import itertools
import json
import logging
import math
import os
import pathlib
import platform
import shutil
import subprocess

import numpy as np
import psutil

from agents.system.files import sync, write_text
from agents.system.processes import cores

METRICS, SCORES, SESSIONS = "metrics.jsonl", "scores.csv", "sessions.jsonl"
SCORE_COLUMNS = {
    "environment_steps": int,
    "episodes": int,
    "train_steps": int,
    "evaluation_episode": int,
    "seed": int,
    "return": float,
}
_HEADER = ",".join(SCORE_COLUMNS) + "\n"

log = logging.getLogger(__name__)


def plain(value):
    """Returns a scalar as JSON knows it: an int, a float, a bool, a text or None.

    Numbers that JSON has no word for, nan and infinity, become None.

    Example:
        >>> plain(np.float32(0.5)), plain(float("nan")), plain(np.int64(3))
        (0.5, None, 3)
    """
    if value is None or isinstance(value, str):
        return value
    value = np.asarray(value).item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def append_metrics(run, row):
    """Adds scalars as a line to metrics.jsonl; when this returns, it is on disk."""
    if "episodes" not in row:
        raise ValueError(f"a row of metrics needs the key episodes, got {sorted(row)}")
    row = {key: plain(value) for key, value in row.items()}
    _append(pathlib.Path(run) / METRICS, json.dumps(row, allow_nan=False) + "\n")


def append_session(run, row):
    """Adds a line to sessions.jsonl, a dict; when this returns, it is on disk."""
    _append(pathlib.Path(run) / SESSIONS, json.dumps(row, allow_nan=False) + "\n")


def append_scores(run, rows):
    """Adds evaluation episodes to scores.csv; when this returns, they are on disk.

    Each is a dict with exactly the keys of `SCORE_COLUMNS`.
    """
    file = pathlib.Path(run) / SCORES
    text = "" if file.exists() and file.stat().st_size else _HEADER
    for row in rows:
        if row.keys() != SCORE_COLUMNS.keys():
            raise ValueError(f"a score needs {', '.join(SCORE_COLUMNS)}; got {sorted(row)}")
        cells = (repr(kind(plain(row[key]))) for key, kind in SCORE_COLUMNS.items())
        text += ",".join(cells) + "\n"
    _append(file, text)


def read_metrics(run):
    """Returns the rows of metrics.jsonl, a list of dicts; none when it is missing."""
    return [row for _, row in _lines(pathlib.Path(run) / METRICS, json.loads)]


def read_scores(run):
    """Returns the rows of scores.csv, a list of dicts; none when it is missing."""
    return [row for _, row in _lines(pathlib.Path(run) / SCORES, _score)]


def read_sessions(run):
    """Returns the rows of sessions.jsonl, a list of dicts; none when it is missing."""
    return [row for _, row in _lines(pathlib.Path(run) / SESSIONS, json.loads)]


def scores_were_written(run):
    """Whether there are scores, readable or not."""
    return bool(_bytes(pathlib.Path(run) / SCORES).removeprefix(_HEADER.encode()))


def cut(run, episodes):
    """Takes back what was written after the given number of episodes.

    Both files are rewritten whole or not at all; torn lines go as well. A run whose
    checkpoints are gone begins anew: what it had measured of more than one episode is kept
    beside the new numbers, `metrics.before_1.jsonl`.
    """
    for name, parse, header in ((METRICS, json.loads, ""), (SCORES, _score, _HEADER)):
        file = pathlib.Path(run) / name
        if not file.exists():
            continue
        rows = list(_lines(file, parse))
        kept = [line for line, row in rows if row["episodes"] <= episodes]
        if not kept and any(row["episodes"] > episodes + 1 for _, row in rows):
            _keep_aside(file)
        write_text(file, header + "".join(kept))


def amend(run, episodes, row):
    """Adds scalars to the line of an episode, if there is one; the file is whole or not."""
    file = pathlib.Path(run) / METRICS
    added = {key: plain(value) for key, value in row.items()}
    lines = [
        json.dumps(found | added, allow_nan=False) + "\n"
        if found["episodes"] == episodes
        else line
        for line, found in _lines(file, json.loads)
    ]
    write_text(file, "".join(lines))


def _keep_aside(file):
    names = (f"{file.stem}.before_{number}{file.suffix}" for number in itertools.count(1))
    aside = next(each for name in names if not (each := file.with_name(name)).exists())
    shutil.copyfile(file, aside)
    sync(file.parent)
    begins = "the run starts from the beginning"
    log.warning(f"{file}: {begins}; its earlier numbers are in {aside.name}")


def _score(line):
    cells = line.rstrip("\n").split(",")
    pairs = zip(SCORE_COLUMNS.items(), cells, strict=True)
    row = {key: kind(cell) for (key, kind), cell in pairs}
    if not math.isfinite(row["return"]):
        raise ValueError("a return is a number")
    return row


def _lines(file, parse):
    """Yields (line, row) of each whole line."""
    # a loss of power may leave bytes that are no text
    lines = _bytes(file).decode(errors="replace").splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        if line == _HEADER:
            continue
        try:
            row = parse(line)
            if not line.endswith("\n"):
                raise ValueError("no newline")
            if min(row["episodes"], row["environment_steps"]) < 0:
                raise ValueError("a count")
        except (ValueError, TypeError, KeyError):
            what = "is incomplete or damaged, and left out"
            log.warning(f"{file}: line {number} {what}: {line!r:.60}")
            continue
        yield line, row


def _bytes(file):
    return file.read_bytes() if file.exists() else b""


def _append(file, text):
    new = not file.exists()
    with open(file, "a+b") as handle:
        if handle.tell():
            handle.seek(-1, os.SEEK_END)
            if handle.read() != b"\n":  # a torn line does not take this one with it
                text = f"\n{text}"
        handle.write(text.encode())
        handle.flush()
        os.fsync(handle.fileno())
    if new:
        sync(file.parent)


_LIBRARIES = ("tensorflow", "tensorflow-probability", "tf-agents", "dm-control", "mujoco")


def provenance():
    """Dict of commit, hardware and versions.

    `commit` ends in `+changes` where the code differs from the commit, and is None where
    the code is not in a git repository.
    """
    return {
        "commit": _commit(),
        "processor": _processor(),
        "cores": cores(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
        "python": platform.python_version(),
        "libraries": {
            name: _version(name) or _version(f"{name}-cpu") for name in _LIBRARIES
        },
    }


def note_session(folder, counts, changed=()):
    """Adds a line to `sessions.jsonl` of a run: when, where and with what it went on.

    Counts are a dict of the run's at the start of the session; `changed` has words for each
    value of the config that is another from now on.
    """
    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    words = {"changed": list(changed)} if changed else {}
    append_session(folder, {"started": started, **counts, **words, **provenance()})


def _version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _commit():
    if _git("ls-files", "--error-unmatch", pathlib.Path(__file__).name) is None:
        return None  # of no repository, or installed below that of another project
    commit = _git("rev-parse", "--short=12", "HEAD")
    changed = commit and _git("status", "--porcelain", "--untracked-files=no")
    return f"{commit}+changes" if changed else commit


def _git(*words):
    folder = pathlib.Path(__file__).parent
    try:
        done = subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True)
    except OSError:  # git is not installed
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _processor():
    with contextlib.suppress(OSError):
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()

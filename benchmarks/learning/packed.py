"""The runs of a study in few files, which this reads and `packing` writes.

* configs.yaml: what all runs share, and the keys in which they differ.
* runs.csv: a row a run: its folder, its values of those keys, its steps, score, minutes,
  commit and machine, as a list where its sessions differ.
* curves.csv.gz: a row an episode, with the metrics of one of training or the return of one
  of evaluation.
* calibration.csv.gz and the like: the rows of such files of all runs.

A run has no value where a cell is empty.
"""

import collections
import csv
import gzip
import json
import pathlib

CONFIGS, RUNS, CURVES = "configs.yaml", "runs.csv", "curves.csv.gz"
_EVALUATED = "evaluation_episode"  # a column that evaluations alone have


def read_metrics(folder, run):
    """The rows of metrics.jsonl of a run of a study, to five digits.

    The folder is such as results/suite, the run such as cheetah_run/reparameterization/0.
    """
    return read_curves(folder)[run][0]


def read_curves(folder):
    """Dict of run -> its rows (of metrics.jsonl, of scores.csv)."""
    found = collections.defaultdict(lambda: ([], []))
    for run, rows in read_table(pathlib.Path(folder) / CURVES).items():
        for row in rows:
            found[run][_EVALUATED in row].append(row)
    return found


def read_runs(folder):
    """Dict of run -> its row of runs.csv; none where there is no such file."""
    table = read_table(pathlib.Path(folder) / RUNS)
    return {run: row for run, (row,) in table.items()}


def read_table(file):
    """Dict of run -> its rows, dicts, of a table; none where there is no such file."""
    found = {}
    if file.exists():
        for row in read_rows(file):
            found.setdefault(row.pop("folder"), []).append(values(row))
    return found


def read_rows(file):
    """The rows of a csv file, packed if its name ends so, as dicts of text."""
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rt", newline="") as handle:
        yield from csv.DictReader(handle)


def values(row):
    """A row of a csv file with what its words stand for; without its empty cells."""
    return {key: value(text) for key, text in row.items() if text}


def value(text):
    """What a word of a table stands for: what JSON has it for, or else itself.

    Example:
        >>> value("0.5"), value("null"), value("noise")
        (0.5, None, 'noise')
    """
    try:
        return json.loads(text)
    except ValueError:
        return text


def word(what):
    """The word of which `value` makes this again.

    Example:
        >>> word(True), word("noise"), word("1")
        ('true', 'noise', '"1"')
    """
    is_plain = isinstance(what, str) and what and value(what) == what
    return what if is_plain else json.dumps(what)

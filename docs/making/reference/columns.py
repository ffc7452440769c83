"""What the numbers that a run and a comparison write mean, for every file and column."""

import pathlib
import re

import yaml

from agents.runs.metrics import METRICS, metric
from agents.runs.records import SCORE_COLUMNS
from agents.system.screen.text import as_markdown
from benchmarks.learning.packed import read_curves, read_rows
from docs.making.reference.keys import cell
from docs.making.results import RESULTS

MEANINGS = yaml.safe_load(pathlib.Path(__file__).with_suffix(".yaml").read_text())
_ENDS = {
    "_low": "lower end of its 95 % interval",
    "_high": "upper end of its 95 % interval",
    "_lowest": "its lowest value over seeds, where there are several",
    "_highest": "its highest value over seeds, where there are several",
}
# file of a comparison -> what its rows are
_COMPARED = {
    "scores": "a row for each group of runs of a task",
    "curves": "a row for each group and evaluation: what the curves are drawn of",
    "published": "a row for each published method of a task",
    "exploration": "a row for each group: what it found, and when",
    "improvement": "a row for each pair of groups",
    "probes": "a row for each group and line of its runs' probe.csv",
    "calibration": "a row for each group and line of its runs' calibration.csv",
    "spread": "a row for each group and line of its runs' spread.csv",
    "runs": "a row for each run: what the other tables are made of",
}


def meaning(column):
    """What a column says, with its unit.

    Raises:
        KeyError: nobody has said what it means; columns.yaml beside this has the words,
            of a metric `agents.runs.metrics`.

    Example:
        >>> meaning("iqm_low")
        'iqm: lower end of its 95 % interval'
    """
    if column in MEANINGS:
        return MEANINGS[column]
    for end, text in _ENDS.items():
        if column.endswith(end) and column.removesuffix(end) in MEANINGS:
            return f"{column.removesuffix(end)}: {text}"
    if "/" in column or column in METRICS:
        return metric(column).meaning
    raise KeyError(f"docs/making/reference/columns.yaml does not say what {column!r} means")


def table(columns):
    """Markdown of a row for each column; the ends of intervals stand in one row each."""
    rows = [[f"`{column}`", cell(meaning(column))] for column in columns]
    return as_markdown(["column", "meaning"], rows)


def columns_of(name):
    """The columns that `bayes-rl compare` has written to files of a name, in order."""
    found = {}
    for file in sorted(RESULTS.glob(f"*/tables/{name}.csv*")):  # large ones are packed
        if (file.parent / "summary.json").exists():
            found |= dict.fromkeys(next(read_rows(file)))
    return list(found)


def metrics():
    """The keys of metrics.jsonl: those of runs of the suite, then of other settings."""
    found = {}
    for rows, _ in read_curves(RESULTS / "suite").values():
        for row in rows:
            found |= dict.fromkeys(row)
    others = (name for name in METRICS if re.fullmatch(r"\w+/\w+", name))
    return list(found | dict.fromkeys(others))


def page():
    """The text, in Markdown."""
    parts = [
        "# Columns and metrics",
        "Every number that a run writes, and every column of a comparison. The lists are "
        "read from the code and from the files of `results/`; a build of this site stops "
        "at a column that nobody has explained.",
        "## metrics.jsonl: a line for each episode\n\nThe same numbers are in TensorBoard.",
        table(metrics()),
        "## scores.csv: a row for each evaluation episode",
        table(SCORE_COLUMNS),
    ]
    for name, about in _COMPARED.items():
        columns = columns_of(name)
        if columns:
            parts += [f"## comparison/{name}.csv: {about}", table(columns)]
    return "\n\n".join(parts) + "\n"

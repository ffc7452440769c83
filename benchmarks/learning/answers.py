"""What a study found, in words, with the numbers that its tables hold now.

`folder` is that of a study, `study` its entry in experiments.yaml.
"""

import pathlib
import re
import string

from agents.study.compare.report import FEW, FEWEST_SEEDS
from agents.system.screen.text import as_markdown, folded, readable
from benchmarks.learning.packed import read_rows

TABLES = "tables"  # folder of the csv files of a study
ONE = "‡"  # marks a number of one seed
ONE_NOTE = f"{ONE} One seed."
FEW_SHORT = f"{FEW} Fewer than {FEWEST_SEEDS} seeds: the interval is about their range."
_UNKNOWN = "(not measured yet)"
_SEEDS = ("seeds", "than_seeds")  # columns of tables, of a task
_CELL = re.compile(r"\{(\w+)\.(\w+): ([^}]*)\}")


def answer(folder, study):
    """The shortest answer to the question of a study, or of another below its `also`."""
    return filled(folder, study["answer"])


def table(folder, study):
    """The numbers that carry the answer of a study, in Markdown.

    `table` of its entry has a `caption`, the heading of the `first` column, `rows` as their
    names with what `$row` stands for, or each of several such words, and `columns` as their
    headings with a cell each, see `filled`. Empty where a study has none.
    """
    if "table" not in study:
        return ""
    words = study["table"]
    rows = [
        [name, *(_of_row(folder, cell, row) for cell in words["columns"].values())]
        for name, row in words["rows"].items()
    ]
    text = as_markdown([words["first"], *words["columns"]], rows)
    return f"{filled(folder, words['caption'])}\n\n{text}"


def findings(folder, study):
    """What else a study found, a line each, folded."""
    found = [f"- {filled(folder, finding)}" for finding in study.get("findings", ())]
    return folded("More findings", "\n".join(found))


def noted(text):
    """A text, and below it what its marks mean."""
    notes = ((FEW, FEW_SHORT), (ONE, ONE_NOTE))
    told = " ".join(note for mark, note in notes if mark in text)
    return f"{text}\n\n{told}".strip()


def filled(folder, text):
    """A text with numbers in the place of the names of their cells.

    It names them as `{table.column: column=value; column=value}`: the cell of the only
    row of `table.csv` that has those values. An interval, with a mark where it is of too
    few seeds, or the extremes of seeds follow where the table has them. A table that is
    not among those of the runs stands beside them: another program measured it.

    Raises:
        SystemExit: a table has several such rows.
    """
    if not folder.exists():  # a text may name no table
        return "not measured yet"
    try:
        return _CELL.sub(lambda cell: _cell(folder, *cell.groups()), text)
    except FileNotFoundError:
        return "not measured yet"


def _of_row(folder, cell, row):
    """A cell of a row; empty where nothing was run for it."""
    words = row if isinstance(row, dict) else {"row": row}
    text = filled(folder, string.Template(cell).substitute(words))
    return "" if text == _UNKNOWN else text


def _cell(folder, table, column, words):
    wanted = dict(word.split("=", 1) for word in words.split("; "))
    name = f"{table}.csv"
    places = folder / TABLES / name, folder / TABLES / f"{name}.gz", folder / name
    file = next(filter(pathlib.Path.exists, places), places[-1])
    rows = [row for row in read_rows(file) if wanted.items() <= row.items()]
    if not rows:
        return _UNKNOWN
    if len(rows) > 1:
        raise SystemExit(f"{folder / table}.csv has {len(rows)} rows with {words}; not one")
    text = _text(rows[0][column])
    interval = [rows[0].get(f"{column}{end}") for end in ("_low", "_high")]
    extremes = [rows[0].get(f"{column}{end}") for end in ("_lowest", "_highest")]
    if all(interval):
        text += f" [{_text(interval[0])}, {_text(interval[1])}]{_few(rows[0])}"
    elif f"{column}_low" in rows[0] and rows[0].get("seeds") == "1":
        text += ONE
    if all(extremes) and extremes[0] != extremes[1]:
        text += f" ({_text(extremes[0])} to {_text(extremes[1])})"
    return text


def _few(row):
    """A mark of an interval of too few seeds."""
    seeds = [int(row[name]) for name in _SEEDS if row.get(name)]
    return FEW if seeds and min(seeds) < FEWEST_SEEDS else ""


def _text(cell):
    """A number as it is read; anything else as it stands."""
    try:
        return readable(float(cell))
    except ValueError:
        return cell

"""The measured rows as a table on the terminal, as csv and as Markdown."""

import csv
import datetime
import io
import sys

from rich.console import Console
from rich.table import Table

from agents.files import replacing
from agents.provenance import provenance

NOTES = """\
Milliseconds are the median of the repeats [quartiles]; the cases of a group were timed in
turn in one process. GFLOP are the matrix products alone, from the layers' sizes, backward
pass as twice the forward. Share of the peak: of the speed of the fastest of several matrix
products (squares, and shapes that occur) in the case's own type, timed in the same rounds.
Time over reference: median of the ratios of a round [quartiles]; the reference is the
group's first case. Memory is the peak of a process of its own, libraries included."""


def origin(command):
    """Dict of lines that say where the numbers come from."""
    facts = provenance()
    libraries = facts.pop("libraries")
    now = datetime.datetime.now(datetime.UTC)
    return {"date": f"{now:%Y-%m-%d %H:%M} UTC", "command": command, **facts, **libraries}


def show(rows, facts):
    """Prints the table; arguments as in `save`."""
    table = Table(*_HEADINGS, box=None)
    for row in rows:
        table.add_row(*_texts(row))
    # Piped into a file there is no width to keep to.
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(table)
    console.print(", ".join(f"{name}: {value}" for name, value in facts.items()))


def save(folder, rows, facts):
    """Writes benchmarks.csv and benchmarks.md.

    Args:
        folder: `pathlib.Path`; made where it is missing.
        rows: list of dicts of the same keys, see `benchmarks.__main__`.
        facts: dict of strings, see `origin`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / "benchmarks.csv") as file:
        file.write(_csv(rows, facts).encode())
    with replacing(folder / "benchmarks.md") as file:
        file.write(_markdown(rows, facts).encode())


def _csv(rows, facts):
    text = io.StringIO()
    own = {name: facts[name] for name in ("date", "commit", "processor", "cores")}
    writer = csv.DictWriter(text, [*rows[0], *own], lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: _number(value) for name, value in {**row, **own}.items()} for row in rows
    )
    return text.getvalue()


def _markdown(rows, facts):
    lines = ["# Benchmarks", "", NOTES, ""]
    lines += [f"- {name}: {value}" for name, value in facts.items()]
    lines += ["", _line(_HEADINGS), _line(["---"] * len(_HEADINGS))]
    lines += [_line(_texts(row)) for row in rows]
    return "\n".join(lines) + "\n"


_HEADINGS = (
    "group",
    "case",
    "compute",
    "milliseconds",
    "GFLOP",
    "GFLOP/s",
    "share of peak",
    "time over reference",
    "memory, MiB",
)


def _texts(row):
    return (
        row["group"],
        row["case"],
        row["compute"],
        _with_spread(row, "milliseconds", ".1f"),
        _text(row["gflop"], ".3g"),
        _text(row["gflop_per_second"], ".0f"),
        _text(row["share_of_peak"], ".0%"),
        _with_spread(row, "over_reference", ".3f"),
        _text(row["memory_mib"], ".0f"),
    )


def _with_spread(row, name, form):
    if row[name] is None:
        return ""
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    if low is None:
        return _text(row[name], form)
    return f"{row[name]:{form}} [{low:{form}}, {high:{form}}]"


def _text(value, form):
    return "" if value is None else f"{value:{form}}"


def _number(value):
    return f"{value:.6g}" if isinstance(value, float) else value


def _line(cells):
    return f"| {' | '.join(cells)} |"

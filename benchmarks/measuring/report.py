"""The measured rows as a table on the terminal, as csv and as Markdown."""

import dataclasses
import datetime

from agents.files import write_csv, write_text
from agents.runs.provenance import provenance
from agents.screen.text import as_markdown, show

NOTES = """\
Milliseconds are the median of the repeats [quartiles] by the clock named below; the cases
of a group were timed in turn in one process. Processor time does not count what other
processes take; load is what the machine had to do in the minute before the end. GFLOP are
the matrix products alone, from the layers' sizes, backward pass as twice the forward.
Share of the peak: of the speed of the fastest of several matrix products (squares, and
shapes that occur) in the case's own type, timed in the same rounds. Time over reference:
median of the ratios of a round [quartiles]; the reference is the group's first case.
Memory is the peak of a process of its own, libraries included."""


def origin(command):
    """Dict of lines that say where the numbers come from."""
    facts = provenance()
    libraries = facts.pop("libraries")
    now = datetime.datetime.now(datetime.UTC)
    return {"date": f"{now:%Y-%m-%d %H:%M} UTC", "command": command, **facts, **libraries}


def text(name, form=""):
    """A column: the values of this name, empty where there is none."""
    return lambda row: _text(row[name], form)


def spread(name, form):
    """A column: values of this name with their quartiles, `name`_low and `name`_high."""
    return lambda row: _with_spread(row, name, form)


COLUMNS = {
    "group": text("group"),
    "case": text("case"),
    "compute": text("compute"),
    "milliseconds": spread("milliseconds", ".1f"),
    "GFLOP": text("gflop", ".3g"),
    "GFLOP/s": text("gflop_per_second", ".0f"),
    "share of peak": text("share_of_peak", ".0%"),
    "time over reference": spread("over_reference", ".3f"),
    "memory, MiB": text("memory_mib", ".0f"),
}


@dataclasses.dataclass(frozen=True)
class Report:
    """How rows of one kind are shown and saved.

    Args:
        name: of the files.
        title: of the Markdown file.
        notes: what the columns mean.
        columns: heading -> function of a row to its text.
    """

    name: str = "benchmarks"
    title: str = "Benchmarks"
    notes: str = NOTES
    columns: dict = dataclasses.field(default_factory=lambda: COLUMNS)

    def show(self, rows, facts):
        """Prints the table; arguments as in `save`."""
        show(self.columns, self._texts(rows))
        print(", ".join(f"{name}: {value}" for name, value in facts.items()))

    def save(self, folder, rows, facts):
        """Writes a csv and a Markdown file.

        Args:
            folder: `pathlib.Path`; made where it is missing.
            rows: list of dicts of the same keys, with those of the columns.
            facts: dict of strings, see `origin`.
        """
        folder.mkdir(parents=True, exist_ok=True)
        own = {name: facts[name] for name in ("date", "commit", "processor", "cores")}
        numbers = [{name: _number(value) for name, value in row.items()} for row in rows]
        write_csv(folder / f"{self.name}.csv", [row | own for row in numbers])
        write_text(folder / f"{self.name}.md", self._markdown(rows, facts))

    def _markdown(self, rows, facts):
        lines = "\n".join(f"- {name}: {value}" for name, value in facts.items())
        table = as_markdown(self.columns, self._texts(rows))
        return "\n\n".join([f"# {self.title}", self.notes, lines, table]) + "\n"

    def _texts(self, rows):
        return [[column(row) for column in self.columns.values()] for row in rows]


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

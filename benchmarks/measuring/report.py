"""The measured rows as a table on the terminal, as csv and as Markdown."""

import csv
import dataclasses
import datetime
import pathlib
import re
import typing

from agents.runs.records import provenance
from agents.system.files import write_csv, write_text
from agents.system.screen.text import as_markdown, folded, show

NOTES = """\
- Milliseconds: the median of the repeats [quartiles], by the clock named below. Processor
  time does not count other processes. The cases of a group were timed in turn in one
  process.
- Load: what the machine had to do in the minute before the end.
- GFLOP: the matrix products alone, from the layers' sizes; the backward pass counts twice
  the forward.
- Share of peak: of the speed of the fastest of several matrix products (squares, and shapes
  that occur) in the case's own type, timed in the same rounds.
- Time over reference: the median of the ratios of a round [quartiles]. The reference is the
  group's first case.
- Memory: the peak of a process of its own, with libraries."""
_FACT = re.compile(r"^- ([a-z][\w-]*): (.*)$", re.MULTILINE)  # notes have capitals


def origin(command):
    """Dict of lines that say where the numbers come from."""
    facts = provenance()
    libraries = facts.pop("libraries")
    now = datetime.datetime.now(datetime.UTC)
    return {"date": f"{now:%Y-%m-%d %H:%M} UTC", "command": command, **facts, **libraries}


def facts_on(page):
    """What stands on a page of `as_lines`."""
    return dict(_FACT.findall(page))


def rows_of(file):
    """Rows of a csv file as dicts of text, none where there is no file."""
    if not file.exists():
        return []
    with open(file, newline="") as lines:
        return list(csv.DictReader(lines))


def as_lines(facts):
    """The facts of `origin` and of a benchmark, in Markdown."""
    lines = "\n".join(f"- {name}: {value}" for name, value in facts.items())
    return f"Where the numbers come from:\n\n{lines}"


def text(name, form=""):
    """A column: the values of this name, empty where there is none."""
    return lambda row: _text(row[name], form)


def spread(name, form):
    """A column: values of this name with their quartiles, `name`_low and `name`_high."""

    def column(row):
        value, low, high = (_text(row[f"{name}{x}"], form) for x in ("", "_low", "_high"))
        return f"{value} [{low}, {high}]" if low else value

    return column


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


_WORDS = ("date", "commit", "processor")  # columns that are no numbers, even as 12e4567


@dataclasses.dataclass(frozen=True)
class Report:
    """How rows of one kind are shown and saved."""

    name: str  # of the files
    title: str  # of the Markdown file
    question: str  # that it answers
    answer: typing.Callable  # of rows and facts: a sentence, empty where it takes others
    is_shown: typing.Callable  # of a row: whether it stands in the first table
    shown: tuple  # headings of that table
    notes: str  # what the columns mean
    columns: dict  # heading -> function of a row to its text
    also: tuple = ()  # functions of the folder to parts of Markdown that end the page

    def show(self, rows, command, folder=None, **more):
        """Prints the table and where it comes from; saves them where `folder` says."""
        facts = origin(command) | more
        show(self.columns, self._texts(rows, self.columns))
        print(", ".join(f"{name}: {value}" for name, value in facts.items()))
        if folder:
            self.save(pathlib.Path(folder), rows, facts)

    def save(self, folder, rows, facts):
        """Writes a csv and a Markdown file of rows that have the keys of all columns."""
        folder.mkdir(parents=True, exist_ok=True)
        own = {name: facts[name] for name in (*_WORDS, "cores")}
        numbers = [{name: _number(value) for name, value in row.items()} for row in rows]
        write_csv(folder / f"{self.name}.csv", [row | own for row in numbers])
        self.remake(folder, facts)

    def remake(self, folder, facts=None):
        """Writes the Markdown file from the csv, so that both have the same digits.

        Without `facts` it keeps those on the earlier Markdown file.
        """
        folder = pathlib.Path(folder or "results")
        rows = [
            {name: word if name in _WORDS else _typed(word) for name, word in row.items()}
            for row in rows_of(folder / f"{self.name}.csv")
        ]
        file = folder / f"{self.name}.md"
        facts = facts or facts_on(file.read_text())
        parts = [self.page(rows, facts), *(part(folder) for part in self.also)]
        write_text(file, "\n".join(filter(None, parts)))

    def page(self, rows, facts):
        """The text of the Markdown file."""
        first = self._texts(filter(self.is_shown, rows), self.shown)
        every = self._texts(rows, self.columns)
        parts = [
            f"# {self.title}",
            self.question,
            self.answer(rows, facts),
            as_markdown(self.shown, first),
            folded("How it was measured", self.notes, as_lines(facts)),
            folded("All cases", as_markdown(self.columns, every) if every != first else ""),
        ]
        return "\n\n".join(filter(None, parts)) + "\n"

    def _texts(self, rows, names):
        return [[self.columns[name](row) for name in names] for row in rows]


def _text(value, form):
    return "" if value is None else f"{value:{form}}"


def _typed(word):
    """What a word of a csv file stands for."""
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            pass
    return word or None


def _number(value):
    return f"{value:.6g}" if isinstance(value, float) else value

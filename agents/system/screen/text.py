"""Tables and numbers as a person reads them, on a terminal or in Markdown."""

import math
import re

from rich.console import Console
from rich.markup import escape
from rich.table import Table

_NUMBER = re.compile(r"[-\d.,%†]*")
_WIDE = 10_000  # characters


def show(header, rows, title=None, console=None):
    """Prints a table; numbers get two decimals, and columns of them stand to the right.

    Example:
        >>> show(["what", "share"], [["all", 1.0], ["none", math.nan]])
        what  share
        all    1.00
        none      -
    """
    style = {"box": None, "title_justify": "left", "padding": (0, 2, 0, 0)}
    table = Table(title=title and escape(title), **style)
    rows = [[c if isinstance(c, str) else decimals(c) for c in row] for row in rows]
    for name, *cells in zip(header, *rows, strict=True):
        is_number = all(map(_NUMBER.fullmatch, cells))
        table.add_column(escape(name), justify="right" if is_number else "left")
    for row in rows:
        table.add_row(*map(escape, row))
    unbroken(console).print(table)


def make_console(**settings):
    """A console of Rich that shows names as they are: `python:eye:Eye` holds no emoji."""
    return Console(emoji=False, **settings)


def unbroken(console=None):
    """A console, by default of standard output, that breaks lines on terminals alone."""
    console = console or make_console()
    return console if console.is_terminal else make_console(file=console.file, width=_WIDE)


def as_markdown(header, rows):
    """A table of Markdown, whose cells are written as they are.

    Example:
        >>> print(as_markdown(["task", "n"], [["reacher_easy", 5]]))
        | task | n |
        | --- | --- |
        | reacher_easy | 5 |
    """
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def folded(summary, *parts):
    """A part of a Markdown page that a click opens; nothing where all of it is empty.

    It may hold no heading: the site nests what follows one, and would close the part there.

    Example:
        >>> print(folded("Weights", "All of them."))
        <details><summary>Weights</summary>
        <BLANKLINE>
        All of them.
        <BLANKLINE>
        </details>
    """
    text = "\n\n".join(filter(None, parts))
    start = f"<details><summary>{summary}</summary>"
    return f"{start}\n\n{text}\n\n</details>" if text else ""


def decimals(value):
    """A number with two decimals; a dash where it is not known."""
    return f"{value:.2f}" if math.isfinite(value) else "-"


def readable(value):
    """A number, whole ones without decimals; what never came is infinite."""
    if not math.isfinite(value):
        return "never"
    return f"{value:,.0f}" if value == int(value) else number(value)


def number(value):
    """A number with about three digits."""
    value = float(value)
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"

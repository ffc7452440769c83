"""Tables and numbers as text or Markdown, for a person."""

import math


def as_text(header, rows):
    """Lines up the cells of a table: the first column to the left, others to the right.

    Args:
        header: words, one for each column.
        rows: lists of words or numbers; numbers get two decimals, nan a dash.

    Returns:
        A text of a line for each row.

    Example:
        >>> print(as_text(["what", "share"], [["all", 1.0], ["none", math.nan]]))
        what  share
        all    1.00
        none      -
    """
    cells = [[_text(cell) for cell in row] for row in [header, *rows]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for first, *others in cells:
        right = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *right]).rstrip())
    return "\n".join(lines)


def as_markdown(header, rows):
    """A table of Markdown.

    Args:
        header: words, one for each column.
        rows: lists of cells, printed as they are.

    Example:
        >>> print(as_markdown(["task", "n"], [["reacher_easy", 5]]))
        | task | n |
        | --- | --- |
        | reacher_easy | 5 |
    """
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def _text(cell):
    if isinstance(cell, str):
        return cell
    return f"{cell:.2f}" if math.isfinite(cell) else "-"


def number(value):
    """A number with about three digits."""
    value = float(value)
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"

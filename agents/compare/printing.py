"""Tables of a comparison on the terminal."""

import math

from rich.console import Console
from rich.table import Table

from agents.progress import number


def show(tables, console):
    """Prints what a person compares.

    Args:
        tables: dict of name -> rows, as the functions above make them.
        console: a `rich.console.Console`.
    """
    if not console.is_terminal:  # lines in a file are not broken
        console = Console(file=console.file, width=max(160, console.width))
    if tables["scores"]:
        console.print(_score_table(tables["scores"], tables["published"]))
    if tables["improvement"]:
        console.print(_improvement_table(tables["improvement"]))
    if tables["exploration"]:
        console.print(_exploration_table(tables["exploration"]))


def _score_table(rows, others):
    table = _table("Scores: returns of evaluation episodes, mean weights, no noise")
    _columns(table, "task", "group", "n", "environment steps")
    _columns(table, "IQM [95 % interval]", "median (5 to 95 % spread)")
    for task in dict.fromkeys(row["task"] for row in rows):
        for row in (row for row in rows if row["task"] == task):
            low, high = number(row["spread_low"]), number(row["spread_high"])
            spread = f"({low} to {high}) of {row['evaluation_episodes']} episodes"
            table.add_row(
                task,
                row["group"],
                f"{row['seeds']}",
                f"{row['environment_steps']:,}",
                _interval(row, "iqm"),
                f"{number(row['median'])} {spread}",
            )
        for row in (row for row in others if row["task"] == task):
            span = f"{_text(row['low'])} to {_text(row['high'])}"
            table.add_row(
                task,
                f"{row['method']}, published",
                f"{row['seeds']}",
                f"{row['environment_steps']:,}",
                f"mean {number(row['mean'])}",
                "" if row["low"] is None else f"({span}: extremes of seeds)",
                style="dim",
            )
    return table


def _improvement_table(rows):
    table = _table("Probability that a run of one group scores more than one of the other")
    _columns(table, "group", "than", "n", "P [95 % interval]")
    for row in rows:
        cells = (row["group"], row["than"], row["seeds"], _interval(row, "probability"))
        table.add_row(*cells)
    return table


def _exploration_table(rows):
    table = _table("Exploration: medians and IQMs over seeds [95 % interval]")
    _columns(table, "task", "group", "n", "found reward", "first at episode")
    _columns(table, "environment steps", "coverage", "epistemic / aleatoric")
    for row in rows:
        table.add_row(
            row["task"],
            row["group"],
            f"{row['seeds']}",
            f"{row['found']} of {row['seeds']}",
            _interval(row, "first_reward_episode"),
            _interval(row, "first_reward_steps"),
            _interval(row, "coverage"),
            _interval(row, "epistemic_ratio"),
        )
    return table


def _table(title):
    return Table(title=title, box=None, title_justify="left", padding=(0, 2, 0, 0))


def _columns(table, *names):
    for name in names:
        right = name in ("n", "environment steps", "found reward")
        table.add_column(name, justify="right" if right else "left")


def _interval(row, name):
    value, low, high = (row[f"{name}{ending}"] for ending in ("", "_low", "_high"))
    if math.isnan(value):
        return ""
    return _text(value) + ("" if math.isnan(low) else f" [{_text(low)}, {_text(high)}]")


def _text(value):
    if value is None:
        return ""
    if not math.isfinite(value):
        return "never"
    return f"{value:,.0f}" if value == int(value) else number(value)

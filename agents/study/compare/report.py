"""The tables of a comparison as a person reads them: on the terminal and in Markdown."""

import math
from typing import NamedTuple

from agents.system.screen import text
from agents.system.screen.text import as_markdown, decimals, number

_SHOWN_STEPS = (1, 10, 50)  # agent steps ahead
_CENTRAL = ("central weights", "mean weights")  # the second in files of earlier versions
FEWEST_SEEDS = 5  # for an interval that deserves the name
FEW = "†"
FEW_NOTE = (
    f"{FEW} Fewer than {FEWEST_SEEDS} seeds. The IQM of three seeds is their mean, and an "
    "interval is about their range. For equal groups, the interval of a "
    "probability of improvement excludes 0.5 in one comparison of three (two seeds each) "
    "or of five (three seeds each)."
)
_REPEAT_NOTE = (
    "Published scores are of other protocols. A method with another action repeat solves "
    "another problem in the same environment steps."
)


class Table(NamedTuple):
    """A title, the names of the columns, and rows of text."""

    title: str
    columns: list
    rows: list


class Report(NamedTuple):
    """Tables, and what a reader of them has to know, a line each."""

    tables: list
    notes: list


def report(parts, notes=()):
    """The tables that have rows.

    Args:
        parts: dict of name -> rows, as `.tables` and `.measured` make them.
        notes: what was warned of.

    Returns:
        A `Report`.
    """
    found = [
        _scores(parts["scores"], parts["published"]),
        _improvement(parts["improvement"]),
        _exploration(parts["exploration"]),
        _probes(parts["probes"]),
        _calibration(parts["calibration"]),
        _spread(parts["spread"]),
    ]
    found = [table for table in found if table.rows]
    cells = [cell for table in found for row in table.rows for cell in row]
    own = [FEW_NOTE] if any(cell.endswith(FEW) for cell in cells) else []
    if parts["published"]:
        own.append(_REPEAT_NOTE)
    return Report(found, [*own, *notes])


def show(read, console):
    """Prints a `Report`.

    Args:
        read: the `Report`.
        console: a `rich.console.Console`.
    """
    console = text.unbroken(console)
    for each in read.tables:
        text.show(each.columns, each.rows, each.title, console)
    for note in read.notes:
        console.print(f"- {note}", markup=False, highlight=False)


def markdown(read):
    """A `Report` as a text of Markdown."""
    parts = [
        f"{each.title}\n\n{as_markdown(each.columns, each.rows)}" for each in read.tables
    ]
    return "\n\n".join([*parts, "\n".join(f"- {note}" for note in read.notes)]).strip()


def _scores(rows, others):
    columns = ["task", "group", "n", "environment steps", "action repeat"]
    columns += ["IQM [95 % interval]", "each seed", "median (5 to 95 % spread)"]
    columns += ["minutes a run"]
    cells = []
    for task in dict.fromkeys(row["task"] for row in rows):
        cells += [_score(row) for row in rows if row["task"] == task]
        cells += [_published(row) for row in others if row["task"] == task]
    title = "Scores: returns of evaluation episodes, mean weights, no noise"
    return Table(title, columns, cells)


def _score(row):
    low, high = number(row["spread_low"]), number(row["spread_high"])
    spread = f"({low} to {high}) of {row['evaluation_episodes']} episodes"
    return [
        *_start(row),
        f"{row['environment_steps']:,}",
        _text(row["action_repeat"]),
        _interval(row, "iqm"),
        row["each_seed"],
        f"{number(row['median'])} {spread}",
        f"{row['minutes']:.1f}",
    ]


def _published(row):
    span = f"({_text(row['low'])} to {_text(row['high'])}: extremes of seeds)"
    return [
        row["task"],
        f"{row['method']}, published",
        _text(row["seeds"]),
        f"{row['environment_steps']:,}",
        _text(row["action_repeat"]),
        f"mean {number(row['mean'])}",
        "",
        "" if row["low"] is None else span,
        "",
    ]


def _improvement(rows):
    title = (
        "Probability of improvement: how likely a run of one group scores more than one of "
        "the other. For equal groups, the interval of five seeds excludes 0.5 once in ten."
    )
    cells = [
        [
            row["group"],
            row["than"],
            row["tasks"],
            row["runs"] + _few(row),
            _interval(row, "probability"),
        ]
        for row in rows
    ]
    return Table(title, ["group", "than", "tasks", "runs", "P [95 % interval]"], cells)


def _exploration(rows):
    columns = {
        "reward by random actions": "found_before",
        "reward by plans": "found",
        "first rewarded episode": "first_reward_episode",
        "share of rewarded episodes": "rewarded_share",
        "a tenth of the highest return": "tenth_found",
        "first episode with a tenth": "tenth_episode",
        "return, last 10 episodes": "collected_return",
        "cost of an episode": "collected_cost",
        "coverage, all episodes": "coverage",
        "epistemic / aleatoric": "epistemic_ratio",
    }
    cells = [
        [
            *_start(row),
            f"{row['environment_steps']:,}",
            *(
                (_of_seeds if "found" in column else _interval)(row, column)
                for column in columns.values()
            ),
        ]
        for row in rows
    ]
    title = (
        "Exploration: episodes of training, with noise and bonus. Runs that found reward "
        "by random actions and by plans; first planned episodes as medians over seeds, "
        "other numbers as IQMs [95 % interval]."
    )
    return Table(title, ["task", "group", "n", "environment steps", *columns], cells)


def _of_seeds(row, name):
    return "" if row[name] is None else f"{row[name]} of {row['seeds']}"


def _probes(rows):
    """A row for each target, a column for each input and probe."""
    columns = dict.fromkeys((row["input"], row["probe"]) for row in rows)
    lines = {}
    for row in rows:
        acted = f"{row['actions']}, {row['environment_steps']:,} steps"
        key = (*_start(row), acted, row["target"])
        lines.setdefault(key, {})[row["input"], row["probe"]] = _range(row, "r_squared")
    cells = [
        [*key, *(line.get(column, "") for column in columns)] for key, line in lines.items()
    ]
    names = [" ".join(column).strip() for column in columns]
    title = "Probes: R squared on held-out episodes, median over seeds (lowest to highest)"
    return Table(title, ["task", "group", "n", "episodes of", "target", *names], cells)


def _calibration(rows):
    """Means over dimensions; of a run that was compared with, the central weights alone."""
    steps = {row["step"] for row in rows}
    nearest = (min(steps, key=lambda step: abs(step - at)) for at in _SHOWN_STEPS if steps)
    shown = sorted(set(nearest))
    lines = {}  # what is forecast -> the rows of its steps
    for row in rows:
        if row["judged"] == "run" or row["forecast"].endswith(_CENTRAL):
            ahead = f"{row['environment_steps']:,}"
            key = (*_start(row), row["actions"], row["forecast"], ahead)
            lines.setdefault(key, {})[row["step"]] = row
    columns = {f"coverage of {level} %": f"coverage_{level}" for level in (50, 80, 95)} | {
        "deviation at 80 %": "deviation_80",
        "NLL": "negative_log_likelihood",
    }
    cells = [
        [*key, *(_at(line, shown, column) for column in columns.values())]
        for key, line in lines.items()
    ]
    title = (
        "Prediction intervals: coverage of central intervals, mean deviation of the "
        "coverage of each dimension, and negative log likelihood (NLL, nats per "
        "dimension), "
        f"{', '.join(map(str, shown))} agent steps ahead in an open loop. Medians over "
        "seeds; their ranges are in calibration.csv."
    )
    names = ["actions", "forecast", "environment steps", *columns]
    return Table(title, ["task", "compared in runs of", "n", *names], cells)


def _spread(rows):
    """A row for each kind of uncertainty, a column for each measure of it."""
    columns = {
        "rank correlation with the error": "rank_correlation",
        "for the policy's steps": "rank_correlation_policy",
        "for random actions": "rank_correlation_random",
        "AUROC of unvisited regions": "auroc",
        "exponent of its decrease with visits": "exponent",
    }
    measured = {row["measure"] for row in rows}  # an earlier calibrate told less
    columns = {name: each for name, each in columns.items() if each in measured}
    lines = {}
    for row in rows:
        seen = f"{row['environment_steps']:,}", row["episodes"]
        key = (*_start(row), row["spread"], *seen)
        lines.setdefault(key, {})[row["measure"]] = _range(row, "value")
    cells = [
        [*key, *(line.get(measure, "") for measure in columns.values())]
        for key, line in lines.items()
    ]
    title = (
        "Uncertainty of one step: median over seeds (lowest to highest). Intervals over "
        "episodes are in each run's spread.csv."
    )
    return Table(
        title,
        ["task", "group", "n", "uncertainty", "environment steps", "episodes", *columns],
        cells,
    )


def _at(line, steps, column):
    """The values of some steps, one beside the other."""
    values = [line[step][column] if step in line else math.nan for step in steps]
    return ", ".join(map(decimals, values))


def _start(row):
    return row["task"], row["group"], f"{row['seeds']}{_few(row)}"


def _few(row):
    return FEW if row["seeds"] < FEWEST_SEEDS else ""


def _interval(row, name):
    value, low, high = (row[f"{name}{ending}"] for ending in ("", "_low", "_high"))
    if math.isnan(value):
        return ""
    return _text(value) + ("" if math.isnan(low) else f" [{_text(low)}, {_text(high)}]")


def _range(row, name):
    value, low, high = (row[f"{name}{ending}"] for ending in ("", "_lowest", "_highest"))
    several = row["seeds"] > 1 and not math.isnan(value)
    return decimals(value) + (f" ({decimals(low)} to {decimals(high)})" if several else "")


def _text(value):
    if value is None:
        return ""
    if not math.isfinite(value):
        return "never"
    return f"{value:,.0f}" if value == int(value) else number(value)

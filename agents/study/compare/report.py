"""The tables of a comparison as a person reads them: on the terminal and in Markdown."""

import math

import pandas as pd

from agents.study.compare.published import MOST_SHOWN, best
from agents.system.screen import text
from agents.system.screen.text import as_markdown, decimals, number, readable

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
_PUBLISHED_NOTE = (
    "Published scores are of other protocols. A method with another action repeat solves "
    "another problem in the same environment steps. These tables and figures show the "
    f"{MOST_SHOWN} best methods of a task; published.csv has all."
)


def report(parts, notes=()):
    """Those of some named tables that have rows, and what a reader of them has to know.

    They are pairs of a title and a `pandas.DataFrame` of text; and lines, with those given.
    """
    forms = {
        "scores": lambda table: _scores(table, parts["published"]),
        "improvement": _improvement,
        "exploration": _exploration,
        "probes": _probes,
        "calibration": _calibration,
        "spread": _spread,
    }
    found = [form(parts[name]) for name, form in forms.items() if len(parts[name])]
    found = [(title, cells) for title, cells in found if len(cells)]
    is_few = any(
        cells.map(lambda cell: str(cell).endswith(FEW)).any(axis=None) for _, cells in found
    )
    own = [FEW_NOTE] if is_few else []
    if len(parts["published"]):
        own.append(_PUBLISHED_NOTE)
    return found, [*own, *notes]


def show(tables, notes, console):
    """Prints a report on a `rich.console.Console`."""
    console = text.unbroken(console)
    for title, cells in tables:
        text.show(cells.columns, cells.to_numpy().tolist(), title, console)
    for note in notes:
        console.print(f"- {note}", markup=False, highlight=False)


def markdown(tables, notes):
    """A report as a text of Markdown."""
    parts = [
        f"{title}\n\n{as_markdown(cells.columns, cells.to_numpy())}"
        for title, cells in tables
    ]
    return "\n\n".join([*parts, "\n".join(f"- {note}" for note in notes)]).strip()


def _scores(table, others):
    """A row for each group of a task, and below them one for each of the best published."""
    cells = _start(table) | {
        "environment steps": _steps(table),
        "action repeat": _known(table["action_repeat"]),
        "IQM [95 % interval]": _interval(table, "iqm"),
        "each seed": table["each_seed"],
        "median (5 to 95 % spread)": table.apply(_median, axis=1),
        "minutes a run": table["minutes"].map("{:.1f}".format),
    }
    both = [pd.DataFrame(cells)]
    if len(others):
        shown = pd.concat(best(own) for _, own in others.groupby("task"))
        both.append(_published(shown))
    every = [own[own["task"] == task] for task in table["task"].unique() for own in both]
    title = "Scores: returns of evaluation episodes, mean weights, no noise"
    return title, pd.concat(every).fillna("")


def _median(row):
    low, high = number(row["spread_low"]), number(row["spread_high"])
    spread = f"({low} to {high}) of {row['evaluation_episodes']} episodes"
    return f"{number(row['median'])} {spread}"


def _published(table):
    """Their mean stands where ours have an IQM, their extremes where ours have a spread."""
    low, high = table["low"].map(readable), table["high"].map(readable)
    extremes = "(" + low + " to " + high + ": extremes of seeds)"
    cells = {
        "task": table["task"],
        "group": table["method"] + ", published",
        "n": _known(table["seeds"]),
        "environment steps": _steps(table),
        "action repeat": _known(table["action_repeat"]),
        "IQM [95 % interval]": "mean " + table["mean"].map(number),
        "median (5 to 95 % spread)": extremes.where(table["low"].notna(), ""),
    }
    return pd.DataFrame(cells)


def _improvement(table):
    title = (
        "Probability of improvement: how likely a run of one group scores more than one of "
        "the other. For equal groups, the interval of five seeds excludes 0.5 once in ten."
    )
    cells = table[["group", "than", "tasks"]].assign(
        runs=table["runs"] + _few(table),
        **{"P [95 % interval]": _interval(table, "probability")},
    )
    return title, cells


def _exploration(table):
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
    cells = _start(table) | {"environment steps": _steps(table)}
    for name, column in columns.items():
        cells[name] = (_of_seeds if "found" in column else _interval)(table, column)
    title = (
        "Exploration: episodes of training, with noise and bonus. Runs that found reward "
        "by random actions and by plans; first planned episodes as medians over seeds, "
        "other numbers as IQMs [95 % interval]."
    )
    return title, pd.DataFrame(cells)


def _of_seeds(table, name):
    counts = zip(table[name], table["seeds"], strict=True)
    return ["" if pd.isna(found) else f"{found} of {seeds}" for found, seeds in counts]


def _probes(table):
    """A row for each target, a column for each input and probe."""
    acted = table["actions"] + ", " + _steps(table) + " steps"
    cells = _start(table) | {"episodes of": acted, "target": table["target"]}
    columns = (table["input"] + " " + table["probe"]).str.strip()
    title = "Probes: R squared on held-out episodes, median over seeds (lowest to highest)"
    return title, _beside(cells, columns, _range(table, "r_squared")).fillna("")


def _calibration(table):
    """Means over dimensions; of a run that was compared with, the central weights alone."""
    steps = sorted(table["step"].unique())
    shown = sorted({min(steps, key=lambda step: abs(step - at)) for at in _SHOWN_STEPS})
    table = table[(table["judged"] == "run") | table["forecast"].str.endswith(_CENTRAL)]
    cells = _start(table) | {"actions": table["actions"], "forecast": table["forecast"]}
    cells |= {"environment steps": _steps(table)}
    columns = {f"coverage of {level} %": f"coverage_{level}" for level in (50, 80, 95)} | {
        "deviation at 80 %": "deviation_80",
        "NLL": "negative_log_likelihood",
    }
    found = pd.DataFrame(cells).drop_duplicates(ignore_index=True)
    for name, column in columns.items():
        of_steps = _beside(cells, table["step"], table[column]).reindex(columns=shown)
        found[name] = of_steps.map(decimals).agg(", ".join, axis=1)
    found = found.rename(columns={"group": "compared in runs of"})
    title = (
        "Prediction intervals: coverage of central intervals, mean deviation of the "
        "coverage of each dimension, and negative log likelihood (NLL, nats per "
        "dimension), "
        f"{', '.join(map(str, shown))} agent steps ahead in an open loop. Medians over "
        "seeds; their ranges are in calibration.csv."
    )
    return title, found


def _spread(table):
    """A row for each kind of uncertainty, a column for each measure of it."""
    columns = {
        "rank_correlation": "rank correlation with the error",
        "rank_correlation_policy": "for the policy's steps",
        "rank_correlation_random": "for random actions",
        "auroc": "AUROC of unvisited regions",
        "exponent": "exponent of its decrease with visits",
    }
    cells = _start(table) | {"uncertainty": table["spread"]}
    cells |= {"environment steps": _steps(table), "episodes": table["episodes"]}
    found = _beside(cells, table["measure"], _range(table, "value")).fillna("")
    measured = [name for name in columns if name in found]  # an earlier calibrate told less
    title = (
        "Uncertainty of one step: median over seeds (lowest to highest). Intervals over "
        "episodes are in each run's spread.csv."
    )
    return title, found[[*cells, *measured]].rename(columns=columns)


def _beside(cells, columns, values):
    """A row for each that differs from others, a column for each of `columns`, in order."""
    cells = pd.DataFrame(cells)
    order = cells.groupby([*cells], sort=False).ngroup()
    wide = values.groupby([order, columns]).last().unstack()[columns.unique()]
    return cells.drop_duplicates(ignore_index=True).join(wide)


def _start(table):
    """The first columns of most tables."""
    seeds = table["seeds"].map(str) + _few(table)
    return {"task": table["task"], "group": table["group"], "n": seeds}


def _steps(table):
    return table["environment_steps"].map("{:,}".format)


def _few(table):
    return (table["seeds"] < FEWEST_SEEDS).map({True: FEW, False: ""})


def _interval(table, name):
    columns = (table[f"{name}{ending}"] for ending in ("", "_low", "_high"))
    return [_with_edges(*each) for each in zip(*columns, strict=True)]


def _with_edges(value, low, high):
    if math.isnan(value):
        return ""
    edges = "" if math.isnan(low) else f" [{readable(low)}, {readable(high)}]"
    return readable(value) + edges


def _range(table, name):
    def form(row):
        value, low, high = (row[f"{name}{end}"] for end in ("", "_lowest", "_highest"))
        several = row["seeds"] > 1 and not math.isnan(value)
        extremes = f" ({decimals(low)} to {decimals(high)})" if several else ""
        return decimals(value) + extremes

    return table.apply(form, axis=1)


def _known(counts):
    return ["" if pd.isna(count) else readable(count) for count in counts]

"""One number of each seed as a dot, a line for each group: what curves do not tell."""

import numpy as np

from agents.study import statistics
from agents.study.figures.drawing import (
    DIVERGED,
    count_diverged,
    finish,
    panels,
    say,
    style,
    tidy,
    wrapped,
)

_APART = 0.15  # of a line's height: how far dots of seeds lie above and below it
# Without their ends bars would reach beyond their intervals.
_BAR = {"alpha": 0.3, "linewidth": 7, "solid_capstyle": "butt"}
_WIDTH = 46  # characters of a group's name


def final_scores(frames, seeds):
    """What each seed scores at the end; a panel for each task, None without scores."""
    steps = seeds["environment_steps"].map(lambda x: f"\n{x:,} environment steps")
    table = seeds.assign(title=seeds["task"] + steps, value=seeds["score"])
    return _iqms(frames, table, frames.runs, "return of evaluation episodes")


def costs(frames, found):
    """What an episode of training cost each seed; None where nothing costs."""
    costly = found.loc[found["collected_cost"] > 0, "task"]
    table = found.assign(title=found["task"], value=found["collected_cost"], diverged=False)
    unit = "reward lost in a planned episode of training"
    table = table[table["task"].isin(costly)]
    return _iqms(frames, table, frames.runs.loc[table["run"]], unit)


def _iqms(frames, table, runs, unit):
    if table.empty:
        return None
    figure, grid = _panels(table)
    for title, axes in grid.items():
        lines = [
            (group, f"n = {len(own)}{count_diverged(runs, own)}", own)
            for group, own in frames.by_group(table[table["title"] == title])
        ]
        _draw(axes, lines, statistics.interquartile_mean)
        low, high = axes.dataLim.intervalx
        low, high = min(low, 0), max(high, 0) or 1
        margin = 0.04 * (high - low)
        axes.set_xlim(low - margin, high + margin)
        axes.set_xlabel(unit)
        axes.set_title(title, fontsize="medium")
        tidy(axes, "")
    text = "Dots: seeds; bar: IQM and its 95 % bootstrap interval over seeds."
    say(figure, text + DIVERGED * bool(table["diverged"].any()))
    return figure


def first_rewards(frames, found):
    """When each seed found reward, and the median; a panel for each task."""
    told = found.dropna(subset=["first_reward_steps"])  # of a task all, or none
    if told.empty:
        return None
    firsts = told["first_reward_steps"]
    table = told.assign(title=told["task"], value=firsts, diverged=False)
    figure, grid = _panels(table)
    for task, axes in grid.items():
        of_task = table[table["task"] == task]
        last = of_task["environment_steps"].max()
        lines = [
            (group, f"{np.isfinite(own['value']).sum()} of {len(own)}", own)
            for group, own in frames.by_group(of_task)
        ]
        _draw(axes, lines, statistics.median, never=1.05 * last)
        finish(axes, "environment_steps", "")
        axes.set_xlim(0, 1.1 * last)
        axes.set_title(f"First reward, {task}", fontsize="medium")
    say(figure, "Dots: seeds; >: never; bar: median and its 95 % bootstrap interval.")
    return figure


def improvement(pairs):
    """How likely one group beats another, a line for each pair; None without pairs."""
    if pairs.empty:
        return None
    names = [_pair(pair) for pair in pairs.itertuples()]
    most = max(name.count("\n") + 1 for name in names)
    size = (8.0, 1.2 + (0.1 + 0.175 * most) * len(pairs))
    figure, grid = panels(["all"], columns=1, size=size)
    axes = grid["all"]
    for place, pair in enumerate(pairs.itertuples()):
        axes.plot(pair.probability, place, "o", color="#0072B2")
        edges = [pair.probability_low, pair.probability_high]
        axes.plot(edges, [place, place], color="#0072B2", linewidth=2)
    _name(axes, names)
    axes.axvline(0.5, color="0.6", linestyle="--")
    axes.set_xlim(0, 1.02)
    axes.set_xlabel("probability of improvement")
    tidy(axes, "")
    say(figure, "Dot: P(X > Y); line: its 95 % bootstrap interval over seeds.")
    return figure


def _pair(pair):
    ours, theirs = pair.runs.split(" and ")
    better = wrapped(f"{pair.group} ({ours} runs)", _WIDTH)
    return better + "\n" + wrapped(f"> {pair.than} ({theirs} runs)", _WIDTH)


def _panels(table):
    most = table.groupby("title")["place"].nunique().max()
    return panels(list(table["title"].unique()), columns=2, size=(6.4, 1.4 + 0.45 * most))


def _draw(axes, lines, statistic, never=np.inf):
    """A line for each group, the first on top; infinite values are drawn at `never`.

    Lines are (group, how many, rows of its seeds with `value` and `diverged`); a bar shows
    the statistic of the values, with its interval.
    """
    for place, (group, _, own) in enumerate(lines):
        colour, values = style(group)["color"], own["value"].to_numpy()
        middle = statistic(values), *statistics.interval([values], statistic)
        middle, low, high = (min(edge, never) for edge in middle)
        if not np.isnan(low):
            axes.plot([low, high], [place, place], color=colour, **_BAR)
        axes.plot([middle, middle], [place - 0.25, place + 0.25], color=colour, linewidth=2)
        # seeds that are alike stay visible
        apart = np.linspace(-_APART, _APART, len(values)) if len(values) > 1 else [0]
        for value, height, is_held in zip(values, apart, own["diverged"], strict=True):
            sign = "x" if is_held else "o" if np.isfinite(value) else ">"
            axes.plot(min(value, never), place + height, sign, color=colour, markersize=4)
    words = (", ".join(filter(None, [group.label, count])) for group, count, _ in lines)
    _name(axes, [wrapped(each, _WIDTH) for each in words])


def _name(axes, names):
    """Names lines, the first on top."""
    axes.set_yticks(range(len(names)), names, fontsize="small")
    axes.set_ylim(len(names) - 0.4, -0.6)

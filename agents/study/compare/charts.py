"""Charts of a comparison; each says its n and what its band or bar is.

Curves go over environment steps, or thresholds. Where curves tell less, each seed is a dot,
and each group a line.
"""

import collections
import itertools
import textwrap

import numpy as np

from agents.study import statistics
from agents.study.compare.published import FURTHEST, best, protocol
from agents.study.compare.scores import curves_of, held, scale
from agents.study.figures.drawing import (
    DIVERGED,
    band,
    count_diverged,
    count_seeds,
    finish,
    label,
    legends_below,
    panels,
    say,
    style,
    thin,
    tidy,
    wrapped,
)

_BAND = (
    "Line: IQM over seeds; band: its 95 % bootstrap interval, of two seeds and more; "
    "thin: each seed."
)
_MOST = 5  # groups of a panel whose bands and seeds can be told apart
_LINE_ALONE = f" Of more than {_MOST} groups: the line alone."
_SIZE = (5.6, 3.8)
_SIGNS = "sD^v*Ph<>XpdH81+"  # of published methods
_APART = 0.15  # of a line's height: how far dots of seeds lie above and below it
# Without their ends bars would reach beyond their intervals.
_BAR = {"alpha": 0.3, "linewidth": 7, "solid_capstyle": "butt"}
_WIDTH = 46  # characters of a group's name


def scores(frames, points, others):
    """Curves of evaluation scores, a panel for each task, with what was published."""
    figure, drawn = _curves(frames, points, "return of evaluation episodes")
    for run in frames.runs[frames.runs["diverged"]].itertuples():
        # a cross where it diverged, from where on its score is kept
        own = points[points["run"] == run.Index]
        last = own[own["environment_steps"] == run.evaluated]
        if len(last):
            colour = style(frames.groups[run.place])["color"]
            look = {"marker": "x", "color": colour, "markersize": 5}
            drawn[run.task].plot(last["environment_steps"], last["value"], **look)
    for task, axes in drawn.items():
        _published(axes, others[task])
        axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
    return _with_legends(figure, drawn)


def coverage(frames):
    """Curves of the share of a task's grid that was visited, a panel for each task."""
    points = frames.episodes.rename(columns={"explore/coverage": "value"})
    points = points[["place", "run", "environment_steps", "value"]].dropna()
    unit = "share of the task's grid visited"
    return _with_legends(*_curves(frames, held(frames, points), unit))


def sample_efficiency(frames, points, methods, unit):
    """IQM over seeds and tasks at each step; None where no group has all tasks.

    The methods have as many seeds of each task; `unit` is that of the scores.
    """
    if not methods:
        return None
    tasks = {}  # in order
    figure, grid = panels(["all"], columns=1, size=(6.4, 4.2))
    axes = grid["all"]
    for name in methods:
        curves = []
        for group, own in frames.by_group(points):
            if group.label == name:
                tasks[group.task] = scale(group.task) or 1.0
                of_seeds = own.assign(value=own["value"] / tasks[group.task])
                curves.append(curves_of(of_seeds))
        fewest = min(map(len, curves))
        curves = [each[:fewest] for each in curves]  # as in methods: all tasks weigh alike
        curve = statistics.sample_efficiency(curves)
        _band(axes, _group(frames, name), curve, _count(curves))
    finish(axes, "environment_steps", f"IQM of {unit}")
    title = textwrap.fill(f"Sample efficiency over {', '.join(tasks)}", 70)
    axes.set_title(title, fontsize="medium")
    legends_below(figure, grid)
    about = "band: its 95 % bootstrap interval, of two seeds and more."
    say(figure, f"Line: IQM over seeds and tasks; {about}")
    return figure


def profiles(frames, methods, unit):
    """The share of runs that score more than each threshold."""
    if not methods:
        return None
    highest = max(np.max(np.concatenate(own)) for own in methods.values())
    lowest = min(0.0, *(np.min(np.concatenate(own)) for own in methods.values()))
    thresholds = np.linspace(lowest, 1.05 * highest if highest > 0 else 1.0, 201)
    figure, grid = panels(["all"], columns=1, size=(6.4, 4.2))
    axes = grid["all"]
    for name, own in methods.items():
        share, low, high = statistics.performance_profile(own, thresholds)
        group = _group(frames, name)
        text = label(group, f"n = {_count(own)}")
        axes.step(thresholds, share, where="post", label=text, **style(group))
        band(axes, group, thresholds, low, high, step="post")
    axes.set_xlabel(f"threshold ({unit})")
    axes.set_ylim(0, 1.02)
    tidy(axes, "share of runs that score more")
    legends_below(figure, grid)
    say(figure, "Performance profiles; band: 95 % bootstrap interval at each threshold.")
    return figure


def _group(frames, label):
    """One of those of a label, which look alike."""
    return next(group for group in frames.groups if group.label == label)


def _curves(frames, points, unit):
    """A panel for each task that has curves; (None, {}) where none has any."""
    seeds = [(group, own, curves_of(own)) for group, own in frames.by_group(points)]
    if not seeds:
        return None, {}
    counts = collections.Counter(group.task for group, *_ in seeds)
    figure, grid = panels(list(counts), columns=3, size=_SIZE)
    for group, rows, own in seeds:
        axes, has_room = grid[group.task], counts[group.task] <= _MOST
        for steps, values in own if has_room and len(own) > 1 else []:
            axes.plot(steps, values, **thin(group))
        count = count_seeds(len(own)) + count_diverged(frames.runs, rows)
        _band(axes, group, statistics.sample_efficiency([own]), count, has_room)
    for task, axes in grid.items():
        axes.set_title(task)
        finish(axes, "environment_steps", unit)
    drawn = frames.runs["place"].isin(points["place"])
    ended = bool(frames.runs.loc[drawn, "diverged"].any())
    say(figure, _BAND + _LINE_ALONE * (max(counts.values()) > _MOST) + DIVERGED * ended)
    return figure, grid


def _with_legends(figure, drawn):
    """The figure, or None."""
    if drawn:
        legends_below(figure, drawn)
    return figure


def _band(axes, group, curve, count, with_band=True):
    steps, middle, low, high = curve
    if with_band:
        band(axes, group, steps, low, high)
    text = label(group, f"n = {count}")
    axes.plot(steps, middle, label=text, marker="o", markersize=2.5, **style(group))


def _published(axes, published):
    """The best methods: points in the runs' range, and the next one where it is not far."""
    last = axes.dataLim.x1
    furthest = last
    steps = published["environment_steps"]
    beyond = (steps > last).groupby(published["method"]).cumsum()
    shown = best(published[(steps <= FURTHEST * last) & (beyond < 2)])
    signs = dict(zip(published["method"].unique(), itertools.cycle(_SIGNS)))
    for method, points in shown.groupby("method", sort=False):
        furthest = max(furthest, points["environment_steps"].max())
        seeds, repeat = protocol(published[published["method"] == method])
        count = f", n = {seeds}" if seeds else ""
        repeat = f", action repeat {repeat}" if repeat else ""
        name = f"{method}, published mean{count}{repeat}"
        look = {"color": "0.45", "linestyle": ":", "linewidth": 1, "markersize": 4}
        look |= {"marker": signs[method], "label": name}
        axes.plot(points["environment_steps"], points["mean"], **look)
    axes.set_xlim(0, 1.05 * furthest)


def _count(tasks):
    """How many runs a list of each task's seeds holds."""
    if len(tasks) == 1:
        return count_seeds(len(tasks[0]))
    return f"{sum(map(len, tasks))} runs of {len(tasks)} tasks"


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
    figure, grid = _panels_of_lines(table)
    for title, axes in grid.items():
        lines = [
            (group, f"n = {len(own)}{count_diverged(runs, own)}", own)
            for group, own in frames.by_group(table[table["title"] == title])
        ]
        _draw_lines(axes, lines, statistics.interquartile_mean)
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
    figure, grid = _panels_of_lines(table)
    for task, axes in grid.items():
        of_task = table[table["task"] == task]
        last = of_task["environment_steps"].max()
        lines = [
            (group, f"{np.isfinite(own['value']).sum()} of {len(own)}", own)
            for group, own in frames.by_group(of_task)
        ]
        _draw_lines(axes, lines, statistics.median, never=1.05 * last)
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
    _name_lines(axes, names)
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


def _panels_of_lines(table):
    most = table.groupby("title")["place"].nunique().max()
    return panels(list(table["title"].unique()), columns=2, size=(6.4, 1.4 + 0.45 * most))


def _draw_lines(axes, lines, statistic, never=np.inf):
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
    _name_lines(axes, [wrapped(each, _WIDTH) for each in words])


def _name_lines(axes, names):
    """Names lines, the first on top."""
    axes.set_yticks(range(len(names)), names, fontsize="small")
    axes.set_ylim(len(names) - 0.4, -0.6)

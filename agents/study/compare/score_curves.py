"""Curves of a comparison; each says its n and what its band is."""

import collections
import itertools
import textwrap

import numpy as np

from agents.study import statistics
from agents.study.compare.published import FURTHEST, protocol
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
)

_BAND = (
    "Line: IQM over seeds; band: its 95 % bootstrap interval, of two seeds and more; "
    "thin: each seed."
)
_MOST = 5  # groups of a panel whose bands and seeds can be told apart
_LINES = f" Of more than {_MOST} groups: the line alone."
_SIZE = (5.6, 3.8)
_SIGNS = "sD^v*Ph<>Xpd"  # of published methods


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
    ended = frames.runs.loc[drawn, "diverged"].any()
    say(figure, _BAND + _LINES * (max(counts.values()) > _MOST) + DIVERGED * ended)
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
    """Points within the runs' range, and the next one where it is not far."""
    last = axes.dataLim.x1
    furthest = last
    steps = published["environment_steps"]
    beyond = (steps > last).groupby(published["method"]).cumsum()
    shown = published[(steps <= FURTHEST * last) & (beyond < 2)]
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

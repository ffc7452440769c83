"""Curves of a comparison; each says its n and what its band is."""

import collections
import itertools
import textwrap

import numpy as np

from agents.study import statistics
from agents.study.compare.ends import held
from agents.study.compare.published import FURTHEST
from agents.study.compare.scores import curve_of, scale, seed_curves
from agents.study.figures.drawing import (
    DIVERGED,
    count_seeds,
    diverged_of,
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


def scores(groups, others):
    """Curves of evaluation scores, a panel for each task, with what was published.

    Args:
        groups: list of `agents.runs.grouping.Group`.
        others: dict of task -> list of `agents.study.compare.published.Published`.
    """
    figure, drawn = _curves(groups, seed_curves, "return of evaluation episodes")
    for group in groups:
        _mark_diverged(drawn.get(group.task), group)
    for task, axes in drawn.items():
        _published(axes, others[task])
        axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
    return _with_legends(figure, drawn)


def coverage(groups):
    """Curves of the share of a task's grid that was visited, a panel for each task."""

    def curves(group):
        found = [
            (run, run.curve("environment_steps", "explore/coverage")) for run in group.runs
        ]
        return [held(run, *curve) for run, curve in found if curve is not None]

    return _with_legends(*_curves(groups, curves, "share of the task's grid visited"))


def sample_efficiency(groups, methods, unit):
    """IQM over seeds and tasks at each step; None where no group has all tasks.

    Args:
        groups: list of `agents.runs.grouping.Group`.
        methods: dict of label -> list with the scores of each task, [seeds], as many
            seeds for each.
        unit: of the scores.
    """
    if not methods:
        return None
    tasks = {}  # in order
    figure, grid = panels(["all"], columns=1, size=(6.4, 4.2))
    axes = grid["all"]
    for name in methods:
        own = [(group, seed_curves(group)) for group in groups if group.label == name]
        own = [(group, curves) for group, curves in own if curves]
        tasks |= dict.fromkeys(group.task for group, _ in own)
        curves = [
            [(steps, y / (scale(group.task) or 1.0)) for steps, y in found]
            for group, found in own
        ]
        fewest = min(map(len, curves))
        curves = [each[:fewest] for each in curves]  # as in methods: all tasks weigh alike
        _band(axes, own[0][0], statistics.sample_efficiency(curves), _count(curves))
    finish(axes, "environment_steps", f"IQM of {unit}")
    title = textwrap.fill(f"Sample efficiency over {', '.join(tasks)}", 70)
    axes.set_title(title, fontsize="medium")
    legends_below(figure, grid)
    band = "band: its 95 % bootstrap interval, of two seeds and more."
    say(figure, f"Line: IQM over seeds and tasks; {band}")
    return figure


def profiles(groups, methods, unit):
    """The share of runs that score more than each threshold.

    Args:
        groups: list of `agents.runs.grouping.Group`.
        methods: dict of label -> list with the scores of each task, [seeds].
        unit: of the scores.
    """
    if not methods:
        return None
    highest = max(np.max(np.concatenate(own)) for own in methods.values())
    lowest = min(0.0, *(np.min(np.concatenate(own)) for own in methods.values()))
    thresholds = np.linspace(lowest, 1.05 * highest if highest > 0 else 1.0, 201)
    figure, grid = panels(["all"], columns=1, size=(6.4, 4.2))
    axes = grid["all"]
    for name, own in methods.items():
        share, low, high = statistics.performance_profile(own, thresholds)
        group = next(group for group in groups if group.label == name)
        text = label(group, f"n = {_count(own)}")
        axes.step(thresholds, share, where="post", label=text, **style(group))
        band = {"color": style(group)["color"], "alpha": 0.2, "linewidth": 0}
        axes.fill_between(thresholds, low, high, step="post", **band)
    axes.set_xlabel(f"threshold ({unit})")
    axes.set_ylim(0, 1.02)
    tidy(axes, "share of runs that score more")
    legends_below(figure, grid)
    say(figure, "Performance profiles; band: 95 % bootstrap interval at each threshold.")
    return figure


def _curves(groups, curves, unit):
    """A panel for each task that has curves; (None, {}) where none has any."""
    seeds = [(group, curves(group)) for group in groups]
    seeds = [(group, own) for group, own in seeds if own]
    if not seeds:
        return None, {}
    tasks = list(dict.fromkeys(group.task for group, _ in seeds))
    figure, grid = panels(tasks, columns=3, size=_SIZE)
    counts = collections.Counter(group.task for group, _ in seeds)
    for group, own in seeds:
        axes, has_room = grid[group.task], counts[group.task] <= _MOST
        for steps, values in own if has_room and len(own) > 1 else []:
            axes.plot(steps, values, **thin(group))
        count = count_seeds(len(own)) + diverged_of(group.runs)
        _band(axes, group, curve_of(own), count, has_room)
    for task, axes in grid.items():
        axes.set_title(task)
        finish(axes, "environment_steps", unit)
    ended = any(run.diverged for group, _ in seeds for run in group.runs)
    say(figure, _BAND + _LINES * (max(counts.values()) > _MOST) + DIVERGED * ended)
    return figure, grid


def _mark_diverged(axes, group):
    """A cross where a run diverged, from where on its score is kept."""
    for run in group.runs if axes is not None else []:
        if run.diverged and run.scores:
            steps, returns = run.score_curve()
            look = {"marker": "x", "color": style(group)["color"], "markersize": 5}
            axes.plot(steps[-1:], np.nanmean(returns, axis=1)[-1:], **look)


def _with_legends(figure, drawn):
    """The figure, or None."""
    if drawn:
        legends_below(figure, drawn)
    return figure


def _band(axes, group, curve, count, with_band=True):
    steps, middle, low, high = curve
    if with_band:
        colour = style(group)["color"]
        axes.fill_between(steps, low, high, color=colour, alpha=0.2, linewidth=0)
    text = label(group, f"n = {count}")
    axes.plot(steps, middle, label=text, marker="o", markersize=2.5, **style(group))


def _published(axes, methods):
    """Points within the runs' range, and the next one where it is not far."""
    last = axes.dataLim.x1
    furthest = last
    for method, sign in zip(methods, itertools.cycle(_SIGNS)):
        points = [
            point for point in method.points if point.environment_steps <= FURTHEST * last
        ]
        beyond = [point for point in points if point.environment_steps > last]
        points = [point for point in points if point not in beyond[1:]]
        if not points:
            continue
        steps = [point.environment_steps for point in points]
        furthest = max(furthest, *steps)
        means = [point.mean for point in points]
        repeat = method.action_repeat
        repeat = f", action repeat {repeat}" if repeat else ""
        count = f", n = {method.seeds}" if method.seeds else ""
        name = f"{method.method}, published mean{count}{repeat}"
        look = {"color": "0.45", "linestyle": ":", "linewidth": 1, "markersize": 4}
        axes.plot(steps, means, marker=sign, label=name, **look)
    axes.set_xlim(0, 1.05 * furthest)


def _count(tasks):
    """How many runs a list of each task's seeds holds."""
    if len(tasks) == 1:
        return count_seeds(len(tasks[0]))
    return f"{sum(map(len, tasks))} runs of {len(tasks)} tasks"

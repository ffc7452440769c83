"""Figures of a comparison; each says its n and what its band is."""

import itertools
import textwrap

import numpy as np

from agents import statistics
from agents.compare.published import FURTHEST
from agents.compare.scores import curve_of, scale, seed_curves
from agents.figures.drawing import (
    count_seeds,
    finish,
    label,
    legends_below,
    panels,
    style,
    thin,
    tidy,
    wrapped,
)

_BAND = (
    "Line: IQM over seeds; band: its 95 % bootstrap interval, of two seeds and more; "
    "thin: each seed."
)
_SIZE = (5.6, 3.8)
_SIGNS = "sD^v*Ph<>Xpd"  # of published methods
_CHARACTERS = 14  # of a caption, in an inch


def scores(groups, others):
    """Curves of evaluation scores, a panel for each task, with what was published.

    Args:
        groups: list of `agents.runs.grouping.Group`.
        others: dict of task -> list of `agents.compare.published.Published`.
    """
    figure, drawn = _curves(groups, seed_curves, "return of evaluation episodes")
    for task, axes in drawn.items():
        _published(axes, others[task])
        axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
    return _with_legends(figure, drawn)


def coverage(groups):
    """Curves of the share of a task's grid that was visited, a panel for each task."""

    def curves(group):
        found = (run.curve("environment_steps", "explore/coverage") for run in group.runs)
        return [curve for curve in found if curve is not None]

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
    _say(figure, f"Line: IQM over seeds and tasks; {band}")
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
    _say(figure, "Performance profiles; band: 95 % bootstrap interval at each threshold.")
    return figure


def improvement(pairs):
    """How likely one group beats another, a line for each pair; None without pairs.

    Args:
        pairs: list of `agents.compare.pairs.Improvement`.
    """
    if not pairs:
        return None
    figure, grid = panels(["all"], columns=1, size=(8.0, 1.2 + 0.45 * len(pairs)))
    axes = grid["all"]
    for place, pair in enumerate(reversed(pairs)):
        axes.plot(pair.probability, place, "o", color="#0072B2")
        axes.plot([pair.lower, pair.upper], [place, place], color="#0072B2", linewidth=2)
    names = [
        f"{pair.better} ({pair.runs[0]} runs)\n> {pair.worse} ({pair.runs[1]} runs)"
        for pair in reversed(pairs)
    ]
    axes.set_yticks(range(len(pairs)), names, fontsize="small")
    axes.axvline(0.5, color="0.6", linestyle="--")
    axes.set_xlim(0, 1.02)
    axes.set_xlabel("probability of improvement")
    tidy(axes, "")
    _say(figure, "Dot: P(X > Y); line: its 95 % bootstrap interval over seeds.")
    return figure


def first_rewards(found):
    """When each seed found reward, and the median; a panel for each task.

    Args:
        found: dict of task -> list of `agents.compare.discovery.Exploration`.
    """
    found = {
        task: own for task, own in found.items() if own and all(e.is_rare for e in own)
    }
    if not found:
        return None
    most = max(map(len, found.values()))
    figure, grid = panels(list(found), columns=2, size=(6.4, 1.4 + 0.4 * most))
    for task, axes in grid.items():
        last = max(each.seen.max() for each in found[task])
        for place, each in enumerate(reversed(found[task])):
            _first_reward(axes, place, each, never=1.05 * last)
        names = [_found(each) for each in reversed(found[task])]
        axes.set_yticks(range(len(names)), names, fontsize="small")
        finish(axes, "environment_steps", "")
        axes.set_xlim(0, 1.1 * last)
        axes.set_ylim(-0.6, len(names) - 0.4)
        axes.set_title(f"First reward, {task}", fontsize="medium")
    _say(figure, "Dots: seeds; >: never; bar: median and its 95 % bootstrap interval.")
    return figure


def _first_reward(axes, place, each, never):
    colour = style(each.group)["color"]
    median, low, high = (min(edge, never) for edge in each.median_of(each.steps))
    if not np.isnan(low):
        axes.plot([low, high], [place, place], color=colour, alpha=0.3, linewidth=7)
    axes.plot([median, median], [place - 0.25, place + 0.25], color=colour, linewidth=2)
    # seeds that found it at the same time stay visible
    apart = place + 0.3 * (np.arange(len(each.steps)) / max(1, len(each.steps) - 1) - 0.5)
    for steps, height in zip(each.steps, apart, strict=True):
        sign = "o" if np.isfinite(steps) else ">"
        axes.plot(min(steps, never), height, sign, color=colour, markersize=4)


def _found(each):
    count = f"{each.found} of {len(each.steps)}"
    return wrapped(", ".join(filter(None, [each.group.label, count])), 40)


def _curves(groups, curves, unit):
    """A panel for each task that has curves; (None, {}) where none has any."""
    seeds = [(group, curves(group)) for group in groups]
    seeds = [(group, own) for group, own in seeds if own]
    if not seeds:
        return None, {}
    tasks = list(dict.fromkeys(group.task for group, _ in seeds))
    figure, grid = panels(tasks, columns=3, size=_SIZE)
    for group, own in seeds:
        axes = grid[group.task]
        for steps, values in own if len(own) > 1 else []:
            axes.plot(steps, values, **thin(group))
        _band(axes, group, curve_of(own), count_seeds(len(own)))
    for task, axes in grid.items():
        axes.set_title(task)
        finish(axes, "environment_steps", unit)
    _say(figure, _BAND)
    return figure, grid


def _with_legends(figure, drawn):
    """The figure, or None."""
    if drawn:
        legends_below(figure, drawn)
    return figure


def _band(axes, group, curve, count):
    steps, middle, low, high = curve
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


def _say(figure, text):
    lines = textwrap.fill(text, int(_CHARACTERS * figure.get_figwidth()))
    figure.suptitle(lines, fontsize="small")

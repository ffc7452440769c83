"""One number of each seed as a dot, a line for each group: what curves do not tell."""

import numpy as np

from agents.study import statistics
from agents.study.figures.drawing import (
    DIVERGED,
    diverged_of,
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


def final_scores(scores):
    """What each seed scores at the end; a panel for each task, None without scores.

    Args:
        scores: dict of task -> list of `agents.study.compare.scores.Scores`.
    """
    found = {
        f"{task}\n{own[0].steps:,} environment steps": [
            (each.group, each.seeds, [run in each.diverged for run in each.runs])
            for each in own
        ]
        for task, own in scores.items()
        if own
    }
    return _iqms(found, "return of evaluation episodes")


def costs(found):
    """What an episode of training cost each seed; None where nothing costs.

    Args:
        found: dict of task -> list of `agents.study.compare.discovery.Exploration`.
    """
    known = {
        task: [(each.group, each.cost, None) for each in own]
        for task, own in found.items()
        if any(np.any(each.cost > 0) for each in own)
    }
    return _iqms(known, "reward lost in a planned episode of training")


def _iqms(found, unit):
    if not found:
        return None
    figure, grid = _panels(found)
    for title, axes in grid.items():
        lines = [
            (group, f"n = {len(seeds)}{diverged_of(group.runs)}", seeds, _iqm(seeds))
            for group, seeds, _ in found[title]
        ]
        _draw(axes, lines, crossed=[crossed for *_, crossed in found[title]])
        low, high = axes.dataLim.intervalx
        low, high = min(low, 0), max(high, 0) or 1
        margin = 0.04 * (high - low)
        axes.set_xlim(low - margin, high + margin)
        axes.set_xlabel(unit)
        axes.set_title(title, fontsize="medium")
        tidy(axes, "")
    text = "Dots: seeds; bar: IQM and its 95 % bootstrap interval over seeds."
    any_crossed = any(np.any(each) for own in found.values() for *_, each in own)
    say(figure, text + DIVERGED * any_crossed)
    return figure


def _iqm(seeds):
    edges = statistics.interval([seeds], statistics.interquartile_mean)
    return statistics.interquartile_mean(seeds), *edges


def first_rewards(found):
    """When each seed found reward, and the median; a panel for each task.

    Args:
        found: dict of task -> list of `agents.study.compare.discovery.Exploration`.
    """
    found = {
        task: own for task, own in found.items() if own and all(e.is_rare for e in own)
    }
    if not found:
        return None
    figure, grid = _panels(found)
    for task, axes in grid.items():
        last = max(each.seen.max() for each in found[task])
        lines = [
            (
                each.group,
                f"{each.found} of {len(each.steps)}",
                each.steps,
                each.median_of(each.steps),
            )
            for each in found[task]
        ]
        _draw(axes, lines, never=1.05 * last)
        finish(axes, "environment_steps", "")
        axes.set_xlim(0, 1.1 * last)
        axes.set_title(f"First reward, {task}", fontsize="medium")
    say(figure, "Dots: seeds; >: never; bar: median and its 95 % bootstrap interval.")
    return figure


def improvement(pairs):
    """How likely one group beats another, a line for each pair; None without pairs.

    Args:
        pairs: list of `agents.study.compare.tables.Improvement`.
    """
    if not pairs:
        return None
    names = [_pair(pair) for pair in pairs]
    most = max(name.count("\n") + 1 for name in names)
    size = (8.0, 1.2 + (0.1 + 0.175 * most) * len(pairs))
    figure, grid = panels(["all"], columns=1, size=size)
    axes = grid["all"]
    for place, pair in enumerate(pairs):
        axes.plot(pair.probability, place, "o", color="#0072B2")
        axes.plot([pair.lower, pair.upper], [place, place], color="#0072B2", linewidth=2)
    _name(axes, names)
    axes.axvline(0.5, color="0.6", linestyle="--")
    axes.set_xlim(0, 1.02)
    axes.set_xlabel("probability of improvement")
    tidy(axes, "")
    say(figure, "Dot: P(X > Y); line: its 95 % bootstrap interval over seeds.")
    return figure


def _pair(pair):
    better = wrapped(f"{pair.better} ({pair.runs[0]} runs)", _WIDTH)
    return better + "\n" + wrapped(f"> {pair.worse} ({pair.runs[1]} runs)", _WIDTH)


def _panels(found):
    most = max(map(len, found.values()))
    return panels(list(found), columns=2, size=(6.4, 1.4 + 0.45 * most))


def _draw(axes, lines, never=np.inf, crossed=None):
    """A line for each group, the first on top.

    Args:
        axes: of matplotlib.
        lines: list of (group, how many, value of each seed, (middle, lower, upper)).
        never: where values that are infinite are drawn.
        crossed: for each line the seeds that diverged, or None.
    """
    crossed = crossed or [None] * len(lines)
    for place, (group, _, values, middle) in enumerate(lines):
        colour = style(group)["color"]
        middle, low, high = (min(edge, never) for edge in middle)
        if not np.isnan(low):
            axes.plot([low, high], [place, place], color=colour, **_BAR)
        axes.plot([middle, middle], [place - 0.25, place + 0.25], color=colour, linewidth=2)
        # seeds that are alike stay visible
        apart = np.linspace(-_APART, _APART, len(values)) if len(values) > 1 else [0]
        ended = np.zeros(len(values), bool) if crossed[place] is None else crossed[place]
        for value, height, is_held in zip(values, apart, ended, strict=True):
            sign = "x" if is_held else "o" if np.isfinite(value) else ">"
            axes.plot(min(value, never), place + height, sign, color=colour, markersize=4)
    words = (", ".join(filter(None, [group.label, count])) for group, count, *_ in lines)
    _name(axes, [wrapped(each, _WIDTH) for each in words])


def _name(axes, names):
    """Names lines, the first on top."""
    axes.set_yticks(range(len(names)), names, fontsize="small")
    axes.set_ylim(len(names) - 0.4, -0.6)

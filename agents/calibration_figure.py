"""The figure of `bayes-rl calibrate`: do intervals hold what they say?"""

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from agents.calibration import LEVELS
from agents.files import replacing

_LEVEL = 0.8  # of the interval whose coverage is drawn over the horizon


def save(file, curves, title):
    """Draws reliability, coverage and likelihood; a row of panels for each kind of actions.

    Args:
        file: path of the PNG; its folder is made where it is missing.
        curves: list of `agents.calibrating.Curves`.
        title: of the figure.
    """
    kinds = list(dict.fromkeys(each.actions for each in curves))
    figure = Figure(figsize=(12, 3.4 * len(kinds) + 0.8), layout="constrained")
    grid = figure.subplots(len(kinds), 3, squeeze=False)
    colours = {each.label: f"C{n}" for n, each in enumerate(_firsts(curves))}
    for kind, axes in zip(kinds, grid, strict=True):
        for each in curves:
            if each.actions == kind:
                _draw(axes, each, colours[each.label])
        _finish(axes, kind)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    figure.suptitle(f"{title}; bands: 95 % over episodes", fontsize="medium")
    FigureCanvasAgg(figure)
    file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(file) as handle:
        figure.savefig(handle, format="png", dpi=120)


def _firsts(curves):
    return {each.label: each for each in curves}.values()


def _draw(axes, curves, colour):
    reliability, coverage, likelihood = axes
    reliability.plot(
        LEVELS, curves.coverage[0].mean(axis=0), color=colour, label=curves.label
    )
    level = int(np.argmin(np.abs(np.array(LEVELS) - _LEVEL)))
    for panel, (mean, low, high) in (
        (coverage, [each[:, level] for each in curves.coverage]),
        (likelihood, curves.negative_log_likelihood),
    ):
        panel.fill_between(curves.steps, low, high, color=colour, alpha=0.15, linewidth=0)
        panel.plot(curves.steps, mean, color=colour)


def _finish(axes, kind):
    reliability, coverage, likelihood = axes
    line = {"color": "0.4", "linestyle": "--", "linewidth": 1}
    reliability.plot([0, 1], [0, 1], **line)
    reliability.set(
        xlim=(0, 1),
        ylim=(0, 1),
        xlabel="probability of the interval",
        ylabel="observations inside, all steps",
        title=f"actions: {kind}",
    )
    coverage.axhline(_LEVEL, **line)
    coverage.set(ylim=(0, 1), ylabel=f"observations inside {_LEVEL:.0%} interval")
    likelihood.set(ylabel="negative log likelihood\n(nats per dimension)")
    for panel in (coverage, likelihood):
        panel.set_xlabel("agent steps without observations")
    for panel in axes:
        panel.grid(alpha=0.25)
        panel.spines[["top", "right"]].set_visible(False)

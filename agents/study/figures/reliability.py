"""The figures of `bayes-rl calibrate`: do intervals hold, and what is a spread worth?"""

import math

import numpy as np
from matplotlib.figure import Figure

from agents.study.figures.drawing import legend_of_all, save_figure, tidy
from agents.study.insight.calibration import LEVELS
from agents.study.insight.spread_worth import VISITS

_LEVEL = 0.8  # of the interval that is drawn over all steps ahead
_COVERAGE, _DEVIATION = "coverage_80", "deviation_80"
_EDGES = ("value", "low", "high")


def save(file, curves, title):
    """Draws reliability, coverage, deviation, likelihood; a row for each kind of actions.

    The curves are `agents.study.insight.calibration.Curves`. Thick lines are means over
    dimensions. Thin lines in the first panel are single dimensions, of the first run's
    forecast by the most draws: where they lie on both sides of the diagonal, errors cancel
    in the thick line, and the deviation shows them.
    """
    kinds = list(dict.fromkeys(each.actions for each in curves))
    figure = Figure(figsize=(15, 3.4 * len(kinds) + 0.8), layout="constrained")
    grid = figure.subplots(len(kinds), 4, squeeze=False)
    labels = dict.fromkeys(each.label for each in curves)
    colours = {label: f"C{n}" for n, label in enumerate(labels)}
    for kind, axes in zip(kinds, grid, strict=True):
        own = [each for each in curves if each.actions == kind]
        for each in own:
            _draw(axes, each, colours[each.label])
        of_first = [each for each in own if each.name == own[0].name]
        most = max(of_first, key=lambda each: each.draws)
        inside = most.scores.coverage.mean(axis=(0, 1))  # [levels, D]
        if inside.shape[1] > 1:
            thin = {"color": colours[most.label], "linewidth": 0.6, "alpha": 0.5}
            axes[0].plot(LEVELS, inside, **thin)
        _finish(axes, kind)
    legend_of_all(figure, grid[0, :1], ncols=4)
    bands = "thin: single dimensions; bands: 95 % over episodes"
    figure.suptitle(f"{title}; {bands}", fontsize="medium")
    save_figure(figure, file)


def _draw(axes, curves, colour):
    reliability, coverage, deviation, likelihood = axes
    inside = curves.scores.coverage.mean(axis=(0, 1, 3))
    reliability.plot(LEVELS, inside, color=colour, label=curves.label)
    steps, columns = curves.steps, curves.summary
    for panel, name in ((coverage, _COVERAGE), (likelihood, "negative_log_likelihood")):
        low, high = columns[f"{name}_low"], columns[f"{name}_high"]
        panel.fill_between(steps, low, high, color=colour, alpha=0.15, linewidth=0)
        panel.plot(steps, columns[name], color=colour)
    deviation.plot(steps, columns[_DEVIATION], color=colour)


def _finish(axes, kind):
    reliability, coverage, deviation, likelihood = axes
    line = {"color": "0.4", "linestyle": "--", "linewidth": 1}
    reliability.plot([0, 1], [0, 1], **line)
    reliability.set(xlim=(0, 1), ylim=(0, 1), title=f"actions: {kind}")
    coverage.axhline(_LEVEL, **line)
    coverage.set(ylim=(0, 1))
    deviation.set(ylim=(0, None))
    level = f"{_LEVEL:.0%}"
    labels = {
        reliability: "observations inside, all steps",
        coverage: f"observations inside {level} interval",
        deviation: f"distance from {level},\nmean over dimensions",
        likelihood: "negative log likelihood\n(nats per dimension)",
    }
    for panel, unit in labels.items():
        tidy(panel, unit)
        panel.set_xlabel("agent steps without observations")
    reliability.set_xlabel("probability of the interval")


def save_worth(file, worth, title):
    """Draws what spreads are worth: correlation, AUROC, and how they shrink with data.

    That is a list of (name of a run, row), rows as in `spread.csv`.
    """
    figure = Figure(figsize=(13, 4), layout="constrained")
    panels = figure.subplots(1, 3)
    lines = {}
    for name, row in worth:
        lines.setdefault(f"{name}, {row['spread']}", {})[row["measure"]] = row
    correlation, auroc, shrinking = panels
    for number, (label, measures) in enumerate(lines.items()):
        style = {"color": f"C{number}", "label": label, "marker": "o", "capsize": 3}
        for panel, name in ((correlation, "rank_correlation"), (auroc, "auroc")):
            _errorbar(panel, [number], [measures.get(name)], style)
        known = [measures.get(f"spread_{least}") for least in VISITS]
        values = [row["value"] for row in known if row]
        most = max(filter(math.isfinite, values), default=1.0)
        scaled = [row and row | {k: row[k] / most for k in _EDGES} for row in known]
        _errorbar(shrinking, range(len(VISITS)), scaled, style)
    for panel, chance, unit in (
        (correlation, 0.0, "rank correlation of spread and error"),
        (auroc, 0.5, "AUROC: unvisited from visited states"),
    ):
        panel.axhline(chance, color="0.4", linestyle="--", linewidth=1)
        panel.set(xticks=[])
        tidy(panel, unit)
    ranges = [str(VISITS[0]), *(f"{least}+" for least in VISITS[1:])]
    shrinking.set(xticks=range(len(VISITS)), xticklabels=ranges)
    shrinking.set(xlabel="rows of training in the cell of the state", yscale="log")
    tidy(shrinking, "median spread, over its largest")
    legend_of_all(figure, [correlation], ncols=4)
    figure.suptitle(f"{title}; bars: 95 % over episodes", fontsize="medium")
    save_figure(figure, file)


def _errorbar(panel, places, rows, style):
    """Points with their intervals; rows that are missing or nan are left out."""
    pairs = zip(places, rows, strict=True)
    known = [(x, row) for x, row in pairs if row and math.isfinite(row["value"])]
    if not known:
        return
    value, low, high = (np.array([row[key] for _, row in known]) for key in _EDGES)
    off = np.abs(np.nan_to_num([value - low, high - value]))
    panel.errorbar([x for x, _ in known], value, off, **style)

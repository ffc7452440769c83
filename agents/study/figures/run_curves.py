"""Figures of runs, drawn from their files alone.

Thin lines are seeds, a thick line is the median over them. Colours are groups of runs
whose config is equal but for the seed.
"""

import os
import pathlib

import numpy as np

from agents.runs.grouping import arrange
from agents.runs.history import load
from agents.runs.metrics import of_chart
from agents.study import statistics
from agents.study.figures.drawing import (
    band,
    count_seeds,
    finish,
    label,
    legend_of_all,
    legends_below,
    panels,
    save,
    style,
    thin,
)
from agents.system.errors import UserError
from agents.system.files import output_folder


def plot(runs, out=None):
    """Draws score, weight KL, weight stddev, return, loss and value curves as PNG files.

    Those go to `out`, or to `figures` in the run, or in the common parent of several runs.
    Returns their paths; a figure without data is left out.

    Raises:
        UserError: a folder is no run, nothing was recorded in it yet, or `out` is a file.
    """
    folders = [runs] if isinstance(runs, (str, os.PathLike)) else list(runs)
    if not folders:
        raise UserError("no runs to plot; give the folder of at least one run")
    named = {folder.resolve(): folder for folder in map(pathlib.Path, folders)}
    loaded = [load(folder) for folder in named.values()]  # a run may be named twice
    groups = arrange(loaded)
    folder = output_folder(out or _default_out(loaded))
    figures = {"scores": _scores(groups), "returns": _returns(groups)}
    tasks = _tasks(groups)
    for task in tasks:
        own = [group for group in groups if group.task == task]
        ending = f"_{task}" if len(tasks) > 1 else ""
        figures |= {f"{name}{ending}": figure for name, figure in _training(own).items()}
    return save(figures, folder)


def _training(groups):
    """Figures of what training did to one task's runs."""
    kl, stddev, ratio = "train/weight_kl/", "train/weight_stddev/", "train/weight_ratio/"
    rows = [row for group in groups for run in group.runs for row in run.metrics]
    names = dict.fromkeys(key for row in rows for key in row)
    layers = [name.removeprefix(stddev) for name in names if name.startswith(stddev)]
    kls = {"train/weight_kl": "all layers"}
    kls |= {name: name.removeprefix(kl) for name in names if name.startswith(kl)}
    stddevs = {stddev + layer: f"stddev, {layer}" for layer in layers}
    ratios = {ratio + layer: f"stddev / size, {layer}" for layer in layers}
    return {
        "losses": _grid(groups, of_chart("losses"), columns=2),
        "value": _grid(groups, of_chart("value")),
        "weight_kl": _grid(groups, kls, "weight KL (nats)"),
        "weight_stddev": _grid(groups, stddevs | ratios, columns=len(layers)),
    }


def _default_out(runs):
    if len(runs) == 1:
        return runs[0].folder / "figures"
    return pathlib.Path(os.path.commonpath([r.folder.absolute() for r in runs]), "figures")


def _scores(groups):
    groups = [group for group in groups if any(run.scores for run in group.runs)]
    if not groups:
        return None
    figure, grid = panels(_tasks(groups), columns=3, size=(5.6, 3.8))
    for task, axes in grid.items():
        for group in groups:
            if group.task == task:
                _score(axes, group)
        axes.set_title(task)
        axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
        finish(axes, "environment_steps", "return of evaluation episodes")
    legends_below(figure, grid)
    figure.suptitle(
        "Line: median; band: spread, 5 to 95 %, over seeds and evaluation episodes,\n"
        "as far as all seeds have come. Thin: median of each seed.",
        fontsize="small",
    )
    return figure


def _score(axes, group):
    seeds = [curve for run in group.runs if (curve := run.score_curve()) is not None]
    if len(seeds) > 1:
        for steps, returns in seeds:
            axes.plot(steps, np.nanmedian(returns, axis=1), **thin(group))
    steps, returns = statistics.align(_widen(seeds))
    counts = (~np.isnan(returns)).sum(axis=2)
    least, most = counts.min(initial=counts.max(initial=0)), counts.max(initial=0)
    episodes = f"{least}" if least == most else f"{least} to {most}"
    name = label(group, f"n = {count_seeds(len(seeds))} x {episodes} episodes")
    median, low, high = statistics.spread(returns)
    band(axes, group, steps, low, high)
    axes.plot(steps, median, label=name, marker="o", markersize=3, **style(group))


def _widen(seeds):
    """Gives all seeds equally many evaluation episodes; those that are not are nan."""
    width = max(returns.shape[1] for _, returns in seeds)
    return [
        (steps, np.pad(rows, [(0, 0), (0, width - rows.shape[1])], constant_values=np.nan))
        for steps, rows in seeds
    ]


def _returns(groups):
    x, key = "environment_steps", "collect/return"
    groups = [group for group in groups if any(run.curve(x, key) for run in group.runs)]
    if not groups:
        return None
    figure, grid = panels(_tasks(groups), columns=3, size=(5.6, 3.8))
    for task, axes in grid.items():
        for group in groups:
            if group.task == task:
                _lines(axes, group, x, key)
        axes.set_title(task)
        finish(axes, x, "return of collected episodes")
    legends_below(figure, grid)
    return figure


def _grid(groups, titles, unit="", columns=3):
    """One panel for each metric; None where no run has any of them."""
    runs = [run for group in groups for run in group.runs]
    keys = [key for key in titles if any(run.curve("train_steps", key) for run in runs)]
    if not keys:
        return None
    figure, grid = panels(keys, columns, size=(3.8, 2.7))
    for key, axes in grid.items():
        for group in groups:
            _lines(axes, group, "train_steps", key)
        axes.set_title(titles[key], fontsize="medium")
        finish(axes, "train_steps", unit)
        _limit(axes)
    legend_of_all(figure, grid.values(), fontsize="small", frameon=False)
    if groups[0].task:
        figure.suptitle(groups[0].task)
    return figure


def _lines(axes, group, x, key):
    """Draws each seed, and their median where there are several."""
    seeds = [curve for run in group.runs if (curve := run.curve(x, key)) is not None]
    if not seeds:
        return
    if len(seeds) == 1:
        axes.plot(*seeds[0], label=label(group, "n = 1 seed"), **style(group))
        return
    for steps, values in seeds:
        axes.plot(steps, values, **thin(group))
    steps, values = statistics.align(seeds)
    name = label(group, f"median, n = {count_seeds(len(seeds))}")
    axes.plot(steps, np.median(values, axis=1), label=name, **style(group))


def _limit(axes):
    """Keeps single spikes from flattening a panel, and says so."""
    lines = [line.get_ydata() for line in axes.get_lines()]
    values = np.concatenate([line[np.isfinite(line)] for line in lines] or [[]])
    if not len(values):
        return
    low, high = np.percentile(values, [2, 98])
    room = 0.15 * (high - low)
    beyond = int(((values < low - room) | (values > high + room)).sum())
    if high > low and np.ptp(values) > 4 * (high - low):
        axes.set_ylim(low - room, high + room)
        text = f"{beyond} of {len(values)} points outside"
        place = {"ha": "right", "va": "top", "transform": axes.transAxes}
        axes.text(0.98, 0.97, text, fontsize="x-small", color="0.4", **place)


def _tasks(groups):
    return list(dict.fromkeys(group.task for group in groups))

"""Figures beside films: strips of frames, and curves where observations are vectors."""

import pathlib

import numpy as np
from matplotlib.figure import Figure

from agents.drawing import panels, save_figure, tidy

_FRAME = 1.1  # inches, width of a frame in a strip
_TITLE = 0.4  # inches, of a strip
_COLUMNS = 3  # panels of curves side by side
_LEGEND = 7  # inches that the legend of curves needs


def save_strip(folder, name, rows, columns, title=""):
    """Saves frames beside each other, a row of them for each kind.

    Args:
        folder: where to; made where it is missing.
        name: of the file, without ending.
        rows: dict of name -> frames [K, height, width, 3], uint8.
        columns: K names.
        title: of the figure.

    Returns:
        The path of `<name>.png`.
    """
    height = (_FRAME + 0.1) * len(rows) + (_TITLE if title else 0)
    figure = Figure(figsize=(_FRAME * len(columns) + 0.9, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.01, h_pad=0.01, wspace=0.01, hspace=0.01)
    grid = figure.subplots(len(rows), len(columns), squeeze=False)
    for axes_row, (row, frames) in zip(grid, rows.items(), strict=True):
        axes_row[0].set_ylabel(row)
        for axes, frame in zip(axes_row, frames, strict=True):
            axes.imshow(frame, interpolation="nearest")
            axes.set(xticks=[], yticks=[])
    for axes, column in zip(grid[0], columns, strict=True):
        axes.set_title(column, fontsize="medium")
    figure.suptitle(title, fontsize="medium")
    return save_figure(figure, pathlib.Path(folder) / f"{name}.png")


def save_state_prediction(folder, name, truth, predictions, context, labels):
    """Saves curves of predicted against true observations, one panel each.

    Args:
        folder: where to; made where it is missing.
        name: of the file, without ending.
        truth: [T, D].
        predictions: [S, T, D], one open-loop prediction for each weight draw.
        context: number of rows that the model saw, from 1 to T.
        labels: D names.

    Returns:
        The path of `<name>.png`.
    """
    truth, predictions = np.asarray(truth), np.asarray(predictions)
    if truth.ndim != 2 or predictions.ndim != 3 or predictions.shape[1:] != truth.shape:
        raise ValueError(
            f"predictions need the shape [draws, {', '.join(map(str, truth.shape))}], "
            f"got {predictions.shape}"
        )
    if len(labels) != truth.shape[1]:
        raise ValueError(f"{truth.shape[1]} dimensions need as many labels, got {labels}")
    check_context(context, len(truth))
    figure = _curves(truth, predictions, context, labels)
    return save_figure(figure, pathlib.Path(folder) / f"{name}.png")


def check_context(context, most):
    """Raises a ValueError where the context is not from 1 to `most` rows."""
    if not 1 <= context <= most:
        raise ValueError(f"context must be from 1 to {most} rows, got {context}")


def _curves(truth, predictions, context, labels):
    draws, length, size = predictions.shape
    columns = min(size, _COLUMNS)
    figure, grid = panels(range(size), columns, (max(4, _LEGEND / columns), 2.2))
    time = np.arange(1, length + 1)
    mean, stddev = predictions.mean(axis=0), predictions.std(axis=0)
    for dimension, axes in grid.items():
        column = (slice(None), dimension)
        axes.axvspan(0.5, context + 0.5, color="0.92", label="seen")
        if draws > 1:
            low, high = (mean + sign * 2 * stddev for sign in (-1, 1))
            axes.fill_between(
                time,
                low[column],
                high[column],
                color="C0",
                alpha=0.25,
                linewidth=0,
                label=f"± 2 stddev over {draws} weight draws",
            )
        axes.plot(time, mean[column], color="C0", label="prediction")
        axes.plot(time, truth[column], color="black", linestyle="--", label="truth")
        axes.set_title(labels[dimension], fontsize="medium")
        axes.set_xlim(0.5, length + 0.5)
        tidy(axes, "")
        if dimension >= size - columns:
            axes.set_xlabel("agent step")
    handles, names = grid[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(names))
    return figure

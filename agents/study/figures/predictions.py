"""What a world model predicts in open loop, beside what came: films or curves."""

import pathlib

import numpy as np

from agents.episodes.layout import first_rows
from agents.planet.model.networks import is_image
from agents.study.figures.drawing import panels, save_figure, tidy
from agents.study.figures.films import save_open_loop_video
from agents.study.insight.forecasts import ForecastTimes, broadest
from agents.study.insight.latents import CONTEXT, DRAWS, PREDICTED, predict_open_loop
from agents.system.seeds import fold
from bayes_rl.weights import posteriors

_MOST = 24  # panels of curves
_COLUMNS = 3  # panels of curves side by side
_LEGEND = 7  # inches that the legend of curves needs
LEVEL = 0.95  # of the interval that is drawn


def save_state_prediction(folder, name, truth, predictions, context, labels, interval=None):
    """Saves curves of predicted against true observations, one panel each, of 24 at most.

    The truth is [T, D], with D labels; open-loop predictions are [S, T, D], one for each
    weight draw. The model saw the first `context` rows. The interval has a lower and an
    upper edge of where `LEVEL` of the truths are expected, [T, D], nan where they are not
    known; without it the spread over draws is drawn. Returns the path of `<name>.png`.
    """
    draws, length, numbers = predictions.shape
    size = min(numbers, _MOST)
    columns = min(size, _COLUMNS)
    figure, grid = panels(range(size), columns, (max(4, _LEGEND / columns), 2.2))
    time = np.arange(1, length + 1)
    mean, stddev = predictions.mean(axis=0), predictions.std(axis=0)
    band = f"± 2 stddev over {draws} weight draws"
    if interval is not None:
        band = f"{LEVEL:.0%} interval, recalibrated"
    low, high = interval or (mean - 2 * stddev, mean + 2 * stddev)
    for dimension, axes in grid.items():
        column = (slice(None), dimension)
        axes.axvspan(0.5, context + 0.5, color="0.92", label="seen")
        if draws > 1 or interval is not None:
            look = {"color": "C0", "alpha": 0.25, "linewidth": 0, "label": band}
            axes.fill_between(time, low[column], high[column], **look)
        axes.plot(time, mean[column], color="C0", label="prediction")
        axes.plot(time, truth[column], color="black", linestyle="--", label="truth")
        axes.set_title(labels[dimension], fontsize="medium")
        axes.set_xlim(0.5, length + 0.5)
        tidy(axes, "")
        if dimension >= size - columns:
            axes.set_xlabel("agent step")
    handles, names = grid[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(names))
    told = f", the first {size} of {numbers} numbers" if size < numbers else ""
    figure.supylabel(f"in the units of the task{told}", fontsize="medium")
    return save_figure(figure, pathlib.Path(folder) / f"{name}.png")


def names_of(entries, size):
    """Names of so many numbers of an observation.

    The entries are as `envs.environment.Environment` has them; there may be none.

    Example:
        >>> names_of({("arm", "angle"): 2, ("goal",): 1}, 3)
        ['arm/angle 0', 'arm/angle 1', 'goal']
        >>> names_of({}, 2)
        ['observation 0', 'observation 1']
    """
    names = []
    for path, count in (entries or {("observation",): size}).items():
        name = "/".join(map(str, path))
        names += [name] if count == 1 else [f"{name} {number}" for number in range(count)]
    return names


def film(model, episode, seed, folder, name, fit=None, entries=None):
    """Writes the open-loop prediction of the start of an episode; returns the files.

    For images the truth, the prediction and the error as GIF and mp4 and a strip of frames
    as PNG, of several one film each. For vectors a figure of predicted and true curves,
    with the spread over weight draws or, once forecasts were recalibrated, with the
    interval of the forecast, by an `agents.study.insight.recalibration.Recalibration`.

    The model, the episode and the seed are as in `agents.study.insight`, the entries as of
    `names_of`.
    """
    rows = min(CONTEXT + PREDICTED, len(episode["reward"]))
    context = min(CONTEXT, rows - 1)
    whole, episode = episode, first_rows(episode, rows)
    files = []
    for key, part in model.parts.items():
        if not part.is_image:
            continue
        predicted = predict_open_loop(model, episode, context, 0, seed, part)[0]
        pair = _colored(episode[key]), _colored(part.to_image(predicted).numpy())
        own = name if key == "observation" else f"{name}_{key}"
        files += save_open_loop_video(folder, own, *pair, context)
    if is_image(model.observation_spec):
        return files
    draws = DRAWS if posteriors(model) else 0
    predicted = predict_open_loop(model, episode, context, draws, seed).numpy()
    labels = names_of(entries, predicted.shape[-1])
    truth = episode["observation"]
    long_enough = rows >= CONTEXT + 2
    interval = _interval(model, whole, rows, seed, fit) if fit and long_enough else None
    figure = (folder, name, truth, predicted, context, labels, interval)
    return [save_state_prediction(*figure), *files]


def _colored(images):
    """Images [T, size, size, channels] with three channels."""
    return np.repeat(images, 3, axis=-1) if images.shape[-1] == 1 else images


def _interval(model, episode, rows, seed, fit):
    """Where the truth is expected in the rows after the context, [rows, D]; before, nan."""
    times = ForecastTimes(model, [episode])
    ((_, components),) = broadest(model, [episode], times, fold(seed, 3))
    edges = fit.interval(components[:, :, :1], times.steps, LEVEL)
    padded = np.full([2, rows, components.shape[-1]], np.nan)
    padded[:, times.starts[0] + times.steps] = np.array(edges)[:, :, 0]
    return tuple(padded)

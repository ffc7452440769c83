"""What the figures of runs have in common."""

import textwrap

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter
from matplotlib.transforms import ScaledTranslation
from PIL import Image

from agents.system.files import replacing

# Okabe and Ito, 2008: told apart by the colour-blind
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_STYLES = ("-", "--", ":", "-.")
_DOTS = 100  # of a figure, per inch
_ENTRY, _FEW_ENTRIES = 0.19, 4  # inches of a line of a legend; lines that have room
_WIDEST = 64  # characters of a line of an entry
_CHARACTERS = 14  # of a caption, in an inch
_LABEL = 0.48  # inches that numbers and label of an axis take below it
DIVERGED = " x: where a run diverged; its last value is kept from there on."  # of a caption
_UNITS = {
    "environment_steps": "environment steps (before action repeat)",
    "train_steps": "train steps",
}


def panels(names, columns, size):
    """A figure, and a dict of name -> axes, of which so many are side by side at most.

    The size of each is (width, height), inches.
    """
    columns = min(columns, len(names))
    rows = -(-len(names) // columns)
    width, height = size
    figure = Figure(figsize=(width * columns, height * rows + 0.8), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False).flat
    for axes in grid[len(names) :]:
        axes.set_axis_off()
    return figure, dict(zip(names, grid, strict=False))


def finish(axes, x, unit):
    """Labels axes over `environment_steps` or `train_steps`, and a vertical one's unit."""
    axes.set_xlabel(_UNITS[x])
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    tidy(axes, unit)


def tidy(axes, unit):
    """Labels the vertical axis, adds a grid and takes away what frames nothing."""
    axes.set_ylabel(unit)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def legends_below(figure, grid):
    """Puts legends below the panels and their labels, and makes a figure higher for them.

    The grid is that of `panels`, with all lines drawn.
    """
    lines = max(_legend_below(axes) for axes in grid.values())
    rows = next(iter(grid.values())).get_gridspec().nrows
    more = rows * _ENTRY * max(lines - _FEW_ENTRIES, 0)
    figure.set_figheight(figure.get_figheight() + more)


def _legend_below(axes):
    """How many lines of text the legend has."""
    below = ScaledTranslation(0, -_LABEL, axes.figure.dpi_scale_trans)
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0)}
    place["bbox_transform"] = axes.transAxes + below
    legend = axes.legend(fontsize="small", frameon=False, **place)
    for entry in legend.get_texts():
        entry.set_text(wrapped(entry.get_text(), _WIDEST))
    return sum(1 + entry.get_text().count("\n") for entry in legend.get_texts())


def legend_of_all(figure, panels, **look):
    """One legend below a figure, of what any of its panels shows."""
    entries = {}
    for axes in panels:
        handles, names = axes.get_legend_handles_labels()
        entries |= dict(zip(names, handles, strict=True))
    figure.legend(entries.values(), entries, loc="outside lower center", **look)


def wrapped(text, width):
    """A text in lines of so many characters, which end after commas alone."""
    fixed = "\N{NO-BREAK SPACE}"
    whole = text.replace(" ", fixed).replace(f",{fixed}", ", ")
    return textwrap.fill(whole, width, break_long_words=False).replace(fixed, " ")


def say(figure, text):
    """Writes above all panels what lines and bands are."""
    lines = textwrap.fill(text, int(_CHARACTERS * figure.get_figwidth()))
    figure.suptitle(lines, fontsize="small")


def label(group, count):
    """The entry of an `agents.runs.grouping.Group` in a legend; it always says how many."""
    return f"{group.label}, {count}" if group.label else count


def style(group):
    """The style of a group's lines."""
    return {
        "color": _COLOURS[group.number % len(_COLOURS)],
        "linestyle": _STYLES[group.number // len(_COLOURS) % len(_STYLES)],
    }


def thin(group):
    """The style of the lines of single seeds."""
    return style(group) | {"linewidth": 0.7, "alpha": 0.45}


def band(axes, group, x, low, high, **look):
    """Fills what is between two edges of a group's line."""
    look |= {"color": style(group)["color"], "alpha": 0.2, "linewidth": 0}
    axes.fill_between(x, low, high, **look)


def count_seeds(number):
    """A number of seeds, in words."""
    return "1 seed" if number == 1 else f"{number} seeds"


def count_diverged(runs, rows):
    """`, 1 diverged` where one of a group's runs did; nothing where none did.

    Both tables have `place`, that of runs also `diverged`; the rows are of the group.
    """
    number = runs.loc[runs["place"] == rows["place"].iloc[0], "diverged"].sum()
    return f", {number} diverged" if number else ""


def save(figures, folder):
    """Writes a dict of name -> figure as PNG files; None is left out. Returns the paths."""
    return [
        save_figure(figure, folder / f"{name}.png")
        for name, figure in figures.items()
        if figure is not None
    ]


def save_figure(figure, file):
    """Writes a figure as a PNG file with a palette: a third of the size; returns the path.

    The folder of the file, a `pathlib.Path`, is made if need be.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.set_dpi(_DOTS)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # savefig would draw it twice
    picture = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    with replacing(file) as handle:
        with_palette(picture).save(handle, "PNG", optimize=True)
    return file


def with_palette(picture):
    """A `PIL.Image` in RGB with at most 256 colours, rare ones among them.

    Means of clusters keep greys grey. Dithering would strew dots that cost more than the
    colours do.
    """
    method, dither = Image.Quantize.MAXCOVERAGE, Image.Dither.NONE
    return picture.quantize(256, method, kmeans=2, dither=dither)

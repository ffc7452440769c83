"""Tests of agents.study.figures.drawing."""

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from agents.runs.grouping import Group
from agents.study.figures import drawing


def test_each_of_twenty_labels_has_a_style_of_its_own():
    styles = [drawing.style(Group("", "fake", [], number)) for number in range(20)]
    assert len({tuple(style.items()) for style in styles}) == 20


def test_a_legend_says_how_many_seeds_there_are():
    group = Group("explore=Greedy", "fake", [], 0)
    assert drawing.label(group, drawing.count_seeds(3)) == "explore=Greedy, 3 seeds"
    assert drawing.label(Group("", "fake", [], 0), drawing.count_seeds(1)) == "1 seed"


def test_a_legend_hides_no_label_and_takes_no_room_from_the_curves():
    heights = []
    for entries, length in ((3, 1), (12, 1), (5, 40)):
        figure, grid = drawing.panels(["task"], columns=1, size=(5.6, 3.8))
        for number in range(entries):
            grid["task"].plot([0, 1], [0, number], label=f"method {number}, " * length)
        drawing.finish(grid["task"], "environment_steps", "return")
        drawing.legends_below(figure, grid)
        FigureCanvasAgg(figure).draw()
        label = grid["task"].xaxis.label.get_window_extent()
        legend = grid["task"].get_legend().get_window_extent()
        assert legend.y1 <= label.y0
        assert legend.y0 >= 0
        assert legend.width < 5.6 * figure.dpi
        heights.append(grid["task"].get_window_extent().height)
    assert min(heights[1:]) > 0.9 * heights[0]


def test_names_are_broken_after_commas_alone():
    text = "one=1, a.name.longer.than.the.line=1, two words=2"
    assert (
        drawing.wrapped(text, 20) == "one=1,\na.name.longer.than.the.line=1,\ntwo words=2"
    )


def test_a_saved_figure_has_a_palette_and_looks_as_it_was_drawn(tmp_path):
    figure = Figure(figsize=(3, 2))
    axes = figure.subplots()
    axes.fill_between([0, 1], [0, 1], color="#0072B2", alpha=0.2)
    axes.plot([0, 1], [1, 0], color="#D55E00")
    with Image.open(drawing.save_figure(figure, tmp_path / "in" / "a.png")) as picture:
        assert picture.mode == "P"
        saved = np.asarray(picture.convert("RGB"), float)
    drawn = np.asarray(figure.canvas.buffer_rgba(), float)[..., :3]
    assert saved.shape == drawn.shape
    assert abs(saved - drawn).mean() < 3

"""Tests of agents.study.compare.dots."""

from unittest.mock import Mock

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from agents.runs.grouping import Group
from agents.study.compare import dots
from agents.study.compare.scores import Scores
from agents.study.compare.tables import Improvement


def make_scores(label, seeds, number=0):
    group = Group(label, "pendulum_swingup", [], number)
    return Scores(group, 20_000, list(seeds), [[seed] for seed in seeds])


def test_each_seed_is_a_dot_and_the_bar_is_their_interquartile_mean():
    own = [make_scores("greedy", [300.0, 100.0, 200.0]), make_scores("noise", [40.0], 1)]
    (axes,) = dots.final_scores({"pendulum_swingup": own, "acrobot_swingup": []}).axes
    assert axes.get_title() == "pendulum_swingup\n20,000 environment steps"
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    assert names == ["greedy, n = 3", "noise, n = 1"]
    bars = [line.get_xdata().tolist() for line in axes.lines if len(line.get_xdata()) == 2]
    points = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 1]
    assert bars == [[100, 300], [200, 200], [40, 40]]  # one seed has no interval
    assert points == [300, 100, 200, 40]


def test_the_first_group_is_on_top_and_no_dot_lies_beyond_the_edge():
    own = [make_scores("greedy", [-5.0, 0.0]), make_scores("noise", [900.0, 1000.0], 1)]
    figure = dots.final_scores({"pendulum_swingup": own})
    FigureCanvasAgg(figure).draw()
    (axes,) = figure.axes
    first, second = (tick.get_window_extent().y0 for tick in axes.get_yticklabels())
    assert first > second
    low, high = axes.get_xlim()
    assert low < -5
    assert high > 1000


def test_without_scores_there_is_no_figure():
    assert dots.final_scores({"pendulum_swingup": []}) is None


@pytest.mark.parametrize(
    ("costs", "is_drawn"), [([2.0, 4.0], True), ([0.0, 0.0], False), ([np.nan] * 2, False)]
)
def test_costs_are_drawn_of_tasks_where_something_costs(costs, is_drawn):
    group = Group("greedy", "cartpole_swingup_fenced", [], 0)
    found = {"cartpole_swingup_fenced": [Mock(group=group, cost=np.array(costs))]}
    figure = dots.costs(found | {"pendulum_swingup": []})
    assert (figure is not None) == is_drawn
    if is_drawn:
        (axes,) = figure.axes
        assert axes.get_xlabel() == "reward lost in a planned episode of training"
        points = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 1]
        assert points == [2, 4]


def test_long_names_of_pairs_lie_within_the_figure():
    name = "world_model.overshooting_distance=5, world_model.overshooting_kl_scale=0.1"
    long = f"{name}, world_model.overshooting_reward_scale=10.0"
    pairs = [
        Improvement(better, worse, ("pendulum_swingup",), (3, 3), 3, 0.6, 0.4, 0.8)
        for better, worse in ((long, "value=none"), ("value=none", long))
    ]
    figure = dots.improvement(pairs)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    (axes,) = figure.axes
    boxes = [tick.get_window_extent() for tick in axes.get_yticklabels()]
    assert min(box.x0 for box in boxes) >= 0
    assert boxes[0].y0 >= boxes[1].y1  # the first is on top, above the second

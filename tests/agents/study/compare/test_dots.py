"""Tests of agents.study.compare.dots."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from agents.study.compare import dots


@pytest.fixture
def make_scores(make_frames):
    """Frames and scores of groups, from the scores of their seeds."""

    def make(**scores):
        frames = make_frames({name: len(seeds) for name, seeds in scores.items()})
        seeds = frames.runs.assign(environment_steps=20_000, diverged=False)
        return frames, seeds.assign(score=np.concatenate([*scores.values()]))

    return make


def test_each_seed_is_a_dot_and_the_bar_is_their_interquartile_mean(make_scores):
    own = make_scores(greedy=[300.0, 100.0, 200.0], noise=[40.0])
    (axes,) = dots.final_scores(*own).axes
    assert axes.get_title() == "pendulum_swingup\n20,000 environment steps"
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    assert names == ["greedy, n = 3", "noise, n = 1"]
    bars = [line.get_xdata().tolist() for line in axes.lines if len(line.get_xdata()) == 2]
    points = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 1]
    assert bars == [[100, 300], [200, 200], [40, 40]]  # one seed has no interval
    assert points == [300, 100, 200, 40]


def test_the_first_group_is_on_top_and_no_dot_lies_beyond_the_edge(make_scores):
    figure = dots.final_scores(*make_scores(greedy=[-5.0, 0.0], noise=[900.0, 1000.0]))
    FigureCanvasAgg(figure).draw()
    (axes,) = figure.axes
    first, second = (tick.get_window_extent().y0 for tick in axes.get_yticklabels())
    assert first > second
    low, high = axes.get_xlim()
    assert low < -5
    assert high > 1000


def test_without_scores_there_is_no_figure(make_scores):
    frames, seeds = make_scores(greedy=[1.0])
    assert dots.final_scores(frames, seeds.head(0)) is None


@pytest.mark.parametrize(
    ("costs", "is_drawn"), [([2.0, 4.0], True), ([0.0, 0.0], False), ([np.nan] * 2, False)]
)
def test_costs_are_drawn_of_tasks_where_something_costs(make_frames, costs, is_drawn):
    frames = make_frames({"greedy": 2}, "cartpole_swingup_fenced")
    found = frames.runs.assign(collected_cost=costs).reset_index(names="run")
    figure = dots.costs(frames, found)
    assert (figure is not None) == is_drawn
    if is_drawn:
        (axes,) = figure.axes
        assert axes.get_xlabel() == "reward lost in a planned episode of training"
        points = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 1]
        assert points == [2, 4]


def test_long_names_of_pairs_lie_within_the_figure():
    name = "world_model.overshooting_distance=5, world_model.overshooting_kl_scale=0.1"
    long = f"{name}, world_model.overshooting_reward_scale=10.0"
    pairs = pd.DataFrame({"group": [long, "value=none"], "than": ["value=none", long]})
    pairs = pairs.assign(runs="3 and 3", probability=0.6)
    pairs = pairs.assign(probability_low=0.4, probability_high=0.8)
    figure = dots.improvement(pairs)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    (axes,) = figure.axes
    boxes = [tick.get_window_extent() for tick in axes.get_yticklabels()]
    assert min(box.x0 for box in boxes) >= 0
    assert boxes[0].y0 >= boxes[1].y1  # the first is on top, above the second

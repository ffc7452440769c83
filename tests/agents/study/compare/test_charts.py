"""Tests of agents.study.compare.charts."""

import logging

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from agents.study.compare import charts, compare
from agents.study.compare.published import published_scores


def test_all_figures_are_drawn(drawn, output):
    names = {file.stem for file in output[0].glob("*.png")}
    assert names == {
        "coverage",
        "final_scores",
        "first_reward",
        "performance_profile",
        "probability_of_improvement",
        "sample_efficiency",
        "scores",
    }
    for file in output[0].glob("*.png"):
        assert np.asarray(Image.open(file).convert("L")).std() > 0


def test_runs_without_evaluations_are_compared_in_what_they_have(drawn, make_run, tmp_path):
    make_run(tmp_path / "a")
    files = compare([tmp_path], tmp_path / "out")
    names = {file.name for file in files}
    assert names == {
        "comparison.md",
        "coverage.png",
        "first_reward.png",
        "exploration.csv",
        "runs.csv",
    }


def test_a_panel_has_the_six_best_published_curves():
    axes = Figure().add_subplot()
    axes.plot([0, 100_000], [0, 600])
    charts._published(
        axes, published_scores({"task": "cheetah_run", "observation": "state"})
    )
    labels = axes.get_legend_handles_labels()[1]
    assert {label.split(", published")[0] for label in labels} == {
        *("MR.Q", "TD-MPC (own repeats)", "TD-MPC2 (run by BMPC)"),
        *("TD-MPC (run by TD-MPC2)", "TD-MPC2", "BMPC"),
    }


@pytest.mark.slow
def test_two_tasks_are_put_on_one_scale(drawn, make_groups, make_run, tmp_path, read):
    runs = make_groups()
    for kind in ("Greedy", "Thompson"):
        for seed in range(2):
            explore = {"explore": {"kind": kind}, "task": "fake"}
            make_run(runs / f"fake{kind}{seed}", seed, [[seed], [10.0 + seed]], **explore)
    compare([runs], tmp_path / "out")
    assert len(read(tmp_path / "out", "scores")) == 4
    (row,) = read(tmp_path / "out", "improvement")
    # certain on pendulum_swingup, even on fake
    assert (row["probability"], row["runs"]) == ("0.75", "5 and 5")
    assert row["tasks"] == "pendulum_swingup, fake"


def test_figures_over_tasks_weigh_tasks_alike(make_run, tmp_path, caplog):
    for task, seeds in (("cartpole_swingup", 3), ("reacher_easy", 2)):
        for seed in range(seeds):
            make_run(tmp_path / f"{task}{seed}", seed, [[seed]], task=task)
    with caplog.at_level(logging.WARNING):
        compare([tmp_path], tmp_path / "out")
    said = "has 2 seeds of one task, so only as many seeds of each other task count"
    assert said in caplog.text


@pytest.mark.parametrize("name", ["sample_efficiency", "profiles"])
def test_figures_over_tasks_are_given_as_many_seeds_of_each(
    make_run, tmp_path, monkeypatch, name
):
    for task, seeds in (("cartpole_swingup", 3), ("reacher_easy", 2)):
        for seed in range(seeds):
            make_run(tmp_path / f"{task}{seed}", seed, [[100.0 * seed]], task=task)
    make_run(tmp_path / "unevaluated", task="pendulum_swingup")
    seen = {}
    draw = getattr(charts, name)

    def spy(*arguments):
        seen["figure"] = draw(*arguments)
        return seen["figure"]

    monkeypatch.setattr(charts, name, spy)
    compare([tmp_path], tmp_path / "out")
    (axes,) = seen["figure"].axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "n = 4 runs of 2 tasks"
    ]
    if name == "sample_efficiency":  # of 0, 100, 0 and 100, and not of the third seed
        title = "Sample efficiency over cartpole_swingup, reacher_easy"
        assert axes.get_title() == title
        assert axes.lines[0].get_ydata().tolist() == [0.05]


def with_coverage(frames):
    """Each run with three episodes."""
    episodes = (
        frames.runs[["place"]].reset_index(names="run").loc[lambda t: t.index.repeat(3)]
    )
    steps = np.tile(np.arange(3), len(frames.runs))
    episodes = episodes.assign(environment_steps=steps)
    episodes["explore/coverage"] = 0.1 * steps * episodes["run"]
    return frames._replace(episodes=episodes)


def test_legends_of_many_groups_take_no_room_from_their_curves(make_frames):
    name = "explore=information_gain_annealed, transition=reparameterization"
    frames = make_frames({f"{name}, {number}": 1 for number in range(12)})
    figure = charts.coverage(with_coverage(frames))
    FigureCanvasAgg(figure).draw()
    assert figure.axes[0].get_window_extent().height > 2 * figure.dpi
    assert figure.axes[0].get_legend().get_window_extent().y0 >= 0


@pytest.mark.parametrize("number", [5, 6])
def test_bands_of_many_groups_would_hide_each_other(make_frames, number):
    frames = make_frames({str(k): 2 for k in range(number)})
    figure = charts.coverage(with_coverage(frames))
    (axes,) = figure.axes
    assert len(axes.collections) == (5 if number == 5 else 0)  # bands
    assert len(axes.lines) == (15 if number == 5 else 6)  # seeds and middles
    assert ("the line alone" in figure.get_suptitle()) == (number == 6)


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
    (axes,) = charts.final_scores(*own).axes
    assert axes.get_title() == "pendulum_swingup\n20,000 environment steps"
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    assert names == ["greedy, n = 3", "noise, n = 1"]
    bars = [line.get_xdata().tolist() for line in axes.lines if len(line.get_xdata()) == 2]
    points = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 1]
    assert bars == [[100, 300], [200, 200], [40, 40]]  # one seed has no interval
    assert points == [300, 100, 200, 40]


def test_the_first_group_is_on_top_and_no_dot_lies_beyond_the_edge(make_scores):
    figure = charts.final_scores(*make_scores(greedy=[-5.0, 0.0], noise=[900.0, 1000.0]))
    FigureCanvasAgg(figure).draw()
    (axes,) = figure.axes
    first, second = (tick.get_window_extent().y0 for tick in axes.get_yticklabels())
    assert first > second
    low, high = axes.get_xlim()
    assert low < -5
    assert high > 1000


def test_without_scores_there_is_no_figure(make_scores):
    frames, seeds = make_scores(greedy=[1.0])
    assert charts.final_scores(frames, seeds.head(0)) is None


@pytest.mark.parametrize(
    ("costs", "is_drawn"), [([2.0, 4.0], True), ([0.0, 0.0], False), ([np.nan] * 2, False)]
)
def test_costs_are_drawn_of_tasks_where_something_costs(make_frames, costs, is_drawn):
    frames = make_frames({"greedy": 2}, "cartpole_swingup_fenced")
    found = frames.runs.assign(collected_cost=costs).reset_index(names="run")
    figure = charts.costs(frames, found)
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
    figure = charts.improvement(pairs)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    (axes,) = figure.axes
    boxes = [tick.get_window_extent() for tick in axes.get_yticklabels()]
    assert min(box.x0 for box in boxes) >= 0
    assert boxes[0].y0 >= boxes[1].y1  # the first is on top, above the second

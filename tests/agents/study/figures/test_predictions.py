"""Tests of agents.study.figures.predictions."""

import numpy as np
import pytest
from PIL import Image

from agents.study.figures import predictions
from agents.study.figures.predictions import film, save_state_prediction
from agents.study.insight.recalibration import SHARES, Recalibration


@pytest.mark.slow
@pytest.mark.parametrize(("draws", "size"), [(5, 4), (1, 1)])
def test_state_prediction_is_a_picture(tmp_path, draws, size):
    truth = np.sin(np.arange(20))[:, None].repeat(size, axis=1)
    labels = [f"position {number}" for number in range(size)]
    file = save_state_prediction(
        tmp_path, "state", truth, truth + np.ones([draws, 1, 1]), 5, labels
    )
    assert np.asarray(Image.open(file)).std() > 0


def test_of_many_numbers_the_first_are_drawn(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(predictions, "save_figure", lambda figure, _: drawn.append(figure))
    truth = np.zeros([20, 78])
    save_state_prediction(tmp_path, "x", truth, truth[np.newaxis], 5, list(range(78)))
    (figure,) = drawn
    assert [axes.get_title() for axes in figure.axes] == list(map(str, range(24)))
    assert figure.get_supylabel().endswith("the first 24 of 78 numbers")


@pytest.mark.slow
@pytest.mark.parametrize("rows", [2, 4])
def test_an_episode_shorter_than_the_context_is_filmed(model, tmp_path, rows):
    rng = np.random.default_rng(0)
    episode = {
        "observation": rng.normal(size=[rows, 2]).astype(np.float32),
        "action": rng.uniform(-1, 1, [rows, 1]).astype(np.float32),
        "reward": np.zeros(rows, np.float32),
        "is_first": np.arange(rows) == 0,
    }
    (file,) = film(model, episode, (0, 3), tmp_path, "short")
    assert file.exists()


def test_curves_have_the_names_of_what_an_environment_tells(
    model, make_episodes, tmp_path, monkeypatch
):
    drawn = []
    monkeypatch.setattr(
        predictions, "save_state_prediction", lambda *given: drawn.append(given[5])
    )
    (episode,) = make_episodes(np.zeros([1, 15]))
    entries = {("angle",): 1, ("arm", "speed"): 1}
    for given in (entries, None):
        film(model, episode, (0, 3), tmp_path, "named", entries=given)
    assert drawn == [["angle", "arm/speed"], ["observation 0", "observation 1"]]


def test_a_film_of_recalibrated_forecasts_has_their_interval(
    model, make_episodes, tmp_path, monkeypatch
):
    drawn = []
    monkeypatch.setattr(
        predictions, "save_state_prediction", lambda *given: drawn.append(given[-1])
    )
    (episode,) = make_episodes(np.zeros([1, 15]))
    ones = np.ones([1, 2])
    levels = SHARES[:, np.newaxis] * ones[:, np.newaxis]
    for stddev in (0.1, 0.2):
        fitted = (0 * ones, stddev * ones, 50 * ones, ones, ones, levels, ones)
        fit = Recalibration(20, *fitted)
        film(model, episode, (0, 3), tmp_path, "mended", fit)
    widths = [high - low for low, high in drawn]
    known = slice(5, 10)  # of 15 rows, 5 are seen and half of the others forecast
    for width in widths:
        assert np.isfinite(width[known]).all()
        assert np.isnan(np.delete(width, known, axis=0)).all()
    assert np.all(widths[0][known] > 2 * 1.9 * 0.1)
    assert np.all(widths[1][known] > widths[0][known])


def test_an_interval_that_is_known_in_part_is_drawn(tmp_path):
    truth = np.zeros([8, 1])
    edges = np.full([2, 8, 1], np.nan)
    edges[:, 5:] = np.array([-1, 1])[:, None, None]
    files = [
        save_state_prediction(tmp_path, name, truth, truth[None], 5, ["x"], interval)
        for name, interval in (("with", tuple(edges)), ("without", None))
    ]
    one, other = (np.asarray(Image.open(file)) for file in files)
    assert one.shape != other.shape or (one != other).any()

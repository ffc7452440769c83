"""Tests of agents.figures.predictions."""

import numpy as np
import pytest
from PIL import Image

from agents.figures.films import save_strip
from agents.figures.predictions import save_state_prediction


def test_strip_shows_each_row_of_frames(tmp_path):
    colours = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255]], np.uint8)
    frames = np.broadcast_to(colours[:, None, None], [3, 8, 8, 3])
    rows = {"truth": frames, "prediction": 255 - frames}
    file = save_strip(tmp_path / "videos", "strip", rows, ["a", "b", "c"], "title")
    assert file == tmp_path / "videos" / "strip.png"
    pixels = np.asarray(Image.open(file).convert("RGB")).reshape(-1, 3)
    for colour in (*colours, *(255 - colours)):
        assert np.mean((pixels == colour).all(axis=1)) > 0.05


@pytest.mark.parametrize(("draws", "size"), [(5, 4), (1, 1)])
def test_state_prediction_is_a_picture(tmp_path, draws, size):
    truth = np.sin(np.arange(20))[:, None].repeat(size, axis=1)
    labels = [f"position {number}" for number in range(size)]
    file = save_state_prediction(
        tmp_path, "state", truth, truth + np.ones([draws, 1, 1]), 5, labels
    )
    assert np.asarray(Image.open(file)).std() > 0


def test_state_prediction_of_another_shape_is_an_error(tmp_path):
    with pytest.raises(ValueError, match=r"shape \[draws, 20, 2\], got \(5, 20, 3\)"):
        save_state_prediction(tmp_path, "x", np.ones([20, 2]), np.ones([5, 20, 3]), 5, "ab")
    with pytest.raises(ValueError, match="2 dimensions need as many labels"):
        save_state_prediction(tmp_path, "x", np.ones([20, 2]), np.ones([5, 20, 2]), 5, "a")

"""Tests of agents.figures.predictions."""

import numpy as np
import pytest
from PIL import Image

from agents.figures.predictions import film, save_state_prediction


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

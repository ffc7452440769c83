"""Tests of agents.filming."""

import pathlib

import numpy as np
import pytest
from PIL import Image

from agents.episodes import EpisodeStore
from agents.filming import film, show, video
from agents.loading import load_agent
from agents.metrics import MetricsLog


def test_a_run_from_states_is_filmed_as_curves(whole_run, capsys):
    video(whole_run)
    assert capsys.readouterr().out.split() == [f"{whole_run}/videos/open_loop_160.png"]
    assert Image.open(whole_run / "videos" / "open_loop_160.png").width > 300


def test_a_run_from_pixels_is_filmed_as_video_and_strip(pixel_run, capsys):
    video(pixel_run)
    files = capsys.readouterr().out.split()
    assert [file.rsplit("open_loop_40")[-1] for file in files] == [
        ".gif",
        ".mp4",
        "_strip.png",
    ]
    assert Image.open(files[0]).n_frames == 21
    assert pathlib.Path(files[1]).read_bytes()[4:8] == b"ftyp"


@pytest.mark.parametrize("rows", [2, 4])
def test_an_episode_shorter_than_the_context_is_filmed(whole_run, tmp_path, rows):
    config, agent = load_agent(whole_run)
    episode = EpisodeStore(whole_run / "episodes").read(0)
    episode = {key: value[:rows] for key, value in episode.items()}
    (file,) = film(agent.model, episode, config, tmp_path, "short")
    assert file.exists()


def test_films_are_shown_in_tensorboard(tmp_path):
    image = Image.fromarray(np.zeros([8, 8, 3], np.uint8))
    image.save(tmp_path / "a.png")
    image.save(tmp_path / "a.gif", save_all=True, append_images=[image])
    with MetricsLog(tmp_path) as metrics:
        show([tmp_path / "a.png", tmp_path / "a.gif", tmp_path / "a.mp4"], metrics, 7)
    (events,) = (tmp_path / "tensorboard").iterdir()
    text = events.read_bytes()
    assert b"open_loop/figure" in text
    assert b"open_loop/video" in text

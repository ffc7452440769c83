"""Tests of agents.study.figures.films."""

import imageio.v2 as imageio
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from agents.episodes.collecting import Recording
from agents.study.figures import films
from agents.study.figures.films import (
    save_open_loop_video,
    save_recording,
    save_strip,
    save_video,
)


def make_frames(length=12, height=64, width=64):
    random = np.random.default_rng(0)
    return random.integers(0, 255, [length, height, width, 3], dtype=np.uint8)


def make_bar(length, size):
    """Frames of a bar that moves: all differ, and are soon written."""
    frames = np.zeros([length, size, size, 3], np.uint8)
    for time, frame in enumerate(frames):
        frame[:, 2 * time : 2 * time + 2] = 255
    return frames


def test_video_of_odd_size_keeps_frames_and_colours(tmp_path):
    frames = np.zeros([6, 33, 35, 3], np.uint8)
    frames[..., 1] = 200
    gif, mp4 = save_video(tmp_path, "clip", frames)
    assert Image.open(gif).size == (6 * 35, 6 * 33)
    back = np.stack(imageio.mimread(mp4))
    assert back.shape == (6, 6 * 33, 6 * 35, 3)
    assert abs(back[3, 100, 100].astype(int) - [0, 200, 0]).max() < 12
    assert sorted(file.name for file in tmp_path.iterdir()) == ["clip.gif", "clip.mp4"]


@pytest.mark.slow
def test_open_loop_video_stacks_truth_prediction_and_error(tmp_path):
    truth = make_frames(16)
    prediction = truth.copy()
    prediction[:, :32] = 255
    files = save_open_loop_video(tmp_path / "videos", "open_loop", truth, prediction, 5)
    names = ["open_loop.gif", "open_loop.mp4", "open_loop_strip.png"]
    assert [file.name for file in files] == names
    assert sorted(file.name for file in (tmp_path / "videos").iterdir()) == names
    gif = Image.open(files[0])
    assert gif.n_frames == 16
    gif.seek(10)
    page = np.asarray(gif.convert("RGB"))[-3 * 192 :, -192:].reshape(3, 192, 192, 3)
    right = page[2, 96:]  # error where the prediction is right
    assert (abs(right.astype(int) - 127) < 8).all(), "no error is not grey"
    assert (page[1, :96] > 240).all(), "the second row is not the prediction"
    assert len(imageio.mimread(files[1], memtest=False)) == 16


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [1 / 30, 0.025, 0.08])
def test_a_gif_ends_in_time_whatever_a_frame_lasts(tmp_path, seconds):
    frames = make_bar(30, 64)
    recording = Recording({"reward": np.ones(30)}, frames, seconds)
    gif, *_ = save_recording(recording, tmp_path, "episode", "task")
    film = Image.open(gif)
    lasted = []
    for frame in range(film.n_frames):
        film.seek(frame)
        lasted.append(film.info["duration"])
    assert sum(lasted) == pytest.approx(1000 * 30 * seconds, abs=5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seconds", "kept", "shown"), [(0.08, 30, 0.08), (0.01, 15, 0.02), (0.005, 8, 0.02)]
)
def test_a_film_is_as_fast_as_what_it_shows(tmp_path, seconds, kept, shown):
    frames = make_bar(30, 240)
    recording = Recording({"reward": np.ones(30)}, frames, seconds)
    gif, mp4, strip = save_recording(recording, tmp_path, "episode", "task")
    film = Image.open(gif)
    assert (film.n_frames, film.info["duration"]) == (kept, 1000 * shown)
    with imageio.get_reader(mp4) as reader:
        assert reader.get_meta_data()["fps"] == pytest.approx(1 / shown)
        assert reader.count_frames() == kept
    assert Image.open(strip).width > 1000


def test_strip_shows_each_row_of_frames(tmp_path):
    colours = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255]], np.uint8)
    frames = np.broadcast_to(colours[:, None, None], [3, 8, 8, 3])
    rows = {"truth": frames, "prediction": 255 - frames}
    file = save_strip(tmp_path / "videos", "strip", rows, ["a", "b", "c"], "title")
    assert file == tmp_path / "videos" / "strip.png"
    pixels = np.asarray(Image.open(file).convert("RGB")).reshape(-1, 3)
    for colour in (*colours, *(255 - colours)):
        assert np.mean((pixels == colour).all(axis=1)) > 0.05


@pytest.mark.parametrize("rows", [1, 3])
def test_the_title_of_a_strip_is_above_the_names_of_columns(tmp_path, monkeypatch, rows):
    drawn = []
    monkeypatch.setattr(films, "save_figure", lambda figure, _: drawn.append(figure))
    names = ["0.0 s", "0.4 s", "0.8 s"]
    save_strip(
        tmp_path, "strip", {str(row): make_frames(3) for row in range(rows)}, names, "gy"
    )
    (figure,) = drawn
    FigureCanvasAgg(figure).draw()
    title = figure.texts[0].get_window_extent()
    first = figure.axes[0]
    assert title.y0 > first.title.get_window_extent().y1
    assert title.y1 <= figure.bbox.y1
    assert first.get_window_extent().width > 100

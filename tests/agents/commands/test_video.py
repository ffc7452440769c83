"""Tests of agents.commands.video."""

import pathlib
import shutil

import imageio.v2 as imageio
import numpy as np
import pytest
from PIL import Image

from agents.agent.loading import load_agent
from agents.commands.video import video
from agents.episodes.recording import Recording
from agents.episodes.store import EpisodeStore
from agents.figures.films import save_recording
from agents.figures.predictions import film
from agents.training.metrics import MetricsLog
from agents.training.monitor import show

EPISODE = ["episode_{}.gif", "episode_{}.mp4", "episode_{}_strip.png"]


@pytest.fixture
def run(whole_run, tmp_path):
    """Folder of a finished run, without its films."""
    folder = shutil.copytree(whole_run, tmp_path / "run")
    shutil.rmtree(folder / "videos")
    return folder


def test_a_run_from_states_is_filmed_and_its_predictions_drawn(run, capsys):
    video(run)
    files = [pathlib.Path(file) for file in capsys.readouterr().out.split()]
    names = [name.format(160) for name in [*EPISODE, "open_loop_{}.png"]]
    assert files == [run / "videos" / name for name in names]
    assert Image.open(files[-1]).width > 300


def test_a_run_from_pixels_is_filmed_as_it_is_and_as_predicted(pixel_run, capsys):
    video(pixel_run)
    files = [pathlib.Path(file) for file in capsys.readouterr().out.split()]
    predicted = [name.replace("episode", "open_loop") for name in EPISODE]
    assert [file.name for file in files] == [n.format(40) for n in EPISODE + predicted]
    assert Image.open(files[0]).size == (240, 240)
    assert Image.open(files[3]).n_frames == 21
    assert files[4].read_bytes()[4:8] == b"ftyp"


def test_without_a_rendering_library_the_predictions_are_drawn(run, capsys, monkeypatch):
    def fail(*_):
        raise RuntimeError("pictures need EGL or OSMesa and neither loads")

    monkeypatch.setattr("envs.fake.Line.render", fail)
    video(run)
    said = capsys.readouterr()
    assert said.out == f"{run}/videos/open_loop_160.png\n"
    assert said.err == (
        "The episode is not filmed: pictures need EGL or OSMesa and neither loads\n"
    )


@pytest.mark.parametrize("seconds", [1 / 30, 0.025, 0.08])
def test_a_gif_ends_in_time_whatever_a_frame_lasts(tmp_path, seconds):
    frames = np.random.default_rng(0).integers(0, 255, [30, 64, 64, 3], dtype=np.uint8)
    recording = Recording({"reward": np.ones(30)}, frames, seconds)
    gif, *_ = save_recording(recording, tmp_path, "episode", "task")
    film = Image.open(gif)
    lasted = []
    for frame in range(film.n_frames):
        film.seek(frame)
        lasted.append(film.info["duration"])
    assert sum(lasted) == pytest.approx(1000 * 30 * seconds, abs=5)


@pytest.mark.parametrize(
    ("seconds", "kept", "shown"), [(0.08, 30, 0.08), (0.01, 15, 0.02), (0.005, 8, 0.02)]
)
def test_a_film_is_as_fast_as_what_it_shows(tmp_path, seconds, kept, shown):
    frames = np.random.default_rng(0).integers(0, 255, [30, 240, 240, 3], dtype=np.uint8)
    recording = Recording({"reward": np.ones(30)}, frames, seconds)
    gif, mp4, strip = save_recording(recording, tmp_path, "episode", "task")
    film = Image.open(gif)
    assert (film.n_frames, film.info["duration"]) == (kept, 1000 * shown)
    with imageio.get_reader(mp4) as reader:
        assert reader.get_meta_data()["fps"] == pytest.approx(1 / shown)
        assert reader.count_frames() == kept
    assert Image.open(strip).width > 1000


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

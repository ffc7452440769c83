"""Tests of agents.cli.video."""

import pathlib
import shutil

import pytest
from PIL import Image

from agents.cli.video import video
from agents.episodes.store import EpisodeStore

pytestmark = pytest.mark.usefixtures("untraced")
EPISODE = ["episode_{}.gif", "episode_{}.mp4", "episode_{}_strip.png"]


@pytest.fixture
def run(whole_run, tmp_path):
    """Folder of a finished run, without its films."""
    folder = shutil.copytree(whole_run, tmp_path / "run")
    shutil.rmtree(folder / "videos")
    return folder


LOAD = "agents.cli.video.load_parts"


@pytest.mark.slow
def test_a_run_from_states_is_filmed_and_its_predictions_drawn(
    run, whole_parts, capsys, monkeypatch
):
    monkeypatch.setattr(LOAD, {run: whole_parts}.get)
    video(run)
    files = [pathlib.Path(file) for file in capsys.readouterr().out.split()]
    names = [name.format(160) for name in [*EPISODE, "open_loop_{}.png"]]
    assert files == [run / "videos" / name for name in names]
    assert Image.open(files[-1]).width > 300


@pytest.mark.slow
def test_a_run_from_pixels_is_filmed_as_it_is_and_as_predicted(pixel_run, capsys):
    video(pixel_run)
    files = [pathlib.Path(file) for file in capsys.readouterr().out.split()]
    predicted = [name.replace("episode", "open_loop") for name in EPISODE]
    assert [file.name for file in files] == [n.format(40) for n in EPISODE + predicted]
    assert Image.open(files[0]).size == (240, 240)
    assert Image.open(files[3]).n_frames == 21
    assert files[4].read_bytes()[4:8] == b"ftyp"


@pytest.mark.slow
def test_without_a_rendering_library_the_predictions_are_drawn(
    run, whole_parts, capsys, monkeypatch
):
    def fail(*_):
        raise RuntimeError("pictures need EGL or OSMesa and neither loads")

    def stored(*_):
        return [EpisodeStore(run / "episodes").read(0)]

    monkeypatch.setattr("envs.simulations.fake.Line.render", fail)
    monkeypatch.setattr("agents.cli.video.fresh_episodes", stored)
    monkeypatch.setattr(LOAD, {run: whole_parts}.get)
    video(run)
    said = capsys.readouterr()
    assert said.out == f"{run}/videos/open_loop_160.png\n"
    assert said.err == (
        "The episode is not filmed: pictures need EGL or OSMesa and neither loads\n"
    )


@pytest.mark.slow
def test_films_are_written_to_another_folder(
    run, whole_parts, capsys, monkeypatch, tmp_path
):
    monkeypatch.setattr(LOAD, {run: whole_parts}.get)
    video(run, tmp_path / "out")
    files = [pathlib.Path(file) for file in capsys.readouterr().out.split()]
    assert len(files) == 4
    assert {file.parent for file in files} == {tmp_path / "out"}
    assert not (run / "videos").exists()

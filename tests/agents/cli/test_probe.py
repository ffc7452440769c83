"""Tests of agents.cli.probe."""

import csv

import pytest
from PIL import Image

from agents.cli.probe import _in_brackets, probe
from agents.system.errors import UserError

EPISODES = 3


@pytest.fixture(scope="module")
def probed(whole_run, whole_agent):
    """What a probe printed and wrote, of a run from states."""
    import contextlib
    import io

    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(io.StringIO()) as said,
    ):
        loaded = {whole_run: whole_agent}
        patch.setattr("agents.cli.probe.load_agent", loaded.get)
        probe(whole_run, EPISODES)
    with open(whole_run / "probe.csv") as file:
        return said.getvalue(), list(csv.DictReader(file))


@pytest.mark.slow
def test_file_has_each_target_input_and_probe_for_both_kinds_of_episodes(probed):
    _, rows = probed
    assert len(rows) == 2 * 2 * (3 * 2 + 1)
    assert {row["actions"] for row in rows} == {"policy", "random"}
    assert {row["target"] for row in rows} == {"velocity 0", "position 0"}
    assert {(row["environment_steps"], row["episodes"]) for row in rows} == {("160", "3")}


@pytest.mark.slow
def test_table_says_what_it_is_about(probed):
    said, _ = probed
    assert "fake, observation=state, reparameterization transition, 160 env" in said
    assert "3 episodes of the policy's actions" in said
    assert "3 episodes of random actions" in said
    assert "Velocities are inputs of this agent" in said


def test_figures_are_written_and_named(probed, whole_run):
    said, _ = probed
    files = [line for line in said.splitlines() if line.endswith(".png")]
    assert [file.rpartition("/")[2] for file in files] == [
        "probe_policy_filtered.png",
        "probe_policy_open_loop.png",
        "probe_random_filtered.png",
        "probe_random_open_loop.png",
    ]
    assert all(Image.open(file).width > 300 for file in files)


@pytest.mark.slow
def test_all_is_written_to_another_folder(
    whole_run, whole_agent, monkeypatch, tmp_path, capsys
):
    monkeypatch.setattr("agents.cli.probe.load_agent", {whole_run: whole_agent}.get)
    before = [(whole_run / name).exists() for name in ("probe.csv", "figures")]
    probe(whole_run, 2, tmp_path / "out")
    files = [line for line in capsys.readouterr().out.splitlines() if "/" in line]
    assert len(files) == 5
    assert all(file.startswith(f"{tmp_path}/out/") for file in files)
    assert [(whole_run / n).exists() for n in ("probe.csv", "figures")] == before


@pytest.mark.slow
def test_a_run_from_pixels_is_probed(pixel_run, capsys):
    probe(pixel_run, 2)
    assert "Velocities are inputs" not in capsys.readouterr().out
    assert (pixel_run / "probe.csv").exists()


def test_one_episode_is_too_few(whole_run):
    with pytest.raises(UserError, match="--episodes must be at least 2 for a probe, got 1"):
        probe(whole_run, 1)


def test_unknown_numbers_are_a_dash():
    nan = float("nan")
    assert _in_brackets(0.5, 0.25, 0.75) == "0.50 [0.25, 0.75]"
    assert _in_brackets(0.5, nan, nan) == "0.50 [-]"
    assert _in_brackets(nan, nan, nan) == "-"

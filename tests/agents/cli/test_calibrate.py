"""Tests of agents.cli.calibrate."""

import csv
import dataclasses
import shutil

import numpy as np
import pytest
from PIL import Image

from agents.cli.calibrate import Judged, calibrate
from agents.episodes.store import readable_episodes
from agents.runs.folder import Run, load_config
from agents.study.insight import saved_fits
from agents.system.errors import UserError

STEPS = 160  # of `whole_run`
WEIGHTS = ("central weights", "1 draw", "5 draws", "20 draws", "20 draws, recalibrated")


def read(run, name="calibration.csv"):
    with open(run / name) as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def rows(untraced, whole_run, whole_agent):
    with pytest.MonkeyPatch.context() as patch:
        loaded = {whole_run: whole_agent}
        patch.setattr("agents.cli.calibrate.load_agent", loaded.get)
        calibrate(whole_run, None, 2)
    return read(whole_run)


@pytest.fixture(scope="module")
def twin(train_once):
    """Folder of a deterministic run of the same task."""
    words = ["environment_steps=40", "transition=deterministic", "video_every_steps=80"]
    return train_once("twin", *words)


@pytest.mark.slow
def test_file_has_each_forecast_at_each_step_on_both_kinds_of_episodes(rows):
    steps = {int(row["step"]) for row in rows}
    assert steps == set(range(1, max(steps) + 1))
    assert len(rows) == 2 * len(WEIGHTS) * 3 * len(steps)
    actions = {row["actions"] for row in rows}
    assert actions == {"policy of reparameterization", "random"}
    labels = {row["forecast"] for row in rows}
    assert labels == {f"reparameterization, {weights}" for weights in WEIGHTS}


@pytest.mark.slow
def test_rows_say_whose_forecasts_they_judge(rows, whole_run):
    columns = ("judged", "transition", "run", "environment_steps", "episodes")
    (about,) = {tuple(row[column] for column in columns) for row in rows}
    assert about == ("run", "reparameterization", str(whole_run), str(STEPS), "2")


@pytest.mark.slow
def test_intervals_hold_the_shares_and_wider_ones_hold_more(rows):
    for row in rows:
        shares = [float(row[f"coverage_{level}"]) for level in (50, 80, 95)]
        assert 0 <= shares[0] <= shares[1] <= shares[2] <= 1
        low, high = (float(row[f"coverage_80_{end}"]) for end in ("low", "high"))
        assert low <= shares[1] <= high


@pytest.mark.slow
def test_all_is_the_mean_of_dimensions_and_deviations_do_not_cancel(rows):
    kinds = {}
    for row in rows:
        key = (row["actions"], row["forecast"], row["step"])
        kinds.setdefault(key, {})[row["dimension"]] = row
    for kind in kinds.values():
        assert set(kind) == {"all", "0", "1"}
        for name in ("coverage_80", "deviation_80", "negative_log_likelihood"):
            each = [float(kind[dimension][name]) for dimension in ("0", "1")]
            assert float(kind["all"][name]) == pytest.approx(sum(each) / 2)
        for row in kind.values():
            off = abs(float(row["coverage_95"]) - 0.95)
            assert float(row["deviation_95"]) >= off - 1e-9


@pytest.mark.slow
def test_what_spreads_are_worth_is_beside_it(rows, whole_run):
    found = read(whole_run, "spread.csv")
    assert {row["spread"] for row in found} == {"epistemic", "aleatoric"}
    for row in found:
        assert row["run"] == str(whole_run)
        if row["measure"] in ("rank_correlation", "auroc") and row["value"] != "nan":
            assert float(row["low"]) <= float(row["value"]) <= float(row["high"])
            assert -1 <= float(row["value"]) <= 1
    counts = [int(row["steps"]) for row in found if row["measure"] == "rank_correlation"]
    assert counts == [2 * 2 * 20] * 2  # of both kinds of actions
    within = [row for row in found if row["measure"].startswith("rank_correlation_")]
    assert [row["measure"].rpartition("_")[2] for row in within] == ["policy", "random"] * 2
    assert [int(row["steps"]) for row in within] == [2 * 20] * 4
    assert Image.open(whole_run / "figures" / "spread.png").width > 300


@pytest.mark.slow
def test_fits_are_those_of_the_newest_checkpoint(rows, whole_run):
    for actions in ("policy", "random"):
        assert saved_fits.load(whole_run, STEPS, actions).draws == 20


@pytest.mark.parametrize(("tells", "expected"), [(True, [3, 5, 7]), (False, [5, 7])])
def test_planned_episodes_that_a_run_held_out_are_fitted_to(
    whole_run, monkeypatch, tells, expected
):
    """Two were random; where files do not tell, those that began within `seed_steps`."""

    def read(folder):
        for episode in readable_episodes(folder):
            yield {k: x for k, x in episode.items() if tells or k != "is_random"}

    monkeypatch.setattr("agents.cli.calibrate.readable_episodes", read)
    config = dataclasses.replace(load_config(whole_run), hold_out_every=2, seed_steps=80)
    judged = Judged("run", "run", str(whole_run), config, None)
    trained_on, held_out = judged.collected
    assert [int(episode["number"]) for episode in held_out] == expected
    assert [int(episode["number"]) for episode in trained_on] == [0, 2, 4, 6]


@pytest.fixture
def calibrate_on(monkeypatch, untraced, whole_run, whole_agent, tmp_path):
    """Calibrates by 2 episodes of given rows, at most 21; returns the folder."""
    folder = shutil.copytree(whole_run, tmp_path / "run")
    stored = list(readable_episodes(Run(folder).episodes))
    for name in ("save", "save_worth"):  # drawing takes seconds
        monkeypatch.setattr(
            f"agents.cli.calibrate.figures.{name}", lambda *given: print(given[-1])
        )

    def make(**rows):
        def episodes(config, agent, actions, count):
            pairs = zip(stored, rows[actions], strict=False)
            return [{key: x[:n] for key, x in each.items() if x.ndim} for each, n in pairs]

        monkeypatch.setattr("agents.cli.calibrate.fresh_episodes", episodes)
        monkeypatch.setattr("agents.cli.calibrate.load_agent", lambda _: whole_agent)
        calibrate(folder, None, 2)
        return folder

    return make


def steps_ahead(folder):
    found = {}
    for row in read(folder):
        found.setdefault(row["actions"].split()[0], set()).add(int(row["step"]))
    return {actions: max(steps) for actions, steps in found.items()}


@pytest.mark.slow
def test_each_kind_is_forecast_as_far_as_its_own_episodes_go(calibrate_on, capsys):
    folder = calibrate_on(policy=[13] * 4, random=[9] * 4)
    assert steps_ahead(folder) == {"policy": 4, "random": 2}
    said = capsys.readouterr().out
    assert "left out" not in said
    assert "fake, 2 episodes of each kind\n" in said
    lines = [line.split() for line in said.splitlines() if "central weights" in line]
    assert [line[3] for line in lines] == ["1", "4", "1", "2"]


@pytest.mark.slow
def test_short_episodes_are_left_out_of_what_is_fitted_to(calibrate_on, capsys):
    folder = calibrate_on(policy=[13, 13, 9, 14], random=[11, 9, 7, 8])
    said = capsys.readouterr().out
    about = "episodes too short for the fit: reparameterization"
    assert f"left out 1 of 2 {about}, policy" in said
    assert f"{about}, random" not in said  # none is as long as those judged
    assert steps_ahead(folder) == {"policy": 4, "random": 2}
    fits = [saved_fits.load(folder, STEPS, kind) for kind in ("policy", "random")]
    assert [len(fit.shift) for fit in fits] == [4, 1]


@pytest.mark.slow
def test_fresh_episodes_are_fitted_to_where_held_out_ones_are_too_short(
    monkeypatch, calibrate_on, capsys
):
    stored = [{"reward": np.zeros(rows)} for rows in (13, 8, 7)]
    monkeypatch.setattr(Judged, "collected", ([], stored))
    fitted_to = []
    monkeypatch.setattr(
        "agents.cli.calibrate.recalibration.fit",
        lambda model, episodes, seed: fitted_to.append(
            [len(e["reward"]) for e in episodes]
        ),
    )
    calibrate_on(policy=[13, 13, 14, 9], random=[9] * 4)
    assert fitted_to == [[13, 14], [9, 9]]
    assert "left out 3 of 5 episodes too short for the fit" in capsys.readouterr().out


@pytest.mark.slow
def test_episodes_too_short_for_any_forecast_are_left_out(calibrate_on, capsys):
    folder = calibrate_on(policy=[6, 9, 9, 9], random=[6, 9, 3, 4])
    said = capsys.readouterr().out
    assert "left out 1 of 4 episodes too short for forecasts, actions: policy" in said
    assert "left out 3 of 4 episodes too short for forecasts, actions: random" in said
    assert "\n1 episodes, actions: random" in said
    assert "fake, episodes: 2 policy of reparameterization, 1 random\n" in said
    assert steps_ahead(folder) == {"policy": 2, "random": 2}
    mended = {r["actions"] for r in read(folder) if r["forecast"].endswith("recalibrated")}
    assert mended == {"policy of reparameterization"}
    assert "not recalibrated, no episode to fit to" in said
    fits = {kind: saved_fits.load(folder, STEPS, kind) for kind in ("policy", "random")}
    assert [kind for kind, fit in fits.items() if fit is None] == ["random"]


def test_a_kind_of_which_none_is_long_enough_is_refused(calibrate_on):
    with pytest.raises(UserError, match="at least 7 rows for forecasts, got 5"):
        calibrate_on(policy=[9] * 4, random=[6, 6, 6, 5])


@pytest.mark.slow
def test_twin_is_told_by_its_transition(whole_run, twin, capsys):
    calibrate(whole_run, twin, 2)
    rows = read(whole_run)
    assert {row["actions"] for row in rows} == {
        "policy of reparameterization",
        "policy of deterministic",
        "random",
    }
    theirs = [row for row in rows if row["judged"] == "other"]
    label = "deterministic, central weights"
    assert {row["forecast"] for row in theirs} == {label, f"{label}, recalibrated"}
    columns = ("transition", "run", "environment_steps")
    (about,) = {tuple(row[column] for column in columns) for row in theirs}
    assert about == ("deterministic", str(twin), "40")
    assert f"deterministic: {twin}, 40 environment steps" in capsys.readouterr().out


@pytest.mark.slow
def test_runs_of_one_transition_are_run_and_other(whole_run, tmp_path, capsys):
    calibrate(whole_run, shutil.copytree(whole_run, tmp_path / "copy"), 2)
    said = capsys.readouterr().out
    assert "actions: policy of other" in said
    lines = [line for line in said.splitlines() if "20 draws" in line]
    assert len(lines) == 3 * 2 * 2 * 2
    own = [line for line in lines if line.startswith("run, ")]
    others = [line for line in lines if line.startswith("other, ")]
    for one, other in zip(own, others, strict=True):
        assert other.split()[1:] == one.split()[1:]
    assert Image.open(whole_run / "figures" / "calibration.png").width > 300


def test_a_run_beside_itself_is_refused(whole_run):
    with pytest.raises(UserError, match="calibrate compares two runs, got .* twice"):
        calibrate(whole_run, f"{whole_run}/../{whole_run.name}", 2)


@pytest.mark.slow
def test_runs_of_other_observations_are_refused(whole_run, pixel_run):
    with pytest.raises(UserError) as error:
        calibrate(whole_run, pixel_run, 2)
    assert str(error.value) == (
        f"{pixel_run} must have the same observations as {whole_run}: "
        "observation must be state, got pixels"
    )


@pytest.mark.slow
def test_pictures_are_forecast_and_pooled(pixel_run):
    calibrate(pixel_run, None, 1)
    rows = read(pixel_run)
    assert {int(row["step"]) for row in rows} == {1, 2, 5}
    assert {row["dimension"] for row in rows} == {"all"}

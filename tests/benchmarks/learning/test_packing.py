"""Runs that are packed and unpacked tell what they told."""

import csv
import json

import pytest

from agents.runs import history, records
from agents.runs.config.resolving import resolve
from agents.runs.folder import open_run, runs_below
from agents.runs.grouping import arrange
from agents.study.compare import compare
from benchmarks.learning import packing
from benchmarks.learning.packed import read_curves, read_metrics, read_runs
from benchmarks.learning.packing import has_all_steps, migrate, pack, unpack, unpacked
from tests.agents.presets import FAKE, used

FILES = {"configs.yaml", "curves.csv.gz", "runs.csv"}


@pytest.fixture
def packed(tmp_path):
    """A function that packs a folder of runs and unpacks all that were packed."""

    def of(root):
        pack(root, tmp_path / "study")
        unpack(tmp_path / "study", tmp_path / "runs")
        return list(runs_below(tmp_path / "runs"))

    return of


def test_a_packed_run_tells_what_its_run_tells(make_run, packed, tmp_path):
    run = make_run(tmp_path / "logdir" / "a", 3, [[1.0, 2 / 3], [3.0, 4.0]])
    row = {"episodes": 3, "environment_steps": 3000, "none": None, "on": True, "word": "x"}
    records.append_metrics(run, row)
    (kept,) = packed(tmp_path / "logdir")
    assert kept == tmp_path / "runs" / "a"
    assert {file.name for file in (tmp_path / "study").iterdir()} == FILES
    ours, theirs = history.load(kept), history.load(run)
    assert ours.config == theirs.config | {"logdir": f"{tmp_path}/logdir/a"}
    assert ours.scores == theirs.scores == read_curves(tmp_path / "study")["a"][1]
    assert ours.metrics == theirs.metrics == read_metrics(tmp_path / "study", "a")
    session = {"started": 3} | make_run.source
    assert [session.items() <= row.items() for row in records.read_sessions(kept)] == [True]


def test_runs_have_a_row_with_what_was_set_score_minutes_and_commit(make_run, tmp_path):
    make_run(tmp_path / "logdir/a/0", 0, [[1.0], [2.0, 4.0]])
    run = make_run(
        tmp_path / "logdir/b/0",
        0,
        [[1.0]],
        value={"kind": "td", "units": 9},
        environment_steps=1000,
    )
    records.append_session(run, records.read_sessions(run)[0] | {"commit": "def"})
    (run / "scores.csv").unlink()
    make_run(tmp_path / "logdir/b/1", 1, [[1.0]], value=None)
    pack(tmp_path / "logdir", tmp_path / "study")
    first, second, third = read_runs(tmp_path / "study").values()
    expected = {"steps": 2000, "score": 3.0, "minutes": 1.0, "commit": "abc", "seed": 0}
    assert expected.items() <= first.items()
    assert {"value.units", "transition"} & first.keys() == set()
    assert (second["value.kind"], second["value.units"]) == ("td", 9)
    assert second["commit"] == ["abc", "def"]
    assert third["value"] is None
    assert "score" not in second


def test_groups_of_unpacked_runs_have_the_same_names(make_run, packed, tmp_path):
    settings = [
        {"batch_size": 2, "action_noise": {"color": 0.0, "stddev": 0.1}},
        {"batch_size": 1, "action_noise": {"color": 0.0, "stddev": 0.3}},
        {"batch_size": 1, "action_noise": {"color": 1.0, "stddev": 0.3}},
    ]
    for number, each in enumerate(settings):
        make_run(tmp_path / "logdir" / str(number), 0, [[1.0]], **each)
    labels = [
        [group.label for group in arrange(list(map(history.load, runs)))]
        for runs in (runs_below(tmp_path / "logdir"), packed(tmp_path / "logdir"))
    ]
    assert labels[0] == labels[1]
    assert labels[0][0] == "action_noise.color=0.0, action_noise.stddev=0.1, batch_size=2"


def test_unpacked_runs_can_be_compared(make_run, tmp_path):
    for seed, transition in enumerate(("ensemble", "deterministic")):
        run = tmp_path / "logdir" / transition
        make_run(run, seed, [[1.0], [2.0]], transition=transition)
    pack(tmp_path / "logdir", tmp_path / "study")
    with unpacked(tmp_path / "study") as place:
        compare([place], tmp_path / "out")
    assert "transition=deterministic" in (tmp_path / "out" / "comparison.md").read_text()


def test_metrics_are_kept_to_five_digits_and_counts_whole(make_run, packed, tmp_path):
    run = make_run(tmp_path / "logdir", 0, [[1.0]])
    row = {"episodes": 2, "environment_steps": 1234567, "loss": 0.123456789}
    records.append_metrics(run, row)
    (kept,) = packed(tmp_path / "logdir")
    assert records.read_metrics(kept)[-1] == row | {"loss": 0.12346}


@pytest.mark.parametrize(("data", "many"), [(None, 13), (None, 12), ("logs", 13)])
def test_losses_of_logged_or_many_episodes_are_packed_after_every_tenth(
    make_run, packed, tmp_path, monkeypatch, data, many
):
    monkeypatch.setattr(packing, "_MANY", many)
    run = make_run(tmp_path / "logdir", 0, [[1.0]], data=data)
    for number in range(2, 13):
        row = {"episodes": number, "environment_steps": 1000 * number}
        losses = {"train/loss": 0.5, "collect/return": 2.0}
        judged = {"evaluate/return": 3.0} if number == 6 else {}
        records.append_metrics(run, row | losses | judged)
    (kept,) = packed(tmp_path / "logdir")
    rows = [row for row in records.read_metrics(kept) if row["episodes"] > 1]
    assert [row["collect/return"] for row in rows] == [2.0] * 11
    with_losses = [row["episodes"] for row in rows if "train/loss" in row]
    assert with_losses == ([6, 10, 11] if data or many == 12 else [*range(2, 13)])


def test_the_same_runs_give_the_same_bytes_even_packed_twice(make_run, tmp_path):
    for seed in (0, 1):
        make_run(tmp_path / "logdir" / str(seed), seed, [[1.0]])
    pack(tmp_path / "logdir", tmp_path / "one")
    for _ in range(2):
        pack(tmp_path / "logdir", tmp_path / "two")
    for name in FILES:
        one, two = ((tmp_path / folder / name).read_bytes() for folder in ("one", "two"))
        assert one == two


def test_a_run_that_went_on_replaces_what_is_packed_and_one_begun_anew_does_not(
    make_run, packed, tmp_path
):
    for folder in "abc":  # named alike, on three machines
        (tmp_path / folder).mkdir()
    make_run(tmp_path / "a/run", 0, [[1.0], [2.0]])
    make_run(tmp_path / "b/run", 0, [[7.0]])
    make_run(tmp_path / "c/run", 0, [[3.0], [4.0], [5.0]])
    for folder, last in (("a", 2.0), ("b", 2.0), ("c", 5.0)):
        (kept,) = packed(tmp_path / folder)
        assert records.read_scores(kept)[-1]["return"] == last


def test_a_run_without_scores_is_packed_once_it_has_all_steps(make_run, packed, tmp_path):
    for name, every in (("begun", 1000), ("done", 100_000)):
        run = make_run(tmp_path / "logdir" / name, 0, [[1.0]], every)
        (run / "scores.csv").unlink()
    (kept,) = packed(tmp_path / "logdir")
    assert kept == tmp_path / "runs" / "done"
    assert has_all_steps(kept)
    assert not has_all_steps(tmp_path / "logdir" / "begun")
    assert not has_all_steps(tmp_path / "nothing")


def test_what_was_measured_is_packed_too_forecasts_for_all_dimensions(
    make_run, packed, tmp_path
):
    run = make_run(tmp_path / "logdir", 0, [[1.0]])
    (run / "probe.csv").write_text('target,r_squared,low\n"x, y",0.5,\n')
    (run / "calibration.csv").write_text("run,dimension,n\na,all,0.712345678\na,3,0.9\n")
    (kept,) = packed(tmp_path / "logdir")
    with open(kept / "probe.csv", newline="") as file:
        assert list(csv.DictReader(file)) == [{"target": "x, y", "r_squared": "0.5"}]
    # no folder of one machine is named
    assert (kept / "calibration.csv").read_text() == "dimension,n\nall,0.71235\n"


def test_a_run_that_diverged_says_so(make_run, packed, tmp_path):
    run = make_run(tmp_path / "logdir", 0, [[1.0]])
    found = history.Divergence(1, 7, ("reward_loss",))
    history.write_divergence(run, found)
    (kept,) = packed(tmp_path / "logdir")
    assert history.read_divergence(kept) == found


@pytest.mark.parametrize(
    ("seed", "returns"), [(0, [[1.0], [2.0]]), (1, [[1.0]])], ids=["gone on", "begun anew"]
)
def test_what_was_measured_elsewhere_stays_while_the_weights_are_the_same(
    make_run, tmp_path, seed, returns
):
    run = make_run(tmp_path / "logdir", 0, [[1.0]])
    for name in ("planners.csv", "spread.csv"):
        (run / name).write_text("n\n1\n")
    study = tmp_path / "study"
    pack(tmp_path / "logdir", study)
    for name in ("planners.csv", "spread.csv"):
        (run / name).unlink()
    pack(tmp_path / "logdir", study)
    packed = FILES | {"planners.csv.gz", "spread.csv.gz"}
    assert {file.name for file in study.iterdir()} == packed
    make_run(tmp_path / "other", seed, returns)
    pack(tmp_path / "other", study)
    assert {file.name for file in study.iterdir()} == FILES


def test_what_is_packed_stays_where_the_runs_are_gone(make_run, packed, tmp_path):
    make_run(tmp_path / "logdir", 0, [[1.0]])
    kept = packed(tmp_path / "logdir")
    assert packed(tmp_path / "nothing") == kept
    assert json.loads((kept[0] / "sessions.jsonl").read_text())["commit"] == "abc"
    pack(tmp_path / "nothing", tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_packed_runs_of_an_earlier_version_are_migrated_in_their_place(tmp_path):
    root, study = tmp_path / "logdir", tmp_path / "study"
    for task, repeat in (("fake", 1), ("fake_ending", 2)):
        words = f"task={task}", f"action_repeat={repeat}", "environment_steps=20"
        folder = root / task / "0"
        with open_run(used(*words, f"logdir={folder}")):
            row = {"episodes": 1, "environment_steps": 20}
            records.append_metrics(folder, row)
    pack(root, study)
    today = {name: (study / name).read_bytes() for name in FILES}
    text = (study / "configs.yaml").read_text().replace("devices:", "strategy:")
    (study / "configs.yaml").write_text(text.replace("compile: true", "compile: null"))
    assert migrate(study, lambda config: resolve(config, FAKE)) == 2
    assert {name: (study / name).read_bytes() for name in FILES} == today
    assert migrate(study, None) == 0

"""Tests of agents.study.compare.insights: files of probes and calibrations, over seeds."""

import csv

import pytest

from agents.study.compare import compare
from agents.system.files import write_csv


@pytest.fixture
def folder(make_run, tmp_path):
    """Three runs that were probed and calibrated, and one that was not."""
    for seed in range(4):
        run = make_run(tmp_path / "runs" / str(seed), seed, [[1.0]])
        if seed < 3:
            about = {"environment_steps": 1000, "episodes": 4, "actions": "random"}
            about |= {"target": "velocity 0", "probe": "mlp", "low": 0.0, "high": 1.0}
            shares = {"latent": 0.5 + seed / 10, "embedding": -0.1}
            rows = [about | {"input": name, "r_squared": x} for name, x in shares.items()]
            write_csv(run / "probe.csv", rows)
            _write_calibration(run, inside=0.1 * (seed + 1))
            _write_spread(run, worth=0.2 * (seed + 1))
    return tmp_path / "runs"


def _write_calibration(run, inside):
    rows = []
    for forecast in ("central weights", "5 draws"):
        for judged, name in (("run", "reparameterization"), ("other", "flipout")):
            for dimension in ("all", "0", "1"):
                about = {"actions": "policy of flipout", "forecast": f"{name}, {forecast}"}
                about |= {"judged": judged, "transition": name, "environment_steps": 1000}
                about |= {"episodes": 4, "dimension": dimension}
                rows += [about | _scores(step, inside) for step in (1, 2, 50)]
    write_csv(run / "calibration.csv", rows)


def _write_spread(run, worth):
    about = {"environment_steps": 1000, "episodes": 4, "spread": "epistemic"}
    worths = {"rank_correlation": worth, "rank_correlation_policy": worth / 2}
    worths |= {"auroc": 1.0 - worth}
    write_csv(
        run / "spread.csv",
        [
            about | {"judged": judged, "measure": measure, "value": sign * value}
            for judged, sign in (("run", 1.0), ("other", -1.0))
            for measure, value in worths.items()
        ],
    )


def _scores(step, inside):
    levels = (50, 80, 95)
    scores = {f"coverage_{level}": inside * step / 50 for level in levels}
    scores |= {f"deviation_{level}": 0.25 for level in levels}
    return {"step": step} | scores | {"negative_log_likelihood": 2.0}


def read(file):
    with open(file, newline="") as handle:
        return list(csv.DictReader(handle))


def test_probes_are_medians_over_the_seeds_that_have_them(folder, tmp_path):
    compare([folder], tmp_path / "out")
    latent, embedding = read(tmp_path / "out" / "probes.csv")
    assert (latent["seeds"], latent["input"], latent["target"]) == (
        "3",
        "latent",
        "velocity 0",
    )
    columns = ("r_squared", "r_squared_lowest", "r_squared_highest")
    assert [float(latent[column]) for column in columns] == pytest.approx([0.6, 0.5, 0.7])
    assert embedding["r_squared"] == "-0.1"
    text = (tmp_path / "out" / "comparison.md").read_text()
    assert "| target | latent mlp | embedding mlp |" in text
    assert "| velocity 0 | 0.60 (0.50 to 0.70) | -0.10 (-0.10 to -0.10) |" in text


def test_calibration_has_a_row_for_every_step_and_the_mean_of_dimensions(folder, tmp_path):
    compare([folder], tmp_path / "out")
    rows = read(tmp_path / "out" / "calibration.csv")
    assert len(rows) == 2 * 2 * 3
    own = [row for row in rows if row["forecast"] == "reparameterization, 5 draws"]
    assert [row["step"] for row in own] == ["1", "2", "50"]
    assert {row["environment_steps"] for row in rows} == {"1000"}
    assert float(own[2]["coverage_80"]) == pytest.approx(0.2)


def test_table_of_calibration_has_the_mean_of_dimensions(folder, tmp_path):
    compare([folder], tmp_path / "out")
    lines = (tmp_path / "out" / "comparison.md").read_text().splitlines()
    shown = [line.split(" | ")[3:] for line in lines if "policy of flipout" in line]
    assert [cells[1] for cells in shown] == [
        "reparameterization, central weights",
        "flipout, central weights",  # its draws are in the file alone
        "reparameterization, 5 draws",
    ]
    inside, off = "0.00, 0.01, 0.20", "0.25, 0.25, 0.25"
    assert shown[-1][2:] == ["1,000", inside, inside, inside, off, "2.00, 2.00, 2.00 |"]


def test_what_spread_is_worth_is_told_of_the_runs_themselves(folder, tmp_path):
    compare([folder], tmp_path / "out")
    correlation, _, auroc = read(tmp_path / "out" / "spread.csv")
    columns = ("value", "value_lowest", "value_highest")
    assert [float(correlation[each]) for each in columns] == pytest.approx([0.4, 0.2, 0.6])
    assert (correlation["measure"], correlation["seeds"]) == ("rank_correlation", "3")
    assert float(auroc["value"]) == pytest.approx(0.6)
    text = (tmp_path / "out" / "comparison.md").read_text()
    cells = ["0.40 (0.20 to 0.60)", "0.20 (0.10 to 0.30)", "0.60 (0.40 to 0.80)"]
    assert f"| epistemic | 1,000 | 4 | {' | '.join(cells)} |" in text
    assert "for the policy's steps" in text
    assert "for random actions" not in text  # of which no run tells


@pytest.mark.slow
@pytest.mark.parametrize("name", ["probe", "calibration", "spread"])
def test_files_of_an_older_version_are_left_out_by_name(folder, tmp_path, caplog, name):
    file = folder / "1" / f"{name}.csv"
    file.write_text("actions,step\npolicy,1\n")
    compare([folder], tmp_path / "out")
    command = {"probe": "probe"}.get(name, "calibrate")
    column = {"calibration": "forecast", "spread": "judged"}.get(name, "environment_steps")
    said = f"left out: {file} has no column {column!r}; run bayes-rl {command} again"
    assert said in caplog.messages
    found = tmp_path / "out" / {"probe": "probes.csv"}.get(name, f"{name}.csv")
    assert {row["seeds"] for row in read(found)} == {"2"}


@pytest.mark.parametrize("rest", ["", "x", "\x00"])
def test_damaged_files_are_left_out_by_name(folder, tmp_path, caplog, rest):
    file = folder / "1" / "calibration.csv"
    text = file.read_text()
    file.write_text(text[: text.rindex(",") - 3] + rest)
    compare([folder], tmp_path / "out")
    said = f"left out: {file} is damaged; run bayes-rl calibrate again"
    assert said in caplog.messages


@pytest.mark.slow
@pytest.mark.parametrize("name", ["probe", "spread"])
def test_a_file_whose_last_number_may_be_cut_is_left_out(folder, tmp_path, caplog, name):
    file = folder / "1" / f"{name}.csv"
    file.write_text(file.read_text().rstrip())
    compare([folder], tmp_path / "out")
    assert f"left out: {file} is damaged" in caplog.text


def _write_worths(make_run, folder, steps, worths):
    """A run for each seed; a run with several numbers was calibrated as often."""
    for seed, (steps_of, own) in enumerate(zip(steps, worths, strict=True)):
        about = {"judged": "run", "episodes": 4, "spread": "epistemic", "measure": "auroc"}
        write_csv(
            make_run(folder / str(seed), seed, [[1.0]]) / "spread.csv",
            [
                about | {"environment_steps": step, "value": value}
                for step, value in zip(steps_of, own, strict=True)
            ],
        )


@pytest.mark.parametrize(
    ("steps", "worths", "expected"),
    [
        ([[40_017], [40_003], [40_008]], [[0.6], [0.7], [0.9]], [(3, 40_003, 0.7)]),
        ([[1000], [1050]], [[0.6], [0.8]], [(2, 1000, 0.7)]),
        ([[1000], [1051]], [[0.6], [0.8]], [(1, 1000, 0.6), (1, 1051, 0.8)]),
        (  # at two points of a run, which are never two seeds
            [[1000, 1030], [1010, 1040]],
            [[0.1, 0.5], [0.3, 0.7]],
            [(2, 1000, 0.2), (2, 1030, 0.6)],
        ),
    ],
)
def test_runs_of_about_as_many_steps_are_pooled(
    make_run, tmp_path, steps, worths, expected
):
    _write_worths(make_run, tmp_path / "runs", steps, worths)
    compare([tmp_path / "runs"], tmp_path / "out")
    rows = read(tmp_path / "out" / "spread.csv")
    found = [(int(r["seeds"]), int(r["environment_steps"]), r["value"]) for r in rows]
    assert [each[:2] for each in found] == [each[:2] for each in expected]
    values = [float(value) for *_, value in found]
    assert values == pytest.approx([value for *_, value in expected])


def test_number_that_one_seed_lacks_is_that_of_the_others(folder, tmp_path):
    file = folder / "1" / "probe.csv"
    file.write_text(file.read_text().replace("0.6", "nan"))
    compare([folder], tmp_path / "out")
    latent, embedding = read(tmp_path / "out" / "probes.csv")
    columns = ("r_squared", "r_squared_lowest", "r_squared_highest")
    assert [float(latent[column]) for column in columns] == pytest.approx([0.6, 0.5, 0.7])
    assert (latent["seeds"], embedding["seeds"]) == ("2", "3")


def test_number_that_all_seeds_lack_is_a_dash(folder, tmp_path):
    for seed, share in enumerate(("0.5", "0.6", "0.7")):
        file = folder / str(seed) / "probe.csv"
        file.write_text(file.read_text().replace(share, "nan"))
    compare([folder], tmp_path / "out")
    text = (tmp_path / "out" / "comparison.md").read_text()
    assert "| velocity 0 | - | -0.10 (-0.10 to -0.10) |" in text


def test_runs_without_such_files_have_no_such_tables(make_run, tmp_path):
    make_run(tmp_path / "runs", 0, [[1.0]])
    compare([tmp_path / "runs"], tmp_path / "out")
    names = {file.stem for file in (tmp_path / "out").glob("*.csv")}
    assert not names & {"probes", "calibration"}

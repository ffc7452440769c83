"""The benchmark runs, at a tiny size; how fast things are is never asserted."""

import csv
import pathlib

import pytest

from agents.runs.config.overrides import load
from benchmarks.measuring import peak
from benchmarks.speed import __main__ as benchmarks
from benchmarks.speed.cases import all_cases

RESULTS = pathlib.Path(benchmarks.__file__).parents[2] / "results"
TINY = [
    "batch_size=20",
    "sequence_length=3",
    "world_model.belief_size=6",
    "world_model.latent_size=3",
    "world_model.hidden_size=7",
    "world_model.embedding_size=5",
    "world_model.reward_units=9",
    "planner.horizon=2",
    "planner.candidates=6",
    "planner.elites=2",
    "planner.iterations=2",
]


@pytest.fixture(autouse=True)
def _small_products(monkeypatch):
    monkeypatch.setattr(peak, "SQUARES", [(8, 8, 8)])
    monkeypatch.setattr(peak, "_INNER_FLOPS", 1e3)


@pytest.mark.slow
def test_all_cases_of_a_size_are_measured_and_saved(tmp_path, capsys):
    options = ["--only", "cpu", "--repeats", "2", "--no-memory", "--folder", str(tmp_path)]
    benchmarks.main([*options, *TINY])
    with open(tmp_path / "benchmarks.csv") as file:
        rows = list(csv.DictReader(file))
    measured = [(row["group"], row["case"]) for row in rows]
    cases = [(case.group, case.name) for case in all_cases() if "cpu" in case.group]
    assert measured[2:] == cases
    assert {row["group"] for row in rows[:2]} == {"best matrix product"}
    assert all(float(row["milliseconds"]) > 0 for row in rows)
    assert "flipout" in capsys.readouterr().out
    assert "flipout" in (tmp_path / "benchmarks.md").read_text()


@pytest.mark.slow
def test_memory_is_that_of_a_process_of_its_own():
    case = next(x for x in all_cases(tuple(TINY)) if x.kind == "decide")
    (row,) = benchmarks.run([case], repeats=1)[-1:]
    assert row["memory_mib"] > 100


def test_a_name_without_cases_ends_with_one_line():
    with pytest.raises(SystemExit, match="no case has 'elephant' in its name"):
        benchmarks.main(["--only", "elephant"])


def test_a_wrong_word_ends_with_one_line():
    message = "^benchmarks: there is no key 'batchsize'; did you mean 'batch_size'\\?$"
    with pytest.raises(SystemExit, match=message):
        benchmarks.main(["batchsize=3"])


def test_the_cases_are_compared_with_one_of_their_group():
    cases = all_cases()
    names = {(case.group, case.name) for case in cases}
    assert len(names) == len(cases)
    for case in cases:
        assert case.reference is None or (case.group, case.reference) in names


@pytest.mark.slow
def test_the_page_of_results_counts_what_cases_of_today_do():
    """So that a change of the agent or of the cases is not shown with speeds of before."""
    counted = {(case.group, case.name): case.flops / 1e9 for case in all_cases()}
    with open(RESULTS / "benchmarks.csv") as file:
        rows = {(row["group"], row["case"]): row for row in csv.DictReader(file)}
    shown = {key: row["gflop"] for key, row in rows.items() if "best matrix" not in key[0]}
    assert shown.keys() == counted.keys()
    for key, gflop in shown.items():
        assert float(gflop) == pytest.approx(counted[key], rel=1e-3)


def test_the_answer_is_about_the_default():
    default = load(["explore=greedy"]).transition
    cases = {"deterministic": (2.0, 1.0), default: (3.0, 1.5)}
    rows = [
        {"group": "train step, cpu size", "case": name}
        | {"milliseconds": ms, "over_reference": ratio}
        for name, (ms, ratio) in cases.items()
    ]
    rows.append({"group": "decision, cpu size", "case": "icem", "milliseconds": 9.0})
    facts = {"threads": "1", "cores": "2", "processor": "a chip"}
    assert benchmarks.answer(rows, facts) == (
        "On 1 core of a chip, a training step of the default takes 3.0 ms and a decision "
        "9.0 ms. With its posterior, a training step takes 1.50 times as long as without "
        "one."
    )
    assert benchmarks.answer(rows[:1], facts) == ""

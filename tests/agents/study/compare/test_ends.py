"""Tests of agents.study.compare.ends: where runs are compared, and which are left out."""

import logging

import pytest

from agents.runs import history
from agents.study.compare import compare
from agents.system.errors import UserError

STEPS = 40_000
DIVERGED = history.Divergence(3, 307, ("reward_loss",))


@pytest.fixture
def make_six(make_run, tmp_path):
    """Two groups of three seeds that end at 300 and 800; the ends of some are others'."""

    def make(ends=(), diverged=()):
        for name, last in (("One", 300.0), ("Two", 800.0)):
            for seed in range(3):
                end = dict(ends).get((name, seed), STEPS)
                scores = [[100.0 + last * k / 40] for k in range(1, end // 1000 + 1)]
                scores = [[last] if k == 40 else own for k, own in enumerate(scores, 1)]
                explored = (0, *([1] * (end // 1000 - 1)))
                words = {"explore": {"kind": name}, "environment_steps": STEPS}
                run = make_run(
                    tmp_path / "runs" / f"{name}{seed}", seed, scores, explored, **words
                )
                if (name, seed) in diverged:
                    history.write_divergence(run, DIVERGED)
        return tmp_path / "runs"

    return make


def test_a_run_that_diverged_keeps_its_last_score_and_is_marked(make_six, tmp_path, read):
    runs = make_six(ends={("One", 2): 3000}, diverged=[("One", 2)])
    compare([runs], tmp_path / "out")
    one, two = read(tmp_path / "out", "scores")
    assert one["environment_steps"] == two["environment_steps"] == "40000"
    assert one["each_seed"] == "300, 300, 122 (diverged)"
    assert (one["seeds"], one["iqm_low"], one["iqm_high"]) == ("3", "122.5", "300")
    assert two["each_seed"] == "800, 800, 800"
    curve = [row for row in read(tmp_path / "out", "curves") if "One" in row["group"]]
    assert curve[-1]["environment_steps"] == "40000"
    assert curve[-1]["iqm"] == one["iqm"]
    text = (tmp_path / "out" / "comparison.md").read_text()
    assert f"- {runs}/One2 ended early: the model diverged after episode 3" in text
    assert "it keeps its last score" in text
    assert "are compared at" not in text
    (pair,) = read(tmp_path / "out", "improvement")
    assert (pair["group"], pair["probability"]) == ("explore=Two", "1")
    diverged = [row["diverged"] for row in read(tmp_path / "out", "runs")]
    assert diverged == ["", "", "3000", "", "", ""]
    exploration = read(tmp_path / "out", "exploration")
    assert {row["environment_steps"] for row in exploration} == {"40000"}


def test_runs_whose_last_episodes_differ_in_length_are_compared_by_their_last_scores(
    make_run, tmp_path, read
):
    words = {"environment_steps": 2900, "evaluation": {"every_steps": 1450, "episodes": 1}}
    for seed, every in enumerate((1450, 1500, 1600)):
        make_run(tmp_path / str(seed), seed, [[1.0], [9.0]], every=every, **words)
    compare([tmp_path], tmp_path / "out")
    (row,) = read(tmp_path / "out", "scores")
    assert (row["environment_steps"], row["each_seed"]) == ("2900", "9, 9, 9")
    curve = read(tmp_path / "out", "curves")
    assert [point["environment_steps"] for point in curve] == ["1450", "2900"]


def test_a_run_that_lags_is_left_out_by_name(make_six, tmp_path, read, caplog):
    runs = make_six(ends={("Two", 0): 2000})
    with caplog.at_level(logging.WARNING):
        compare([runs], tmp_path / "out")
    one, two = read(tmp_path / "out", "scores")
    assert (one["environment_steps"], one["seeds"], two["seeds"]) == ("40000", "3", "2")
    assert two["each_seed"] == "800, 800"
    said = (
        f"left out: {runs}/Two0 has come to 2,000 of 40,000 environment steps; others are"
    )
    assert caplog.text.count(said) == 1
    assert f"- {said} finished" in (tmp_path / "out" / "comparison.md").read_text()
    curve = [row for row in read(tmp_path / "out", "curves") if "Two" in row["group"]]
    assert (curve[-1]["environment_steps"], curve[-1]["seeds"]) == ("40000", "2")
    assert len(read(tmp_path / "out", "runs")) == 6, "a run is told, compared or not"


def test_where_all_diverged_their_last_scores_are_compared(make_six, tmp_path, read):
    names = [(name, seed) for name in ("One", "Two") for seed in range(3)]
    ends = {each: 1000 * k for k, each in enumerate(names, 2)}
    compare([make_six(ends, diverged=names)], tmp_path / "out")
    rows = read(tmp_path / "out", "scores")
    assert {row["environment_steps"] for row in rows} == {"7000"}
    curves = read(tmp_path / "out", "curves")
    assert {row["environment_steps"] for row in curves if "One" in row["group"]} >= {"7000"}


def test_runs_are_compared_at_the_steps_asked_for(make_six, tmp_path, read, caplog):
    ends = {("One", 0): 500, ("Two", 0): 2000, ("Two", 1): 7000, ("Two", 2): 4000}
    runs = make_six(ends, diverged=[("Two", 0)])
    with caplog.at_level(logging.WARNING):
        compare([runs], tmp_path / "out", at=5500)
    one, two = read(tmp_path / "out", "scores")
    assert (one["environment_steps"], one["each_seed"]) == ("5500", "138, 138")
    assert two["each_seed"] == "140 (diverged), 200"
    for name, steps in (("One0", "1,000"), ("Two2", "4,000")):
        said = f"left out: {runs}/{name} has come to {steps} of 40,000 environment steps"
        assert f"{said}; compared are 5,500 (--at)" in caplog.text
    steps = {int(row["environment_steps"]) for row in read(tmp_path / "out", "curves")}
    assert max(steps) <= 5500


def test_a_run_without_an_evaluation_by_then_is_named(make_run, tmp_path, caplog, read):
    make_run(tmp_path / "a", 0, [[1.0], [2.0]])
    make_run(tmp_path / "b", 1, [[5.0]], every=3000)
    with caplog.at_level(logging.WARNING):
        compare([tmp_path / "a", tmp_path / "b"], tmp_path / "out", at=2000)
    (row,) = read(tmp_path / "out", "scores")
    assert row["each_seed"] == "2"
    said = f"{tmp_path}/b has no score: no evaluation had finished in 2,000 environment"
    assert said in caplog.text


def test_steps_to_which_no_run_has_come_are_refused(make_run, tmp_path):
    make_run(tmp_path / "a", 0, [[1.0], [2.0]])
    with pytest.raises(
        UserError, match=r"no run has come to 9,000 .*/a, has come to 3,000"
    ):
        compare([tmp_path / "a"], tmp_path / "out", at=9000)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_figures_mark_runs_that_diverged(make_six, tmp_path, drawn, monkeypatch):
    from agents.study.compare import comparing

    figures = {}
    monkeypatch.setattr(comparing, "save", lambda found, _: figures.update(found) or [])
    compare([make_six({("One", 2): 3000}, [("One", 2)])], tmp_path / "out")
    for name in ("scores", "final_scores"):
        (axes,) = [each for each in figures[name].axes if each.lines]
        crosses = [line for line in axes.lines if line.get_marker() == "x"]
        assert [
            float(line.get_ydata()[0] if name == "scores" else line.get_xdata()[0])
            for line in crosses
        ] == [122.5]
        assert "x: where a run diverged" in " ".join(figures[name].get_suptitle().split())
    texts = [text.get_text() for text in figures["scores"].axes[0].get_legend().get_texts()]
    assert any("n = 3 seeds, 1 diverged" in text.replace("\n", " ") for text in texts)
    for line in figures["scores"].axes[0].lines[:3]:
        assert line.get_xdata()[-1] == STEPS, "the curve of the group is not cut"

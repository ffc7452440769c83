"""Tests of agents.study.compare as a whole."""

import subprocess
import sys

import numpy as np
import pytest

from agents.__main__ import main
from agents.study.compare import compare
from agents.study.compare.ends import taking_part
from agents.study.compare.scores import comparable, final_evaluations, seed_scores
from agents.study.frames import read as read_runs
from agents.system.errors import UserError


def test_scores_are_those_of_seeds(output, read):
    greedy, thompson = read(output[0], "scores")
    assert greedy["group"] == "explore=Greedy"
    # seeds score 5, 105 and 205; of three, none is left out
    assert (greedy["iqm"], greedy["iqm_low"], greedy["iqm_high"]) == (
        "105",
        "5",
        "205",
    )
    assert (greedy["seeds"], greedy["evaluation_episodes"]) == ("3", "6")
    assert (greedy["environment_steps"], greedy["median"]) == ("2000", "105")
    assert float(thompson["mean"]) == 500.5


def test_curves_are_the_scores_at_each_evaluation(output, read):
    rows = [row for row in read(output[0], "curves") if row["group"] == "explore=Greedy"]
    assert [row["environment_steps"] for row in rows] == ["1000", "2000"]
    last = read(output[0], "scores")[0]
    assert [rows[-1][name] for name in ("seeds", "iqm", "iqm_low", "iqm_high")] == [
        last[name] for name in ("seeds", "iqm", "iqm_low", "iqm_high")
    ]
    assert rows[0]["iqm"] != rows[1]["iqm"]


def test_improvement_is_stated_the_way_round_that_improves(output, read):
    (row,) = read(output[0], "improvement")
    assert (row["group"], row["than"]) == ("explore=Thompson", "explore=Greedy")
    assert (row["probability"], row["runs"]) == ("1", "3 and 3")


def test_single_runs_are_not_said_to_improve_on_others(make_run, tmp_path, read):
    for kind, seeds in (("One", 1), ("Two", 2), ("Three", 3)):
        for seed in range(seeds):
            explore = {"explore": {"kind": kind}}
            make_run(tmp_path / kind / str(seed), seed, [[10.0 * seeds]], **explore)
    compare([tmp_path], tmp_path / "out")
    (row,) = read(tmp_path / "out", "improvement")
    assert (row["group"], row["than"]) == ("explore=Three", "explore=Two")


@pytest.mark.slow
def test_groups_are_held_against_each_other_where_both_have_runs(make_run, tmp_path, read):
    there = {
        "One": ("reacher_easy", "cheetah_run"),
        "Two": ("cheetah_run",),
        "Three": ("fake",),
    }
    for number, (kind, tasks) in enumerate(there.items()):
        for task in tasks:
            for seed in range(2):
                words = {"explore": {"kind": kind}, "task": task}
                make_run(
                    tmp_path / kind / task / str(seed), seed, [[10.0 * number]], **words
                )
    compare([tmp_path], tmp_path / "out")
    (row,) = read(tmp_path / "out", "improvement")
    assert (row["group"], row["than"]) == ("explore=Two", "explore=One")
    assert (row["tasks"], row["runs"]) == ("cheetah_run", "2 and 2")


@pytest.mark.slow
def test_every_run_is_in_a_row(output, read):
    rows = read(output[0], "runs")
    assert [row["seed"] for row in rows] == ["0", "1", "2"] * 2
    assert [row["score"] for row in rows[:3]] == ["5", "105", "205"]
    assert [row["first_reward_episode"] for row in rows[:3]] == ["inf", "inf", "4"]


def test_published_scores_stand_beside_with_steps_and_source(make_groups, tmp_path, read):
    compare([make_groups(every=10_000)], tmp_path / "out")
    rows = read(tmp_path / "out", "published")  # others have none near 20,000 steps
    assert [row["method"] for row in rows] == ["DreamerV3", "MR.Q", "PPO", "DC-MPC"]
    steps = [row["environment_steps"] for row in rows]
    assert steps == ["20000", "20000", "20000", "25000"]
    row, other = rows[:2]
    assert other["seeds"] == "10"
    assert row["mean"] == "0"
    assert "danijar/dreamerv3" in row["source"]
    assert "| DreamerV3, published |" in (tmp_path / "out" / "comparison.md").read_text()


def test_a_printed_table_has_the_six_best_published_methods(make_groups, tmp_path, read):
    compare([make_groups(every=100_000, task="cheetah_run")], tmp_path / "out")
    means = {r["method"]: float(r["mean"]) for r in read(tmp_path / "out", "published")}
    text = (tmp_path / "out" / "comparison.md").read_text()
    shown = {name for name in means if f"| {name}, published |" in text}
    assert shown == {*sorted(means, key=means.get)[-6:]}
    assert len(means) > 6
    assert "the 6 best methods of a task; published.csv has all" in text


@pytest.mark.slow
def test_published_scores_are_not_beside_groups_of_which_one_pays_for_actions(
    make_run, tmp_path, read
):
    make_run(tmp_path / "a", 0, [[1.0]], every=20_000, action_cost=0.0)
    compare([tmp_path / "a"], tmp_path / "free")
    assert read(tmp_path / "free", "published")
    make_run(tmp_path / "b", 0, [[1.0]], every=20_000, action_cost=0.1)
    compare([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    assert not (tmp_path / "out" / "published.csv").exists()


def test_few_seeds_are_warned_of(output):
    assert (
        "pendulum_swingup, explore=Greedy: n = 3 is below 5; do not rely on its"
        in output[2]
    )


@pytest.mark.slow
def test_markdown_holds_what_was_printed(output):
    text = (output[0] / "comparison.md").read_text()
    assert (
        "| pendulum_swingup | explore=Thompson | 3† | 2,000 | 4 | 500.5 [500, 501] |"
        in text
    )
    row = "| explore=Thompson | explore=Greedy | pendulum_swingup | 3 and 3† | 1 [1, 1] |"
    assert row in text
    assert "| 4,000 | 0 of 3 | 1 of 3 | never [4, never] |" in text
    assert text.endswith(
        "- † Fewer than 5 seeds. The IQM of three seeds is their mean, and an interval is "
        "about their range. For equal groups, the interval of a probability of "
        "improvement excludes 0.5 in one comparison of three (two seeds each) or of five "
        "(three seeds each).\n"
    )


def test_what_is_joined_over_tasks_and_differs_is_named(make_run, tmp_path):
    for task, transition in (("reacher_easy", "flipout"), ("cheetah_run", "ensemble")):
        make_run(tmp_path / "runs" / task, task=task, transition=transition)
    compare([tmp_path / "runs"], tmp_path / "out")
    text = (tmp_path / "out" / "comparison.md").read_text()
    assert (
        "over cheetah_run and reacher_easy, groups of one name count as one method" in text
    )
    assert "though they differ in transition: the only groups" in text


@pytest.mark.slow
def test_files_of_an_earlier_comparison_go(make_run, tmp_path):
    for kind in ("One", "Two"):
        for seed in range(2):
            folder = tmp_path / "a" / kind / str(seed)
            make_run(folder, seed, [[1.0]], explore={"kind": kind})
    make_run(tmp_path / "b", 0, [[1.0]])
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").touch()
    first = compare([tmp_path / "a"], tmp_path / "out")
    second = compare([tmp_path / "b"], tmp_path / "out")
    assert tmp_path / "out" / "improvement.csv" in set(first) - set(second)
    there = set((tmp_path / "out").iterdir())
    assert there == {*second, tmp_path / "out" / "notes.txt"}


@pytest.mark.parametrize("out", ["file", "file/below"])
def test_a_file_is_no_place_for_figures(make_run, tmp_path, out):
    make_run(tmp_path / "a", 0, [[1.0]])
    (tmp_path / "file").write_text("kept")
    with pytest.raises(
        UserError, match=f"cannot write to the folder .* {tmp_path}/file is a file"
    ):
        compare([tmp_path], tmp_path / out)
    assert (tmp_path / "file").read_text() == "kept"


def test_warnings_are_printed_beneath_the_tables(make_run, tmp_path, capsys):
    make_run(tmp_path / "a", 0, [[1.0], [2.0]])
    make_run(tmp_path / "b", 1, [[5.0]])
    make_run(tmp_path / "c", 2, reached=())
    assert main(["compare", str(tmp_path), "--out", str(tmp_path / "out")]) == 0
    _, _, below = capsys.readouterr().out.partition("Scores")
    assert "- scores of pendulum_swingup are compared at 1,000 environment steps" in below
    assert f"- left out: {tmp_path / 'c'} has nothing to plot" in below
    assert "- † Fewer than 5 seeds" in below


@pytest.mark.slow
def test_a_published_protocol_stands_beside_one_s_own(make_groups, tmp_path, read):
    compare([make_groups(every=10_000, action_repeat=8)], tmp_path / "out")
    assert {row["action_repeat"] for row in read(tmp_path / "out", "scores")} == {"8"}
    rows = read(tmp_path / "out", "published")
    repeats = {row["method"]: row["action_repeat"] for row in rows}
    assert repeats == {"DreamerV3": "2", "MR.Q": "2", "PPO": "", "DC-MPC": ""}
    text = (tmp_path / "out" / "comparison.md").read_text()
    assert "- Published scores are of other protocols." in text


@pytest.mark.slow
def test_comparing_needs_no_tensorflow():
    heavy = {"tensorflow", "matplotlib.pyplot", "hydra"}
    code = f"import agents.study.compare, sys; print({heavy} & {{*sys.modules}})"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert output.stdout == "set()\n", output.stderr


def test_the_folder_of_a_run_is_no_place_for_tables(make_run, tmp_path):
    run = make_run(tmp_path / "run", 0, [[1.0]])
    before = (run / "scores.csv").read_bytes()
    with pytest.raises(
        UserError, match=r"must not be the folder of a run, got .*run; choose"
    ):
        compare([run], run)
    assert (run / "scores.csv").read_bytes() == before


def test_groups_that_lack_a_task_are_in_no_figure_over_all_tasks(make_run, tmp_path):
    for task, groups in (("cheetah_run", "ab"), ("walker_run", "a")):
        for name in groups:
            words = {"task": task, "explore": {"kind": name}}
            make_run(tmp_path / task / name, 0, [[500.0]], **words)
    final = final_evaluations(taking_part(read_runs([tmp_path])))
    methods, unit = comparable(seed_scores(final))
    assert {name: np.ravel(own).tolist() for name, own in methods.items()} == {
        "explore=a": [0.5, 0.5]
    }
    assert unit == "return / highest possible"

"""Tests of benchmarks.learning.studies."""

import contextlib
import itertools
import math
import pathlib
import re
import shutil

import pytest
import yaml

import envs
from agents.runs import history
from agents.runs.config.overrides import load
from agents.runs.config.schema import as_dict, flatten
from agents.runs.folder import CHANGEABLE, LOCAL, read_config
from agents.training.building import resolved
from benchmarks.learning.answers import answer
from benchmarks.learning.packing import pack, unpacked
from benchmarks.learning.studies import (
    ALL_TASKS,
    END,
    commanded_runs,
    differences,
    finished_runs,
    keep_shown,
    make,
    missing,
    pictures,
    take_pictures,
)


def test_pictures_of_different_runs_do_not_replace_each_other(tmp_path):
    runs = [tmp_path / task / str(seed) for task in ("a", "b") for seed in (0, 1)]
    for run in runs:
        (run / "videos").mkdir(parents=True)
        config = {"task": run.parent.name, "seed": int(run.name)}
        (run / "config.yaml").write_text(yaml.safe_dump(config))
        (run / "videos" / "open_loop_20.png").touch()
    found = pictures(tmp_path, runs)
    assert found == {
        f"{task}_0_open_loop_20.png": tmp_path / task / "0" / "videos" / "open_loop_20.png"
        for task in ("a", "b")
    }
    assert list(pictures(runs[0], runs[:1])) == ["open_loop_20.png"]


def test_the_picture_of_the_most_environment_steps_is_taken_whenever_it_was_copied(
    tmp_path,
):
    folder = tmp_path / "videos"
    folder.mkdir()
    (tmp_path / "config.yaml").write_text("{seed: 0}")
    for steps in (100_000, 20_000):  # the newer one is the newest file no more
        (folder / f"open_loop_{steps}_strip.png").touch()
    assert list(pictures(tmp_path, [tmp_path])) == ["open_loop_100000_strip.png"]


def test_what_an_agent_does_is_shown_beside_what_it_imagines(tmp_path):
    (tmp_path / "videos").mkdir()
    (tmp_path / "config.yaml").write_text("{seed: 0}")
    for name in ("open_loop_20.png", "episode_20_strip.png", "episode_9_strip.png"):
        (tmp_path / "videos" / name).touch()
    found = pictures(tmp_path, [tmp_path])
    assert list(found) == ["open_loop_20.png", "episode_20_strip.png"]


def test_runs_that_are_not_finished_are_left_out(make_run, tmp_path, capsys):
    done = make_run(tmp_path / "done", 0, [[1.0]], environment_steps=1000)
    begun = make_run(tmp_path / "begun", 0, [[1.0]], environment_steps=2000)
    assert finished_runs([done, begun]) == [done]
    history.write_divergence(begun, history.Divergence(1, 7, ("loss",)))
    assert finished_runs([done, begun]) == [done, begun], "it has ended, too"
    assert f"left out, not finished: {begun}" in capsys.readouterr().out


@pytest.fixture
def made(make_run, tmp_path):
    """A study of two filmed runs, made, with its folder."""
    for seed in (0, 1):
        run = make_run(tmp_path / "logdir" / str(seed), seed, [[1.0]], 100_000)
        (run / "videos").mkdir()
        (run / "videos" / "open_loop_7.png").write_bytes(b"picture")
    study = {"runs": f"{tmp_path}/logdir", "commands": ["bayes-rl train -m seed=0,1"]}
    study["pictures"] = ["*open_loop_*.png", "scores.png"]
    pack_and_make(tmp_path / "study", study)
    return study, tmp_path / "study"


def pack_and_make(folder, study):
    pack(study["runs"], folder)
    take_pictures(folder, study)
    make(folder, study)


def test_a_study_is_made_from_its_packed_runs_alone(made):
    study, folder = made
    files = {file: file.read_bytes() for file in folder.rglob("*.*")}
    names = {"configs.yaml", "runs.csv", "curves.csv.gz", "scores.png"}
    names |= {f"tables/{name}" for name in ("runs.csv", "scores.csv", "summary.json")}
    assert names < {file.relative_to(folder).as_posix() for file in files}
    shutil.rmtree(study["runs"])
    shutil.rmtree(folder / "tables")
    (folder / "scores.png").unlink()
    pack_and_make(folder, study)
    assert {file: file.read_bytes() for file in folder.rglob("*.*")} == files


def test_large_tables_are_packed_and_read_by_answers(made, monkeypatch):
    study, folder = made
    study["answer"] = "{scores.iqm: task=fake}"
    plain = answer(folder, study)
    assert re.match(r"\d", plain)
    monkeypatch.setattr("benchmarks.learning.studies._LARGE", 10)
    make(folder, study)
    tables = {file.name for file in (folder / "tables").iterdir()}
    assert "scores.csv.gz" in tables
    assert "scores.csv" not in tables
    assert answer(folder, study) == plain


def test_tables_name_no_folder_of_one_machine(made, tmp_path):
    _, folder = made
    for file in folder.rglob("*.csv"):
        assert str(tmp_path) not in file.read_text()


def test_a_picture_goes_with_the_run_that_it_shows(made):
    study, folder = made
    videos = pathlib.Path(study["runs"], "0", "videos")
    (videos / "open_loop_7.png").rename(videos / "open_loop_9.png")
    pack_and_make(folder, study)
    assert [file.name for file in folder.glob("*_*.png")] == ["0_open_loop_9.png"]


@pytest.mark.slow
def test_where_making_fails_all_is_as_before(made, monkeypatch):
    study, folder = made
    before = sorted(folder.rglob("*"))
    monkeypatch.setattr("benchmarks.learning.studies.summarize", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make(folder, study)
    assert sorted(folder.rglob("*")) == before


def test_runs_of_commands_are_found():
    commands = [
        "bayes-rl train -m --jobs 2 task=fake seed=0,1 planner=cem,icem 'logdir=a/${seed}'"
    ]
    commands += ["bayes-rl probe RUN", "bayes-rl train task=fake"]
    runs = commanded_runs(commands)
    assert len(runs) == 5
    assert runs[1] == ["task=fake", "seed=0", "planner=icem", "logdir=a/${seed}"]


def test_pictures_that_answer_nothing_go(tmp_path):
    for name in ("scores.png", "coverage.png", "runs.csv"):
        (tmp_path / name).touch()
    keep_shown(tmp_path, ["scores.png", "nothing_*.png"])
    assert {path.name for path in tmp_path.iterdir()} == {"scores.png", "runs.csv"}


def test_a_study_without_runs_says_what_makes_them(tmp_path):
    study = {"runs": str(tmp_path / "none"), "commands": ["bayes-rl train task=fake"]}
    with pytest.raises(SystemExit, match="make them with\n  bayes-rl train task=fake"):
        make(tmp_path / "study", study)
    assert not (tmp_path / "study").exists()


@pytest.fixture
def study(tmp_path):
    command = (
        "bayes-rl train -m explore=noise,greedy seed=0,1 task=fake environment_steps=4000 "
        f"'logdir={tmp_path}/logdir/${{choices.explore}}/${{seed}}'"
    )
    return {"runs": f"{tmp_path}/logdir", "commands": [command]}


def test_missing_runs_are_those_that_are_not_finished_first_seeds_first(
    study, make_run, tmp_path
):
    for name, seed, evaluations in (("noise", 0, 4), ("noise", 1, 4), ("greedy", 1, 3)):
        returns = [[1.0]] * evaluations
        run = tmp_path / "logdir" / name / str(seed)
        make_run(run, seed, returns, environment_steps=4000)
    lines = missing(tmp_path / "study", study)
    assert [line.split()[2:4] for line in lines] == [
        ["explore=greedy", "seed=0"],
        ["explore=greedy", "seed=1"],
    ]


def test_those_of_a_first_seed_come_first(study, tmp_path):
    lines = missing(tmp_path / "study", study)
    assert [line.split()[3] for line in lines] == ["seed=0", "seed=0", "seed=1", "seed=1"]


def test_runs_of_a_command_that_became_longer_are_missing(study, make_run, tmp_path):
    make_run(tmp_path / "logdir/noise/0", 0, [[1.0]] * 2, environment_steps=2000)
    (tmp_path / "logdir/greedy/0").mkdir(parents=True)  # about to begin
    assert len(missing(tmp_path / "study", study)) == 4


def test_a_run_that_is_packed_is_not_missing_elsewhere(study, make_run, tmp_path):
    make_run(tmp_path / "logdir/noise/0", 0, [[1.0]] * 4, environment_steps=4000)
    pack(study["runs"], tmp_path / "study")
    shutil.rmtree(study["runs"])
    lines = missing(tmp_path / "study", study)
    assert len(lines) == 3
    assert not [line for line in lines if "seed=0" in line and "noise" in line]


def test_data_that_runs_learn_from_come_first_and_are_no_runs_of_the_study(
    study, make_run, tmp_path
):
    logs = tmp_path / "logs"
    study["data"] = [f"bayes-rl train task=fake environment_steps=4000 logdir={logs}"]
    lines = missing(tmp_path / "study", study)
    assert len(lines) == 5
    assert lines[0].endswith(f"logdir={logs}")
    make_run(logs, 0, [[1.0]] * 4, environment_steps=4000)
    assert len(missing(tmp_path / "study", study)) == 4
    for name, seed in itertools.product(("noise", "greedy"), (0, 1)):
        run = tmp_path / "logdir" / name / str(seed)
        make_run(run, seed, [[1.0]] * 4, environment_steps=4000)
    shutil.rmtree(logs)
    assert missing(tmp_path / "study", study) == []


TWIN = "transition=deterministic"
SCORES = {  # task, transition, seed: score after 1,000 and 2,000 steps
    ("a", "laplace", 0): [5.0, 10.0],
    ("a", "laplace", 1): [7.0, 30.0],
    ("a", "laplace", 2): [9.0, 99.0],  # without a twin
    ("a", "deterministic", 0): [2.0, 2.0],
    ("a", "deterministic", 1): [6.0, 10.0],
    ("b", "laplace", 0): [1.0, 1.0],
    ("b", "deterministic", 0): [2.0, 5.0],
}


@pytest.fixture
def pairs(make_run, tmp_path):
    runs = twins_and_others(make_run, tmp_path)
    return {(row["task"], row["environment_steps"]): row for row in differences(runs, TWIN)}


def twins_and_others(make_run, tmp_path):
    return [
        make_run(
            tmp_path / task / transition / str(seed),
            seed,
            [[score] for score in scores],
            task=task,
            transition=transition,
            environment_steps=2000,
        )
        for (task, transition, seed), scores in SCORES.items()
    ]


def test_each_seed_is_compared_with_its_twin(pairs):
    assert {row["than"] for row in pairs.values()} == {TWIN}
    assert (pairs["a", 2000]["seeds"], pairs["a", 2000]["difference"]) == (2, 14.0)
    assert pairs["a", 1000]["difference"] == 2.0
    ends = pairs["a", 2000]["difference_low"], pairs["a", 2000]["difference_high"]
    assert ends == (8.0, 20.0)
    assert math.isnan(pairs["b", 2000]["difference_low"])


@pytest.mark.parametrize("has_diverged", [True, False])
def test_a_run_that_diverged_keeps_its_last_score(make_run, tmp_path, has_diverged):
    scores = {("laplace", 0): [5, 6], ("laplace", 1): [9, 9], ("laplace", 2): [4]}
    scores |= {("deterministic", seed): [1, 2 + 4 * seed] for seed in range(2)}
    scores["deterministic", 2] = [1, 9]
    runs = []
    for (transition, seed), returns in scores.items():
        settings = {"task": "a", "transition": transition, "environment_steps": 2000}
        folder = tmp_path / transition / str(seed)
        runs.append(make_run(folder, seed, [[float(x)] for x in returns], **settings))
    if has_diverged:
        divergence = history.Divergence(1, 7, ("loss",))
        history.write_divergence(tmp_path / "laplace" / "2", divergence)
    row = differences(runs, TWIN)[-1]
    assert (row["environment_steps"], row["pairs"]) == (2000, 2 + has_diverged)
    assert row["difference"] == pytest.approx((4 + 3 - 5 * has_diverged) / row["pairs"])


def test_each_task_counts_alike(pairs):
    assert pairs[ALL_TASKS, 2000]["difference"] == 0.5 * (14.0 - 4.0)
    assert pairs[ALL_TASKS, 2000]["seeds"] == 1
    assert (pairs[ALL_TASKS, 2000]["ahead"], pairs[ALL_TASKS, 2000]["pairs"]) == (2, 3)


def test_at_the_end_scores_are_shares_of_the_best_returns(pairs, make_run, tmp_path):
    runs = twins_and_others(make_run, tmp_path / "again")
    rows = differences(runs, TWIN, {"a": 100, "b": 10})
    kept = [row["difference"] for row in pairs.values()]
    assert [row["difference"] for row in rows[: len(pairs)]] == kept
    ends = {row["task"]: row for row in rows if row["environment_steps"] == END}
    assert ends["a"]["difference"] == pytest.approx(0.14)
    assert ends["b"]["difference"] == pytest.approx(-0.4)
    assert ends[ALL_TASKS]["difference"] == pytest.approx(0.5 * (0.14 - 0.4))
    assert ends[ALL_TASKS]["twin"] == pytest.approx(0.5 * (0.06 + 0.5))


def test_a_pair_ends_where_the_shorter_of_its_runs_does(make_run, tmp_path):
    runs = []
    for transition, returns in (("laplace", [1, 2, 3, 9]), ("deterministic", [1, 1])):
        settings = {"task": "a", "transition": transition}
        settings["environment_steps"] = 1000 * len(returns)
        scores = [[float(score)] for score in returns]
        runs.append(make_run(tmp_path / transition, 0, scores, **settings))
    row = differences(runs, TWIN, {"a": 10})[-1]
    assert (row["environment_steps"], row["difference"]) == (END, pytest.approx(0.1))
    with pytest.raises(ValueError, match="best: has no return of a$"):
        differences(runs, TWIN, {"b": 10})


def test_a_run_that_diverged_has_no_score_after_the_end_of_its_task(make_run, tmp_path):
    runs = []
    for transition in ("laplace", "deterministic"):
        for task, returns in (("a", [1, 2]), ("b", [1, 2, 3])):
            folder, scores = tmp_path / transition / task, [[float(x)] for x in returns]
            settings = {"task": task, "transition": transition}
            settings["environment_steps"] = 1000 * len(returns)
            runs.append(make_run(folder, 0, scores, **settings))
            history.write_divergence(folder, history.Divergence(1, 7, ("loss",)))
    rows = differences(runs, TWIN)
    last = [row["task"] for row in rows if row["environment_steps"] == 3000]
    assert last == ["b"]


def test_the_twins_of_pairs_have_a_mean(pairs):
    assert pairs["a", 2000]["twin"] == 6.0
    assert pairs[ALL_TASKS, 2000]["twin"] == 5.5


RESULTS = pathlib.Path(__file__).parents[3] / "results"
STUDIES = yaml.safe_load((RESULTS / "experiments.yaml").read_text())
NOT_OF_THE_AGENT = {*CHANGEABLE, *LOCAL, "environment_steps", "data"}


@pytest.mark.parametrize("name", [name for name in STUDIES if (RESULTS / name).is_dir()])
def test_commands_of_today_make_the_agents_that_were_measured(name):
    """A default or a preset that has changed since would make others."""
    study = STUDIES[name]
    learns = ["explore=greedy"] if "data" in study else []  # as `bayes-rl learn` does
    compared = 0
    with unpacked(RESULTS / name) as kept:
        for command in study["commands"]:
            for words in commanded_runs([command])[-1:]:
                config = load([*learns, *words])
                run = kept / pathlib.Path(config.logdir).relative_to(study["runs"])
                if not run.exists():
                    continue
                typed, measured = flatten(as_dict(config)), flatten(read_config(run))
                if typed.get("value.centered", 0) is None:
                    typed["value.centered"] = envs.can_end(measured["task"])
                if typed["world_model.observation_stddev"] is None:  # by the task
                    environment = envs.load(config.task, observation=config.observation)
                    with contextlib.closing(environment):
                        typed = flatten(as_dict(resolved(config, environment)))
                compared += 1
                used = typed.keys() - NOT_OF_THE_AGENT
                wrong = {
                    key: (typed[key], measured.get(key))
                    for key in used
                    if typed[key] not in (None, measured.get(key))
                }
                assert wrong == {}, words
    assert compared > 0

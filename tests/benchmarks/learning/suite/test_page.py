"""Tests of benchmarks.learning.suite.page and of the figure on it."""

import shutil

import pytest

from agents.runs import records
from benchmarks.learning.packing import pack
from benchmarks.learning.suite.page import make, take_pictures

COMMAND = (
    "bayes-rl train -m --jobs 2 seed=0,1 task=cheetah_run,hopper_hop "
    "transition={} 'logdir=logdir/${{task}}/${{seed}}'"
)


def pack_and_make(folder, study):
    pack(study["runs"], folder)
    take_pictures(folder, study)
    make(folder, study)


@pytest.fixture
def study(make_run, tmp_path):
    """The suite of two tasks, with a run under way and one that was not begun."""
    runs = tmp_path / "logdir"
    for transition in ("reparameterization", "deterministic"):
        for seed, task, returns in (
            (0, "cheetah_run", [[100.0, 200.0], [700.0, 800.0]]),
            (1, "cheetah_run", [[90.0, 90.0], [650.0, 650.0]]),
            (0, "hopper_hop", [[3.0, 3.0]]),
        ):
            folder = runs / transition / task / str(seed)
            settings = {"transition": transition, "task": task, "every": 50_000}
            make_run(folder, seed, returns, **settings)
    words = {
        "title": "The suite",
        "question": "Does it?",
        "about": "Briefly.",
        "answer": "Yes.",
        "also": [
            {
                "question": "And twins?",
                "answer": "Alike.",
                "transition": "reparameterization",
            }
        ],
    }
    commands = [COMMAND.format(t) for t in ("reparameterization", "deterministic")]
    return words | {"runs": str(runs), "commands": commands}


def test_page_has_what_is_finished_and_says_what_is_not(study, tmp_path):
    pack_and_make(tmp_path / "suite", study)
    text = (tmp_path / "suite" / "README.md").read_text()
    assert "4 of 8 runs are finished." in text
    assert (
        "- in no table: hopper_hop, deterministic, seed 0, 50,000 steps; under way" in text
    )
    row = "| cheetah_run | reparameterization | 2† | 700 [650, 750] | 700 | 750, 650 |"
    assert row in text
    assert "| core and 1 more | TD-MPC2 | 2 | 1 of 1 | 0 of 0 |" in text
    other = text.partition("<details><summary>And twins?</summary>\n\nAlike.")[2]
    row = "| cheetah_run | 700 (n = 2†) | 700 (n = 2†) | 0 [-100, 100] |"
    assert row in other.partition("</details>")[0]
    assert "Commit abc; Test 1, 2 cores, 8 GiB." in text
    seen = text.partition("<details>")[0]
    assert "| cheetah_run | 700 [650, 750] | 2† | 603 | 519 | 648 | 506 | 283 |" in seen
    assert "deterministic" not in seen
    assert (tmp_path / "suite" / "curves.png").stat().st_size > 10_000


def test_runs_of_another_config_are_told(study, make_run, tmp_path):
    pack_and_make(tmp_path / "suite", study)
    page = tmp_path / "suite" / "README.md"
    assert "differ in more than their seed" not in page.read_text()
    settings = {"transition": "deterministic", "task": "hopper_hop", "batch_size": 2}
    make_run(tmp_path / "logdir" / "x", 1, [[3.0]], **settings)
    pack_and_make(tmp_path / "suite", study)
    told = "- hopper_hop, deterministic: its runs differ in more than their seed"
    assert told in page.read_text()


def test_a_clone_makes_the_same_page_without_the_runs(study, tmp_path):
    pack_and_make(tmp_path / "suite", study)
    files = [*(tmp_path / "suite").glob("*.*"), *(tmp_path / "suite").glob("tables/*")]
    before = [file.read_bytes() for file in files]
    shutil.rmtree(study["runs"])
    for file in files:
        if file.name not in ("configs.yaml", "runs.csv", "curves.csv.gz"):
            file.unlink()
    pack_and_make(tmp_path / "suite", study)
    assert [file.read_bytes() for file in files] == before


def test_without_runs_the_commands_are_told(study, tmp_path):
    with pytest.raises(SystemExit, match="runs in nothing; make them with\n  bayes-rl"):
        pack_and_make(tmp_path / "suite", study | {"runs": "nothing"})
    assert not (tmp_path / "suite").exists()


def test_films_of_the_default_at_the_end_are_kept(study, tmp_path):
    runs = tmp_path / "logdir"
    for place, steps in (
        ("reparameterization/cheetah_run/0", 100_000),
        ("reparameterization/cheetah_run/1", 50_000),
        ("deterministic/cheetah_run/1", 100_000),
    ):
        (runs / place / "videos").mkdir()
        for name in (f"episode_{steps}_strip.png", f"episode_{steps}.mp4"):
            (runs / place / "videos" / name).write_bytes(b"film")
    pack_and_make(tmp_path / "suite", study)
    shutil.rmtree(runs / "reparameterization/cheetah_run/0/videos")
    pack_and_make(tmp_path / "suite", study)
    kept = (tmp_path / "suite" / "films").iterdir()
    assert sorted(file.name for file in kept) == ["cheetah_run_0.mp4", "cheetah_run_0.png"]
    page = (tmp_path / "suite" / "README.md").read_text()
    strip = "![cheetah run 0](films/cheetah_run_0.png)"
    assert f"[{strip}](films/cheetah_run_0.mp4)" in page


def test_tasks_of_an_earlier_default_are_marked_beside_those_of_todays(
    study, make_run, tmp_path
):
    settings = {"transition": "laplace", "task": "hopper_hop", "every": 50_000}
    make_run(tmp_path / "logdir/laplace", 0, [[1.0], [5.0]], **settings)
    study["commands"].append(COMMAND.format("laplace"))
    pack_and_make(tmp_path / "suite", study)
    seen = (tmp_path / "suite" / "README.md").read_text().partition("<details>")[0]
    assert "§: by an earlier default; the others by today's." in seen
    assert "| cheetah_run | 700 [650, 750] | 2† § | 603" in seen
    assert "| hopper_hop | 5 | 1 |" in seen


def test_films_are_of_the_earlier_default_where_it_has_one(study, make_run, tmp_path):
    runs = tmp_path / "logdir"
    settings = {"transition": "laplace", "task": "cheetah_run"}
    make_run(runs / "laplace/cheetah_run/0", 0, [[3.0]], **settings)
    for transition in ("laplace", "reparameterization"):
        videos = runs / transition / "cheetah_run/0/videos"
        videos.mkdir()
        (videos / "episode_100000.mp4").write_bytes(transition.encode())
    (tmp_path / "suite").mkdir()
    take_pictures(tmp_path / "suite", study)
    (film,) = (tmp_path / "suite/films").iterdir()
    assert (film.name, film.read_bytes()) == ("cheetah_run_0.mp4", b"reparameterization")
    shutil.rmtree(runs / "reparameterization/cheetah_run/0")
    take_pictures(tmp_path / "suite", study)
    assert film.read_bytes() == b"laplace"


def test_planners_that_were_compared_on_a_run_are_shown(study, tmp_path):
    run = tmp_path / "logdir/reparameterization/cheetah_run/0"
    columns = "planner,evaluations,mean_return,standard_error\n"
    rows = "CrossEntropy,90,700.0,2.0\nImprovedCrossEntropy,30,690.0,1.0\n"
    (run / "planners.csv").write_text(columns + rows)
    pack_and_make(tmp_path / "suite", study)
    page = (tmp_path / "suite" / "README.md").read_text()
    title = "on the model of reparameterization/cheetah_run/0, by `python -m"
    assert title in page
    assert "takes 30 evaluations, 3.0 times fewer.\n\n| planner | evaluations |" in page
    assert "| CrossEntropy | 90 | 700.0 | 2.0 |" in page


def test_weights_are_drawn_where_some_are_uncertain(study, tmp_path):
    pack_and_make(tmp_path / "suite", study)
    page = tmp_path / "suite" / "README.md"
    assert "(weights.png)" not in page.read_text()
    run = tmp_path / "logdir/reparameterization/cheetah_run/0"
    rows = [row | {"train/weight_kl": 5.0} for row in records.read_metrics(run)]
    (run / records.METRICS).unlink()
    for row in rows:
        records.append_metrics(run, row)
    pack_and_make(tmp_path / "suite", study)
    assert "![weights](weights.png)" in page.read_text()
    assert (tmp_path / "suite" / "weights.png").stat().st_size > 3_000

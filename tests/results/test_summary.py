"""Tests of results.summary and results.tables on a run made by hand."""

import json

import yaml

from agents.runs import records
from results.summary import summarize
from results.tables import readme

SOURCE = {"commit": "abc", "processor": "Test 1", "cores": 2, "memory_gib": 8}


def make_run(folder, seed, returns, transition="flipout"):
    """A run with one evaluation every 1000 steps; returns [points, episodes]."""
    folder.mkdir(parents=True)
    config = {
        "task": "fake",
        "observation": "state",
        "transition": transition,
        "seed": seed,
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    (folder / "sessions.jsonl").write_text(json.dumps(SOURCE | {"started": seed}) + "\n")
    for episode, scores in enumerate(returns, 1):
        row = {"episodes": episode, "environment_steps": 1000 * episode, "train_steps": 0}
        weights = {"train/weight_kl/a": 10.0 / episode, "speed/seconds": 30.0}
        records.append_metrics(folder, row | weights)
        records.append_scores(
            folder,
            [
                row | {"evaluation_episode": number, "seed": 0, "return": score}
                for number, score in enumerate(scores)
            ],
        )
    return folder


def test_groups_hold_how_weights_moved_and_every_evaluation_is_kept(tmp_path):
    runs = [
        make_run(tmp_path / "0", 0, [[1.0, 1.0], [10.0, 20.0]]),
        make_run(tmp_path / "1", 1, [[2.0, 2.0], [30.0, 50.0]]),
        make_run(tmp_path / "2", 0, [[5.0, 5.0]], transition="deterministic"),
    ]
    summary = summarize(runs, tmp_path / "evaluations.csv")
    first, second = summary["groups"]
    assert first == {
        "task": "fake",
        "group": "transition=flipout",
        "weights": {"weight_kl/a": [10.0, 5.0]},
    }
    assert second["group"] == "transition=deterministic"
    assert summary["sources"] == [SOURCE]
    lines = (tmp_path / "evaluations.csv").read_text().splitlines()
    assert len(lines) == 1 + 4 + 4 + 2
    assert lines[-1].startswith("fake,transition=deterministic,0,1000,")


def test_readme_shows_tables_weights_commands_and_sources(tmp_path):
    runs = [make_run(tmp_path / str(s), s, [[100.0 * s], [1.0]]) for s in range(3)]
    folder = tmp_path / "results" / "one"
    folder.mkdir(parents=True)
    (folder / "comparison.md").write_text("| the tables |\n")
    summary = {"title": "One", "about": "About.", "commands": ["bayes-rl train"]}
    summary["runs"] = {"finished": 3, "of": 5}
    summary |= summarize(runs, folder / "evaluations.csv")
    (folder / "summary.json").write_text(json.dumps(summary))
    (tmp_path / "results" / "layers.md").touch()
    text = readme(tmp_path / "results", {"one": None, "not measured": None})
    assert "\n\n| the tables |\n\n" in text
    assert "| fake |  | 10 to 5 |" in text
    assert "So far 3 of these 5 runs are finished." in text
    assert "bayes-rl train\npython -m results one" in text
    assert "Commit abc, Test 1, 2 cores, 8 GiB." in text
    assert "[layers.md](layers.md): `python -m benchmarks.layers`" in text

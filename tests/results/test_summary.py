"""Tests of results.summary and results.tables on a run made by hand."""

import json

import yaml

from agents import records
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


def test_groups_hold_the_last_scores_of_each_seed(tmp_path):
    runs = [
        make_run(tmp_path / "0", 0, [[1.0, 1.0], [10.0, 20.0]]),
        make_run(tmp_path / "1", 1, [[2.0, 2.0], [30.0, 50.0]]),
        make_run(tmp_path / "2", 0, [[5.0, 5.0]], transition="deterministic"),
    ]
    summary = summarize(runs, tmp_path / "scores.csv")
    first, second = summary["groups"]
    assert first["returns"] == [15.0, 40.0]
    assert first["seeds"] == [0, 1]
    assert first["minutes"] == [1.0, 1.0]
    assert first["weights"] == {"weight_kl/a": [10.0, 5.0]}
    assert second["returns"] == [5.0]
    assert summary["sources"] == [SOURCE]
    assert len((tmp_path / "scores.csv").read_text().splitlines()) == 1 + 4 + 4 + 2


def test_readme_shows_medians_seeds_commands_and_sources(tmp_path):
    runs = [make_run(tmp_path / str(s), s, [[100.0 * s]]) for s in range(3)]
    folder = tmp_path / "results" / "one"
    folder.mkdir(parents=True)
    summary = {"title": "One", "about": "About.", "commands": ["bayes-rl train"]}
    summary |= summarize(runs, folder / "scores.csv")
    (folder / "summary.json").write_text(json.dumps(summary))
    text = readme(tmp_path / "results", {"one": None, "not measured": None})
    assert "| fake | state | flipout | 1,000 | 3 | **100** | 0, 100, 200 | 0.5 |" in text
    assert "bayes-rl train\npython -m results one" in text
    assert "Commit abc, Test 1, 2 cores, 8 GiB." in text

"""Runs made by hand."""

import pytest
import yaml

from agents.runs import records

SOURCE = {"commit": "abc", "processor": "Test 1", "cores": 2, "memory_gib": 8}

START = {"episodes": 0, "environment_steps": 0}


def _make_run(folder, seed, returns, every=1000, **config):
    """A run with evaluations [points, episodes], one every so many steps."""
    folder.mkdir(parents=True)
    known = {"task": "fake", "observation": "state", "transition": "flipout"}
    known["environment_steps"] = 100_000
    config = known | {"seed": seed} | config
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    records.append_session(folder, START | SOURCE | {"started": seed})
    for episode, scores in enumerate(returns, 1):
        row = {"episodes": episode, "environment_steps": every * episode, "train_steps": 0}
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


_make_run.source = SOURCE


@pytest.fixture
def make_run():
    """A function that makes the folder of a run; its `source` is where that comes from."""
    return _make_run


@pytest.fixture
def measured(tmp_path):
    """A folder with the study `one`, whose table of scores has two rows."""
    (tmp_path / "one" / "tables").mkdir(parents=True)
    head = "task,n,iqm,iqm_low,iqm_high,r,r_lowest,r_highest\n"
    rows = "a,2,700,650.44,inf,0.5,0.25,0.75\na,3,1,,,,,\n"
    (tmp_path / "one" / "tables" / "scores.csv").write_text(head + rows)
    return tmp_path

"""Runs made by hand."""

import csv
import io
import logging

import numpy as np
import pandas as pd
import pytest
import yaml
from rich.console import Console

from agents.runs import records
from agents.runs.grouping import Group
from agents.study.compare import compare
from agents.study.frames import Frames


@pytest.fixture
def drawn():
    """Figures are drawn as they are."""


@pytest.fixture(autouse=True)
def _empty_figures(request):
    """Leaves figures empty where `drawn` is not asked for."""
    if "drawn" not in request.fixturenames:
        request.getfixturevalue("undrawn")


@pytest.fixture
def make_run():
    """Makes the folder of a run.

    Args:
        folder: of the run.
        seed: of the run.
        returns: of its evaluation episodes, [points, episodes].
        every: environment steps between evaluations.
        reached: whether each collected episode, of 1000 steps, came to reward.
        **config: values beside the seed.
    """

    def make(folder, seed=0, returns=(), reached=(0, 0, 1), every=1000, **config):
        folder.mkdir(parents=True)
        config = {"task": "pendulum_swingup", "observation": "state", "seed": seed} | config
        (folder / "config.yaml").write_text(yaml.safe_dump(config))
        for episode, came in enumerate(reached, 1):
            row = {"episodes": episode, "environment_steps": 1000 * episode}
            row |= {"explore/reached_reward": bool(came), "explore/coverage": episode / 10}
            row["explore/epistemic_ratio"] = 0.5 if episode > 1 else None
            records.append_metrics(folder, row)
        for episode, scores in enumerate(returns, 1):
            row = {"episodes": episode, "environment_steps": every * episode}
            row |= {"train_steps": 0, "seed": seed}
            own = [{"evaluation_episode": k, "return": x} for k, x in enumerate(scores)]
            records.append_scores(folder, [row | each for each in own])
        return folder

    return make


@pytest.fixture
def make_groups(make_run, tmp_path):
    """Makes two groups of three seeds of pendulum_swingup; the folder of all."""

    def make(**config):
        for kind in ("Greedy", "Thompson"):
            for seed in range(3):
                scores = [[10.0, 20.0], [100.0 * seed, 100.0 * seed + 10]]
                scores = scores if kind == "Greedy" else [[0.0, 0.0], [500.0, 500.0 + seed]]
                reached = (0, 0, 0, seed == 2) if kind == "Greedy" else (0, 1, 0, 0)
                explore = {"explore": {"kind": kind}}
                folder = tmp_path / "runs" / kind / str(seed)
                make_run(folder, seed, scores, reached, **explore, **config)
        return tmp_path / "runs"

    return make


@pytest.fixture
def output(make_groups, tmp_path, caplog):
    """(folder of the files, what was printed, what was warned of) of two groups."""
    file = io.StringIO()
    with caplog.at_level(logging.WARNING):
        files = compare([make_groups()], tmp_path / "out", Console(file=file, width=80))
    assert sorted(files) == sorted((tmp_path / "out").iterdir())
    return tmp_path / "out", file.getvalue(), caplog.text


@pytest.fixture
def read():
    """Function of a folder and the name of a table in it: its rows."""

    def rows(folder, name):
        with open(folder / f"{name}.csv", newline="") as file:
            return list(csv.DictReader(file))

    return rows


@pytest.fixture
def make_frames():
    """Makes `Frames` of groups of a task, from their labels and numbers of seeds."""

    def make(seeds, task="pendulum_swingup"):
        groups = [Group(label, task, [], number) for number, label in enumerate(seeds)]
        runs = pd.DataFrame(
            {
                "place": np.repeat(range(len(seeds)), [*seeds.values()]),
                "task": task,
                "group": np.repeat([*seeds], [*seeds.values()]),
                "diverged": False,
                "held_to": np.nan,
            }
        )
        return Frames(groups, runs, None, None)

    return make

"""Tests of whole runs on tasks whose episodes can end."""

import itertools
import json

import numpy as np
import pytest

from agents.episodes.store import EpisodeStore
from envs.quiet import import_gym

LIMIT = 8  # steps
STARTS = ([0.3, 0.06], [-0.5, 0.0])  # just before the goal, and in the valley


@pytest.mark.slow
def test_mountain_cars_ends_are_learned_from_and_its_time_limits_are_none(
    train_run, tmp_path, monkeypatch
):
    gym = import_gym()
    spec = gym.envs.registry.env_specs["MountainCarContinuous-v0"]
    monkeypatch.setattr(spec, "max_episode_steps", LIMIT)
    turns = itertools.cycle(STARTS)

    def reset(car, seed):
        del seed
        car.state = np.array(next(turns), np.float32)
        return car.state

    monkeypatch.setattr(
        type(gym.make("MountainCarContinuous-v0").unwrapped), "reset", reset
    )
    folder = tmp_path / "run"
    task = ["task=gym:MountainCarContinuous-v0", "transition=deterministic"]
    sizes = ["environment_steps=10", "sequence_length=4", "evaluation.every_steps=0"]
    sizes += ["seed_steps=10", "updates_per_step=1"]
    assert train_run(folder, *task, *sizes, "video_every_steps=0") == 0
    ends = []
    for _, episode in EpisodeStore(folder / "episodes"):
        ends.append(len(episode["reward"]) < LIMIT + 1)
        assert episode["is_terminal"][-1] == ends[-1]
        assert not episode["is_terminal"][:-1].any()
    assert set(ends) == {True, False}
    row = json.loads((folder / "metrics.jsonl").read_text().splitlines()[-1])
    assert row["train/continuation_loss"] > 0

"""What tests of runs with many processes share."""

import numpy as np
import pytest

from agents.training.distributed import cluster


@pytest.fixture(scope="session")
def words():
    """Two actors of a tiny run, whose episodes are random: planning takes long to trace."""
    return ["actors=2", "sequence_length=5", "seed_steps=180"]


@pytest.fixture
def config(make_config, run, words):
    return make_config(*words, f"logdir={run.folder}")


@pytest.fixture(scope="session")
def here(make_config, words):
    """Ray, started once on this machine."""
    with cluster.connected(make_config(*words), processes=8):
        yield


@pytest.fixture
def make_episode():
    """Makes episodes whose every row tells its episode and its place."""

    def make(number, rows):
        column = np.arange(rows, dtype=np.float32)
        return {
            "observation": np.stack([np.full(rows, number, np.float32), column], 1),
            "action": np.zeros([rows, 1], np.float32),
            "reward": column,
            "is_first": column == 0,
            "is_terminal": np.zeros(rows, bool),
            "position": np.zeros([rows, 1], np.float32),
            "velocity": np.zeros([rows, 1], np.float32),
            "number": np.int64(number),
            "environment_steps": np.int64(rows - 1),
        }

    return make

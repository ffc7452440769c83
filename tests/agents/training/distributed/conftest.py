"""What tests of runs with many processes share."""

import contextlib

import numpy as np
import pytest

from agents.training.distributed.handover import Handover
from agents.training.distributed.server import open_server


@pytest.fixture
def handover(run):
    return Handover(run.episodes)


@pytest.fixture
def config(make_config, run):
    """Two actors of a tiny run, whose episodes are random: planning takes long to trace."""
    words = ["actors=2", "sequence_length=5", "seed_steps=180", f"logdir={run.folder}"]
    return make_config(*words)


@pytest.fixture
def serve(config, handover):
    """Starts replay servers, whose addresses it gives; they end with the test."""
    with contextlib.ExitStack() as servers:

        def start(config=config):
            server = open_server(config, handover)
            servers.callback(server.stop)
            return f"127.0.0.1:{server.port}"

        yield start


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


class Beats:
    """Stands for a heartbeat: the states that were told, each once in a row."""

    def __init__(self):
        self.states, self.told = [], {}

    def __call__(self, state, **told):
        if self.states[-1:] != [state]:
            self.states.append(state)
        self.told |= told


@pytest.fixture
def beat():
    return Beats()

"""What tests of noticing share: an episode, and tiny models and agents."""

import numpy as np
import pytest

import envs
from agents.runs.config import overrides
from agents.training import building


@pytest.fixture
def episode():
    random = np.random.default_rng(0)
    return {
        "observation": random.normal(size=[6, 2]).astype(np.float32),
        "action": random.uniform(-1, 1, [6, 1]).astype(np.float32),
        "reward": np.zeros(6, np.float32),
        "is_first": np.arange(6) == 0,
    }


@pytest.fixture(scope="session")
def make_agent():
    """Makes an agent that has learned nothing, and its config."""

    def make(transition):
        words = ["experiment=debug", "action_repeat=1", "value=td", "posterior_scale=1"]
        words.append(f"transition={transition}")
        config = overrides.load(words)
        devices = building.choose_devices("default")
        return config, building.make_agent(config, envs.load("fake"), devices)

    return make


@pytest.fixture(scope="session")
def make_model(make_agent):
    return lambda transition: make_agent(transition)[1].model

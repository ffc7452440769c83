"""A model, and plans of two environments to imagine with it."""

import pytest
import tensorflow as tf

from agents.planet.model.rssm import Latent
from tests.agents.planet.planning.imagination.following import (
    CANDIDATES,
    DRAWS,
    ENVIRONMENTS,
    HORIZON,
    LATENT,
)


@pytest.fixture(scope="module", params=["flipout"])
def model(request, make_model):
    return make_model(f"transition={request.param}", "task=fake_ending")


@pytest.fixture(scope="module")
def start(noise):
    """The latents of two environments."""
    return Latent(
        noise(ENVIRONMENTS, 6, seed=1),
        noise(ENVIRONMENTS, LATENT, seed=2),
        tf.ones([ENVIRONMENTS, LATENT]),
        noise(ENVIRONMENTS, LATENT, seed=3),
    )


@pytest.fixture(scope="module")
def plans(noise):
    return tf.tanh(noise(ENVIRONMENTS, CANDIDATES, HORIZON, 1, seed=4))


@pytest.fixture(scope="module")
def normal(noise):
    return noise(ENVIRONMENTS, CANDIDATES, HORIZON, LATENT, seed=5)


@pytest.fixture(scope="module")
def draws(model):
    """Other draws for each environment: [B * S, ...]."""
    each = [model.draw_weights(DRAWS, tf.constant([0, e])) for e in range(ENVIRONMENTS)]
    return {name: tf.concat([draw[name] for draw in each], 0) for name in each[0]}

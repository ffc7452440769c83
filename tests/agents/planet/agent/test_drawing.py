"""Tests of agents.planet.agent.drawing."""

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.agent.drawing import draw
from agents.system import replicas

SEED = tf.constant([0, 5])


@pytest.mark.parametrize(("explores", "count"), [(False, 2), (True, 4)])
def test_each_use_has_its_own_standard_normal_numbers(explores, count, model):
    drawn = draw(SEED, model, (40, 30), explores)
    assert drawn.latents.shape == (40, 30, model.rssm.latent_size)
    assert drawn.actions.shape == (count, 40, 30, model.action_size)
    rows = np.reshape([*drawn.actions.numpy()], [count, -1])
    rows = np.concatenate([rows, drawn.latents.numpy().reshape([1200, -1]).T])
    # The standard error of a mean is that, of a variance sqrt(2) times as much.
    error = 1 / np.sqrt(rows.shape[1])
    np.testing.assert_allclose(rows.mean(1), 0, atol=5 * error)
    np.testing.assert_allclose(np.cov(rows), np.eye(len(rows)), atol=5 * 2**0.5 * error)


def test_replicas_share_the_numbers_of_one_device_and_the_seeds(model, monkeypatch):
    whole = draw(SEED, model, (4, 3), explores=True)
    monkeypatch.setattr(replicas, "count", lambda: 2)
    parts = []
    for number in range(2):
        monkeypatch.setattr(replicas, "number", lambda number=number: number)
        parts.append(draw(SEED, model, (2, 3), explores=True))
    np.testing.assert_array_equal(tf.concat([p.latents for p in parts], 0), whole.latents)
    np.testing.assert_array_equal(tf.concat([p.actions for p in parts], 1), whole.actions)
    for part in parts:
        np.testing.assert_array_equal(part.weight_seed, whole.weight_seed)
        np.testing.assert_array_equal(part.image_seed, whole.image_seed)
    assert [part.replica for part in parts] == [0, 1]

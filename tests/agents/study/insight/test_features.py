"""Tests of the features that agents.study.insight.latents gives to probes."""

import numpy as np
import pytest
import tensorflow as tf

from agents.study.insight.latents import (
    DRAWS,
    filtered_features,
    open_loop_features,
    predict_open_loop,
)

SEED = tf.constant([7, 8])


@pytest.fixture
def episode(make_batch):
    episode = {key: value[0].numpy() for key, value in make_batch(1, 7).items()}
    return episode | {"is_first": np.arange(7) == 0}


@pytest.mark.slow
def test_each_draw_filters_on_its_own(model, episode):
    features = filtered_features(model, episode, SEED)
    assert features.shape[:2] == (DRAWS, 7)
    spread = np.std(features, axis=0).max(axis=-1)
    assert spread[1:].min() > 1e-4  # the first row starts from zeros


def test_open_loop_features_are_what_predictions_decode(model, episode):
    features = open_loop_features(model, episode, 3, SEED)
    np.testing.assert_allclose(
        model.parts["observation"].decode(tf.constant(features)),
        predict_open_loop(model, episode, 3, DRAWS, SEED),
        atol=1e-5,
    )


def test_certain_weights_are_one_function(make_model, episode):
    model = make_model("transition=deterministic")
    assert len(filtered_features(model, episode, SEED)) == 1
    assert len(open_loop_features(model, episode, 3, SEED)) == 1

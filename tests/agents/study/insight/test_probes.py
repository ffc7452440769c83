"""Tests of agents.study.insight.probes."""

import warnings

import numpy as np
import pytest
import tensorflow as tf

from agents.study.insight.latents import encode
from agents.study.insight.probes import (
    Probes,
    live_probe,
    physics,
    probe_inputs,
    score_probes,
)
from bayes_rl.weights import mean_weights

SEED = tf.constant([3, 4])


@pytest.fixture(scope="module")
def episodes():
    rng = np.random.default_rng(0)

    def make(rows):
        return {
            "observation": rng.normal(size=[rows, 2]).astype(np.float32),
            "action": rng.uniform(-1, 1, [rows, 1]).astype(np.float32),
            "reward": np.zeros(rows, np.float32),
            "is_first": np.arange(rows) == 0,
            "position": rng.normal(size=[rows, 2]).astype(np.float32),
            "velocity": rng.normal(size=[rows, 1]).astype(np.float32),
        }

    return [make(rows) for rows in (9, 7, 9)]


def test_physics_are_velocities_and_positions_with_angles_on_the_circle(episodes):
    names, targets = physics(episodes, angles=(1,))
    assert names == ["velocity 0", "position 0", "cos position 1", "sin position 1"]
    for episode, target in zip(episodes, targets, strict=True):
        np.testing.assert_array_equal(target[:, 0], episode["velocity"][:, 0])
        np.testing.assert_array_equal(target[:, 1], episode["position"][:, 0])
        np.testing.assert_allclose((target[:, 2:] ** 2).sum(1), 1, rtol=1e-6)
        angle = np.arctan2(target[:, 3], target[:, 2])
        np.testing.assert_allclose(angle, episode["position"][:, 1], atol=1e-5)


def test_inputs_leave_out_the_row_in_which_nothing_has_moved(model, episodes):
    encoded = encode(model, episodes, SEED)
    inputs = probe_inputs(model, encoded, [e["position"] for e in episodes])
    for rows in inputs.values():
        assert [len(each) for each in rows] == [8, 6, 8]
    embedding = model.parts["observation"].encode(tf.constant(episodes[1]["observation"]))
    np.testing.assert_allclose(inputs["embedding"][1], embedding[1:], atol=1e-6)


def test_differences_are_decoded_observations_and_their_changes(model, episodes):
    encoded = encode(model, episodes, SEED)
    inputs = probe_inputs(model, encoded, [e["position"] for e in episodes])
    latent = encoded.latents(model, mean_weights(model))
    decoded = model.parts["observation"].decode(latent.features)[1].numpy()[:7]
    expected = np.concatenate([decoded[1:], decoded[1:] - decoded[:-1]], axis=1)
    np.testing.assert_allclose(inputs["differences"][1], expected, atol=1e-6)


def test_pictures_are_differenced_by_their_positions(make_model, episodes):
    model = make_model("world_model.image_depth=2", image_size=32)
    rng = np.random.default_rng(1)
    pictures = [
        e
        | {
            "observation": rng.integers(
                0, 255, [len(e["reward"]), 32, 32, 3], dtype=np.uint8
            )
        }
        for e in episodes
    ]
    encoded = encode(model, pictures, SEED)
    inputs = probe_inputs(model, encoded, [e["position"] for e in pictures])
    assert inputs["differences"][0].shape == (8, 2 * 2)


def test_a_model_is_not_changed_and_no_gradient_reaches_it(model, episodes):
    before = [variable.numpy() for variable in model.variables]
    encoded = encode(model, episodes, SEED)
    inputs = probe_inputs(model, encoded, [e["position"] for e in episodes])
    # what a probe is given is no tensor, so it has no way back to the weights
    assert all(type(rows) is np.ndarray for name in inputs for rows in inputs[name])
    names, targets = physics(episodes)
    score_probes({"latent": inputs["latent"]}, names, [target[1:] for target in targets])
    for variable, value in zip(model.variables, before, strict=True):
        np.testing.assert_array_equal(variable.numpy(), value)


def test_velocities_that_are_linear_in_the_latent_are_read_wholly(model, episodes):
    many = episodes * 8
    encoded = encode(model, many, SEED)
    features = encoded.cut(encoded.latents(model, mean_weights(model)).features)
    weights = np.random.default_rng(2).normal(size=[features[0].shape[1], 2])
    told = [
        episode | {"velocity": rows @ weights}
        for episode, rows in zip(many, features, strict=True)
    ]
    found = live_probe(model, told, (), SEED)
    assert min(found["velocity_0"], found["velocity_1"]) > 0.999
    assert set(found) == {"velocity_0", "velocity_1", "position_0", "position_1"}


def test_every_target_has_a_row_for_each_probe_and_for_the_mean(episodes):
    names, targets = physics(episodes)
    inputs = {"latent": targets, "embedding": targets}
    rows = score_probes(inputs, names, targets)
    found = {(row["target"], row["input"], row["probe"]) for row in rows}
    assert len(found) == len(rows) == len(names) * 5
    assert ("velocity 0", "mean", "") in found
    assert all(not row["low"] > row["high"] for row in rows)


def test_what_never_changes_is_left_out_of_the_metrics(model, episodes):
    still = [e | {"velocity": 0 * e["velocity"]} for e in episodes]
    with warnings.catch_warnings():
        warnings.simplefilter(
            "error", RuntimeWarning
        )  # would stand in the output of a training
        found = live_probe(model, still, (), SEED)
    assert set(found) == {"position_0", "position_1"}


def test_velocities_of_the_last_episode_are_read_from_its_latents(model, episodes):
    readings = Probes(model, episodes, (1,), SEED).readings()
    contexts = {kind: context for kind, (_, _, context, _) in readings.items()}
    assert contexts == {"filtered": 9, "open_loop": 5}
    for truth, values, _, names in readings.values():
        assert names == ["velocity 0"]
        assert values.shape == (20, 9, 1)
        np.testing.assert_array_equal(truth, episodes[-1]["velocity"])
    still = [
        episode | {"velocity": np.zeros([len(episode["reward"]), 0])}
        for episode in episodes
    ]
    assert Probes(model, still, (1,), SEED).readings() == {}


def test_differences_are_in_the_units_of_the_task(make_model, episodes):
    model = make_model()
    far = [e | {"observation": 500.0 + 3.0 * e["observation"]} for e in episodes]
    for episode in far:
        model.see(episode)
    encoded = encode(model, far, SEED)
    inputs = probe_inputs(model, encoded, [e["position"] for e in far])
    position, change = np.split(inputs["differences"][0], 2, axis=1)
    assert np.abs(position - 500.0).max() < 3.0 * 30
    assert np.abs(change).max() < 3.0 * 30

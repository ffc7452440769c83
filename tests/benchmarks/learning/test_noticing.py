"""Tests of benchmarks.learning.noticing."""

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf
from tf_agents.specs import tensor_spec

import envs
from agents.runs.config import overrides
from agents.training.building import make_world_model
from benchmarks.learning import noticing

SEED = tf.constant([0, 1])


def make_model(transition):
    tf.keras.utils.set_random_seed(0)
    config = overrides.load(["experiment=debug", f"transition={transition}"])
    environment = envs.load("fake")
    step, action = environment.time_step_spec(), environment.action_spec()
    return make_world_model(config, *map(tensor_spec.from_spec, (step, action)))


@pytest.fixture
def episode():
    random = np.random.default_rng(0)
    return {
        "observation": random.normal(size=[6, 2]).astype(np.float32),
        "action": random.uniform(-1, 1, [6, 1]).astype(np.float32),
        "reward": np.zeros(6, np.float32),
        "is_first": np.arange(6) == 0,
    }


def test_where_weights_are_certain_draws_are_surprised_as_the_mean_is(episode):
    found = noticing.surprises(make_model("deterministic"), episode, SEED)
    assert found["draws"].shape == (len(episode["reward"]) - 1,)
    np.testing.assert_allclose(found["draws"], found["mean weights"], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found["spread"], 0.0, atol=1e-5)


def test_one_step_surprises_by_the_distance_from_what_was_expected(episode):
    """-log N(z; m, s^2) of the first step, in NumPy."""
    model = make_model("deterministic")
    seen = {name: tf.constant(episode[name][:2])[tf.newaxis] for name in episode}
    embedding = model.embed(seen, SEED)
    still = tf.zeros([1, 2, model.rssm.latent_size])
    known = seen["action"], seen["is_first"], still
    latent = noticing.filter_latents(model, embedding, *known, model.central_weights())
    after = model.rssm.imagine_step(
        tf.nest.map_structure(lambda x: x[:, 0], latent), seen["action"][:, 1], 0.0
    )
    mean, stddev = after.mean[0].numpy(), after.stddev[0].numpy()
    came = latent.mean[0, 1].numpy()
    expected = np.sum(
        0.5 * ((came - mean) / stddev) ** 2 + np.log(stddev) + 0.5 * np.log(2 * np.pi)
    )
    found = noticing.surprises(model, episode, SEED)["mean weights"][0]
    assert found == pytest.approx(expected, rel=1e-4)


def test_uncertain_weights_spread(episode):
    found = noticing.surprises(make_model("reparameterization"), episode, SEED)
    assert (found["spread"] > 0).all()
    assert np.abs(found["draws"] - found["mean weights"]).max() > 1e-4


def test_what_is_no_run_is_told_in_a_line(tmp_path):
    with pytest.raises(SystemExit, match="none is not the folder of a run"):
        noticing.main([str(tmp_path / "none"), "--out", str(tmp_path / "out.csv")])
    assert not (tmp_path / "out.csv").exists()


def test_areas_are_averaged_over_seeds_changes_and_tasks():
    rows = [
        {
            "task": task,
            "seed": seed,
            "change": change,
            "decisions": 10,
            "surprise": kind,
            "auroc": 0.5 + 0.1 * seed + 0.1 * (change == "gain") + 0.05 * (kind == "draws"),
        }
        for task in ("reacher_easy", "cheetah_run")
        for seed in (0, 1, 2)
        for change in ("mass", "gain")
        for kind in ("draws", "mean weights")
    ]
    table = noticing.summed_up(rows).set_index(["task", "change", "surprise"])
    assert len(table) == 3 * 3 * 3
    row = table.loc["all tasks", "all changes", "draws"]
    assert row["auroc"] == pytest.approx(0.7)
    assert row["auroc_low"] < 0.7 < row["auroc_high"]
    assert row["seeds"] == 3
    assert table.loc["cheetah_run", "gain", "mean weights"]["auroc"] == pytest.approx(0.7)
    difference = table.loc["all tasks", "all changes", "draws minus mean weights"]
    assert difference["auroc"] == pytest.approx(0.05)
    assert pd.isna(difference["auroc_low"])  # no seed differs

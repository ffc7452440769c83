"""Tests of benchmarks.learning.noticing."""

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf
from tf_agents.specs import tensor_spec

import envs
from agents.runs.config import overrides
from agents.training import building
from benchmarks.learning import noticing

SEED = tf.constant([0, 1])


def make_model(transition):
    tf.keras.utils.set_random_seed(0)
    config = overrides.load(["experiment=debug", f"transition={transition}"])
    environment = envs.load("fake")
    step, action = environment.time_step_spec(), environment.action_spec()
    return building.make_world_model(config, *map(tensor_spec.from_spec, (step, action)))


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
    steps = noticing.expected_steps(make_model("deterministic"), episode, SEED)
    assert steps.came.shape == steps.mean.shape == (5, steps.mean.shape[1])
    assert noticing.of_draws(steps) == pytest.approx(noticing.of_mean_weights(steps), 1e-4)
    assert noticing.of_spread(steps) == pytest.approx(0.0, abs=1e-5)
    assert noticing.of_weights(steps) == pytest.approx(0.0, abs=1e-3)


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
    steps = noticing.expected_steps(model, episode, SEED).first(1)
    assert noticing.of_mean_weights(steps) == pytest.approx(expected, rel=1e-4)
    alone = np.sum(((came - mean) / stddev) ** 2)
    assert noticing.of_mean_error(steps) == pytest.approx(alone, rel=1e-4)


def test_uncertain_weights_spread(episode):
    steps = noticing.expected_steps(make_model("reparameterization"), episode, SEED)
    assert noticing.of_spread(steps) > 0
    assert abs(noticing.of_draws(steps) - noticing.of_mean_weights(steps)) > 1e-4


def make_steps(random, weights, explained):
    """Of a line through 0 with a weight of stddev 1, for 4 dimensions and 30 inputs.

    The weights that say what came are `weights` [4]; draws explain so much of their spread.
    """
    inputs = random.normal(size=30)
    means = explained * random.normal(size=[200, 1, 4]) * inputs[:, np.newaxis]
    noise = random.normal(size=[30, 4])
    still = np.zeros([30, 4])
    came = inputs[:, np.newaxis] * weights + noise
    return noticing.Steps(came, means, 1.0 + np.zeros_like(means), still, 1.0 + still)


def test_weights_as_learned_fit_as_well_as_others():
    """Each dimension gives 1 in the mean, within four standard errors."""
    random = np.random.default_rng(0)
    found = [
        noticing.of_weights(make_steps(random, random.normal(size=4), 1.0))
        for _ in range(400)
    ]
    assert np.mean(found) == pytest.approx(4.0, abs=4 * np.std(found) / 20)


def test_weights_that_changed_fit_worse_than_others_would():
    random = np.random.default_rng(1)
    same, other = (
        [noticing.of_weights(make_steps(random, weight, 0.1)) for _ in range(50)]
        for weight in (0.0, 0.5)
    )
    assert noticing.auroc(other, same) > 0.9


def test_the_score_test_is_that_of_its_formula():
    random = np.random.default_rng(2)
    steps = make_steps(random, 0.3, 0.5)
    total = 0.0
    for d in range(4):
        covariance = np.cov(steps.means[..., d], rowvar=False)
        inverse = np.linalg.inv(covariance + np.eye(30))
        weighed = inverse @ covariance
        errors = steps.came[:, d]
        total += errors @ weighed @ inverse @ errors / np.trace(weighed)
    assert noticing.of_weights(steps) == pytest.approx(total)


def test_a_small_error_to_one_side_counts_more_than_large_ones_to_both():
    still = np.zeros([10, 1])
    stddev = np.full([10, 1], 2.0)
    leaning, swinging = still + 1.0, 3.0 * np.resize([1.0, -1.0], [10, 1])
    of = [
        noticing.of_mean_error(
            noticing.Steps(came, still[None], stddev[None], still, stddev)
        )
        for came in (leaning, swinging)
    ]
    assert of == [pytest.approx(0.25), pytest.approx(0.0)]


@pytest.fixture(scope="module")
def make_agent():
    def make(transition):
        words = ["experiment=debug", "value=td", f"transition={transition}"]
        config = overrides.load(words)
        environment = envs.load("fake")
        return building.make_agent(config, environment, building.choose_devices("default"))

    return make


def test_certain_weights_foresee_the_same_by_draws_as_by_their_means(make_agent, episode):
    returns = noticing.imagine_returns(make_agent("deterministic"), [episode] * 3, SEED)
    assert returns["draws"].shape == (noticing.IMAGINED, 3)
    np.testing.assert_allclose(returns["draws"], returns["mean weights"], atol=1e-4)
    assert np.ptp(returns["draws"]) > 0  # noise of the latents


def test_uncertain_weights_foresee_other_returns(make_agent, episode):
    returns = noticing.imagine_returns(make_agent("reparameterization"), [episode], SEED)
    assert np.abs(returns["draws"] - returns["mean weights"]).max() > 1e-4


def test_a_forecast_of_one_step_is_the_reward_after_the_policy_acts(make_agent, episode):
    agent = make_agent("deterministic")
    short = {name: rows[:2] for name, rows in episode.items()}
    found = noticing.imagine_returns(agent, [short], SEED)["mean weights"][:, 0]
    first = {name: rows[:1] for name, rows in episode.items()}
    still = tf.zeros([1, 1, agent.model.rssm.latent_size])
    seen = noticing.encode(agent.model, [first], noticing.fold(SEED, 0))
    start = seen._replace(noise=still).latents(agent.model, agent.model.central_weights())
    start = tf.nest.map_structure(lambda x: x[:, 0], start)
    noise = noticing.normal(
        [1, noticing.IMAGINED, 1, still.shape[-1]], noticing.fold(SEED, 1)
    )
    action = agent.value.act(start.features)
    for number in (0, 1, noticing.IMAGINED - 1):
        after = agent.model.rssm.imagine_step(start, action, noise[0, number])
        reward = float(agent.model.reward(after.features)[0])
        assert found[number] == pytest.approx(reward, rel=1e-4, abs=1e-6)


def test_forecasts_are_averaged_over_seeds_and_tasks():
    rows = [
        {
            "task": task,
            "seed": seed,
            "size": "none",
            "change": "none",
            "kind": "draws",
            "covered": 0.5 + 0.1 * seed,
            "width": 2.0,
            "forecast": 1.0,
            "came": 3.0,
        }
        for task in ("reacher_easy", "cheetah_run")
        for seed in (0, 1, 2)
    ]
    table = noticing.forecasts_summed_up(rows).set_index("task")
    row = table.loc["all tasks"]
    assert row["covered"] == pytest.approx(0.6)
    assert row["covered_low"] < 0.6 < row["covered_high"]
    assert (row["width"], row["came"], row["seeds"]) == (2.0, 3.0, 3)
    assert "width_low" not in row  # no seed differs


def test_what_is_no_run_is_told_in_a_line(tmp_path):
    with pytest.raises(SystemExit, match="none is not the folder of a run"):
        noticing.main([str(tmp_path / "none"), "--out", str(tmp_path / "out")])
    assert not (tmp_path / "out").exists()


def test_areas_are_averaged_over_seeds_changes_and_tasks():
    rows = [
        {
            "task": task,
            "seed": seed,
            "size": "small",
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

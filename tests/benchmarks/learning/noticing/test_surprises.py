"""Tests of benchmarks.learning.noticing.surprises."""

import numpy as np
import pytest
import tensorflow as tf

from benchmarks.learning.noticing import surprises

SEED = tf.constant([0, 1])


def test_where_weights_are_certain_draws_are_surprised_as_the_mean_is(make_model, episode):
    steps = surprises.expected_steps(make_model("deterministic"), episode, SEED)
    assert steps.came.shape == steps.mean.shape == (5, steps.mean.shape[1])
    assert surprises.of_draws(steps) == pytest.approx(
        surprises.of_mean_weights(steps), 1e-4
    )
    assert surprises.of_spread(steps) == pytest.approx(0.0, abs=1e-5)
    assert surprises.of_posterior(steps) == pytest.approx(0.0, abs=1e-3)
    alone = surprises.of_squared_error(steps)
    assert surprises.of_squared_error_of_draws(steps) == pytest.approx(alone, 1e-4)


def test_one_step_surprises_by_the_distance_from_what_was_expected(make_model, episode):
    """-log N(z; m, s^2) of the first step, in NumPy."""
    model = make_model("deterministic")
    seen = {name: tf.constant(episode[name][:2])[tf.newaxis] for name in episode}
    embedding = model.embed(seen, SEED)
    still = tf.zeros([1, 2, model.rssm.latent_size])
    known = seen["action"], seen["is_first"], still
    latent = surprises.filter_latents(model, embedding, *known, model.central_weights())
    after = model.rssm.imagine_step(
        tf.nest.map_structure(lambda x: x[:, 0], latent), seen["action"][:, 1], 0.0
    )
    mean, stddev = after.mean[0].numpy(), after.stddev[0].numpy()
    came = latent.mean[0, 1].numpy()
    expected = np.sum(
        0.5 * ((came - mean) / stddev) ** 2 + np.log(stddev) + 0.5 * np.log(2 * np.pi)
    )
    steps = surprises.expected_steps(model, episode, SEED).first(1)
    assert surprises.of_mean_weights(steps) == pytest.approx(expected, rel=1e-4)
    alone = np.sum(((came - mean) / stddev) ** 2)
    assert surprises.of_mean_error(steps) == pytest.approx(alone, rel=1e-4)
    assert surprises.of_squared_error(steps) == pytest.approx(alone / len(came), rel=1e-4)


def test_uncertain_weights_spread(make_model, episode):
    steps = surprises.expected_steps(make_model("reparameterization"), episode, SEED)
    assert surprises.of_spread(steps) > 0
    assert abs(surprises.of_draws(steps) - surprises.of_mean_weights(steps)) > 1e-4


def make_steps(random, weights, explained):
    """Of a line through 0 with a weight of stddev 1, for 4 dimensions and 30 inputs.

    The weights that say what came are `weights` [4]; draws explain so much of their spread.
    """
    inputs = random.normal(size=30)
    means = explained * random.normal(size=[200, 1, 4]) * inputs[:, np.newaxis]
    noise = random.normal(size=[30, 4])
    still = np.zeros([30, 4])
    came = inputs[:, np.newaxis] * weights + noise
    one = np.ones_like(still)
    given = np.stack([inputs, np.ones(30)], -1)
    return surprises.Steps(came, means, np.ones_like(means), still, one, given)


def test_weights_as_learned_fit_as_well_as_others():
    """Each dimension gives 1 in the mean, within four standard errors."""
    random = np.random.default_rng(0)
    found = [
        surprises.of_posterior(make_steps(random, random.normal(size=4), 1.0))
        for _ in range(400)
    ]
    assert np.mean(found) == pytest.approx(4.0, abs=4 * np.std(found) / 20)


def test_weights_that_changed_fit_worse_than_others_would():
    random = np.random.default_rng(1)
    same, other = (
        [surprises.of_posterior(make_steps(random, weight, 0.1)) for _ in range(50)]
        for weight in (0.0, 0.5)
    )
    assert surprises.auroc(other, same) > 0.9


def test_draws_that_disagree_explain_a_squared_error():
    """Errors of 2, noise of variance 1, and draws 2 apart, of variance 1."""
    still = np.zeros([5, 1])
    means = np.stack([still - 1.0, still + 1.0])
    steps = surprises.Steps(
        still + 2.0, means, np.ones_like(means), still, still + 1.0, still
    )
    assert surprises.of_squared_error(steps) == 4.0
    assert surprises.of_squared_error_of_draws(steps) == 2.0


def test_without_a_posterior_all_weights_are_as_likely():
    random = np.random.default_rng(3)
    steps = make_steps(random, 0.3, 0.5)
    steps = steps._replace(stddev=random.uniform(0.5, 2.0, [30, 4]))
    total = 0.0
    for d in range(4):
        weighed = steps.came[:, d] / steps.stddev[:, d] ** 2
        fit = np.sum((steps.inputs.T @ weighed) ** 2)
        total += fit / np.sum(np.square(steps.inputs) / steps.stddev[:, [d]] ** 2)
    assert surprises.of_any_weights(steps) == pytest.approx(total)


def test_the_inputs_are_what_gives_the_mean_and_a_one(make_model, episode):
    model = make_model("deterministic")
    steps = surprises.expected_steps(model, episode, SEED)
    np.testing.assert_array_equal(steps.inputs[:, -1], 1.0)
    inputs = tf.constant(steps.inputs[:, :-1], tf.float32)
    np.testing.assert_allclose(
        model.rssm.prior_of(None, inputs).mean, steps.mean, rtol=1e-4, atol=1e-5
    )


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
    assert surprises.of_posterior(steps) == pytest.approx(total)


def test_a_small_error_to_one_side_counts_more_than_large_ones_to_both():
    still = np.zeros([10, 1])
    stddev = np.full([10, 1], 2.0)
    leaning, swinging = still + 1.0, 3.0 * np.resize([1.0, -1.0], [10, 1])
    of = [
        surprises.of_mean_error(
            surprises.Steps(came, still[None], stddev[None], still, stddev, still)
        )
        for came in (leaning, swinging)
    ]
    assert of == [pytest.approx(0.25), pytest.approx(0.0)]

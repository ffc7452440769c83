"""Tests of agents.planet.explore.bonuses, by hand; of its estimates, by Monte Carlo."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import distributions as tfd

from agents.planet.explore.bonuses import ESTIMATES, moment_matched, pairwise
from agents.planet.explore.strategy import Elapsed
from agents.planet.planning.rollouts import Rollout
from tests.agents.presets import preset

BONUSES = ["disagreement", "information_gain", "uncertainty_penalty"]


def rollout(means, reward=((0.0, 0.0, 0.0),), stddev=1.0):
    """Of plans of one step and one latent dimension; `means` by draw and plan."""
    mean = tf.constant(means, tf.float32)[:, tf.newaxis, :, tf.newaxis, tf.newaxis]
    reward = tf.constant(reward)[:, tf.newaxis, :, tf.newaxis]
    return Rollout(reward, mean, tf.fill(mean.shape, stddev))


# Variances of the three plans over the two draws: 0, 1 and 4.
MEANS = [[0.0, 1.0, 2.0], [0.0, -1.0, -2.0]]


@pytest.mark.parametrize(
    ("strategy", "bonus"),
    [
        (preset("explore", "disagreement", draws=2), [0.0, 1.0, 4.0]),
        (
            preset("explore", "information_gain", draws=2),
            [0.0, 0.5 * np.log(2.0), 0.5 * np.log(5.0)],
        ),
        (preset("explore", "uncertainty_penalty", draws=2), [0.0, -1.0, -2.0]),
    ],
)
def test_bonus(strategy, bonus):
    np.testing.assert_allclose(strategy.bonus(rollout(MEANS)), [bonus], atol=1e-6)


def test_a_penalty_of_noise_asks_for_no_draws():
    strategy = preset("exploit", "noise_penalty", beta=1.0, return_floor=0.0)
    stddev = tf.constant([[[[[3.0, 4.0], [1.0, 1.0]], [[0.0, 0.0], [2.0, 2.0]]]]])
    reward = tf.zeros([1, 1, 2, 2])
    outcome = Rollout(reward, tf.zeros_like(stddev), stddev)
    roots = [12.5**0.5 + 1.0, 2.0]  # root mean squares of the dimensions, summed
    np.testing.assert_allclose(strategy.bonus(outcome), [-np.array(roots)], rtol=1e-6)
    assert (strategy.draws, strategy.trajectories) == (0, "mean")
    worse, better = strategy(outcome, Elapsed()).numpy()[0]
    assert worse < better


def test_steps_add_up_and_dimensions_are_averaged_in_the_disagreement():
    mean = np.random.default_rng(0).normal(size=[4, 2, 3, 5, 6])
    found = preset("explore", "disagreement", draws=4).bonus(
        Rollout(None, tf.constant(mean), None)
    )
    np.testing.assert_allclose(found, mean.var(0).mean(-1).sum(-1))


@pytest.mark.parametrize("kind", BONUSES)
def test_what_lies_beyond_the_end_is_no_bonus(kind):
    mean = tf.constant(np.random.default_rng(0).normal(size=[4, 1, 2, 3, 5]), tf.float32)
    outcome = Rollout(None, mean, tf.ones_like(mean))
    strategy = preset("explore", kind)
    steps = strategy.steps(outcome).numpy()[0]
    reached = tf.constant([[[[1.0, 0.5, 0.25], [1.0, 0.0, 0.0]]]])
    bonus = strategy.bonus(outcome._replace(reached=reached)).numpy()[0]
    np.testing.assert_allclose(bonus[0], steps[0] @ [1.0, 0.5, 0.25], rtol=1e-6)
    np.testing.assert_allclose(bonus[1], steps[1, 0], rtol=1e-6)


@pytest.mark.parametrize("kind", BONUSES)
def test_identical_draws_leave_the_order_of_returns(kind):
    same = rollout([[1.0, 2.0, 3.0]] * 5, reward=((3.0, 1.0, 2.0),))
    scores = preset("explore", kind)(same, Elapsed()).numpy()[0]
    assert np.argsort(scores).tolist() == [1, 2, 0]
    np.testing.assert_allclose(
        preset("explore", kind, beta=0.0)(same, Elapsed())[0], scores, atol=1e-5
    )


def test_score_is_the_same_whatever_the_unit_of_the_bonus():
    small, large = (
        preset("explore", "disagreement", draws=2, return_floor=0.0)(
            rollout(np.multiply(unit, MEANS), reward=((3.0, 1.0, 2.0),)),
            elapsed=Elapsed(),
        )
        for unit in (0.01, 100.0)
    )
    np.testing.assert_allclose(small, large, rtol=1e-4)


def test_annealed_bonus_ends_as_the_return():
    strategy = preset(
        "explore", "information_gain", beta=5.0, final_beta=0.0, annealing_steps=9, draws=2
    )
    outcome = rollout(MEANS, reward=((3.0, 2.0, 1.0),))
    first, last = (strategy(outcome, Elapsed(steps))[0].numpy() for steps in (0, 9))
    assert first.argmax() == 2
    assert last.argmax() == 0


def test_reward_that_is_found_ends_the_bonus_sooner():
    phases = {"annealing_steps": 100, "annealing_episodes": 10}
    strategy = preset("explore", "disagreement", beta=1.0, final_beta=0.0, **phases)
    counts = (0, 0), (50, 0), (50, 3), (50, 8), (0, 10), (100, 0)
    found = [float(strategy.scheduled(Elapsed(*each))) for each in counts]
    np.testing.assert_allclose(found, [1.0, 0.5, 0.5, 0.2, 0.0, 0.0], rtol=1e-6)
    rests = [bool(strategy.rests(Elapsed(*each))) for each in counts]
    assert rests == [False, False, False, False, True, True]


@pytest.mark.parametrize(
    "words", [{}, {"final_beta": 0.1}, {"final_beta": 0.0, "critic": True}]
)
def test_a_bonus_that_stays_says_so(words):
    phase = {"annealing_steps": 5} if words else {}
    strategy = preset("explore", "disagreement", **words, **phase)
    assert strategy.rests(Elapsed(5)) is None


def test_a_bonus_may_begin_later():
    strategy = preset("explore", "disagreement", beta=2.0, bonus_from=10)
    for environment_steps, beta in ((9, 0.0), (10, 2.0)):
        assert float(strategy.scheduled(Elapsed(environment_steps))) == beta
        assert bool(strategy.rests(Elapsed(environment_steps))) is (beta == 0)


@pytest.mark.parametrize(("end", "asks"), [(None, False), (10, True)])
def test_a_bonus_that_reward_ends_asks_for_its_count(end, asks):
    phases = {"annealing_steps": 5, "annealing_episodes": end}
    strategy = preset("explore", "disagreement", final_beta=0.0, **phases)
    assert strategy.counts_rewards is asks


@pytest.mark.parametrize("kind", BONUSES)
def test_plans_seek_the_bonus_alone_until_reward_counts(kind):
    strategy = preset("explore", kind, draws=2, reward_from=9)
    blind, seeing = (
        rollout(MEANS, reward=(reward,)) for reward in ((0.0, 0.0, 0.0), (30.0, 20.0, 10.0))
    )
    before, from_then_on = (strategy(seeing, Elapsed(steps)) for steps in (8, 9))
    np.testing.assert_array_equal(before, strategy(blind, Elapsed()))
    without = preset("explore", kind, draws=2)
    np.testing.assert_array_equal(from_then_on, without(seeing, Elapsed()))
    assert np.ptp(from_then_on - before) > 1


def test_noise_of_a_blind_reward_model_weighs_less_than_the_bonus():
    noisy = rollout(MEANS, reward=((0.02, 0.01, -0.02),))
    strategy = preset("explore", "disagreement", draws=2)
    assert int(tf.argmax(strategy(noisy, Elapsed())[0])) == 2


@pytest.mark.parametrize("kind", BONUSES)
def test_one_draw_is_refused(kind):
    with pytest.raises(ValueError, match="^draws must be at least 2, got 1"):
        preset("explore", kind, draws=1)


def test_unknown_estimate_is_refused():
    with pytest.raises(ValueError, match="^estimate must be moment_matched or pairwise"):
        preset("explore", "information_gain", estimate="exact")


@pytest.mark.parametrize("kind", BONUSES)
def test_what_comes_after_a_plan_is_added_to_its_bonus(kind):
    strategy = preset("explore", kind, draws=2)
    plain = rollout(MEANS)
    beyond = tf.constant([[[5.0, 0.0, -5.0]]])
    found = strategy.bonus(plain._replace(novelty=beyond))
    np.testing.assert_allclose(found, strategy.bonus(plain) + beyond[0], rtol=1e-5)


def test_a_bonus_beyond_the_horizon_that_plans_share_changes_no_score():
    strategy = preset("explore", "disagreement", draws=2)
    plain = rollout(MEANS, reward=((0.0, 3.0, 1.0),))
    shared = plain._replace(novelty=tf.fill([1, 1, 3], 500.0))
    found = strategy(shared, Elapsed())
    np.testing.assert_allclose(found, strategy(plain, Elapsed()), rtol=1e-3)


def test_a_weight_that_is_given_takes_the_place_of_the_schedule():
    strategy = preset("explore", "disagreement", draws=2, beta=0.5)
    plain = rollout(MEANS, reward=((0.0, 3.0, 1.0),))
    start = Elapsed()
    at_half, given = strategy(plain, start), strategy.score(plain, tf.constant(2.0), start)
    by_return = strategy.score(plain, tf.constant(0.0), start)
    np.testing.assert_allclose(given - by_return, 4.0 * (at_half - by_return), rtol=1e-4)


DRAWS, SIZE = 5, 3


def parameters(spread, seed=0):
    generator = np.random.default_rng(seed)
    mean = spread * generator.normal(size=[DRAWS, SIZE])
    stddev = 0.1 + 0.2 * generator.uniform(size=[DRAWS, SIZE])
    return mean.astype(np.float32), stddev.astype(np.float32)


def monte_carlo(mean, stddev, count=200_000):
    """Information gain and its standard error."""
    parts = tfd.MultivariateNormalDiag(mean, stddev)
    mixture = tfd.MixtureSameFamily(tfd.Categorical(logits=tf.zeros([DRAWS])), parts)
    log_density = mixture.log_prob(mixture.sample(count, seed=[0, 1])).numpy()
    gain = -log_density.mean() - parts.entropy().numpy().mean()
    return gain, log_density.std() / np.sqrt(count)


@pytest.mark.parametrize("spread", [0.02, 0.1, 0.5, 3.0])
def test_estimates_enclose_the_information_gain(spread):
    mean, stddev = parameters(spread)
    gain, error = monte_carlo(mean, stddev)
    assert pairwise(mean, stddev) < gain + 5 * error
    assert gain - 5 * error < moment_matched(mean, stddev)


def test_estimates_are_near_the_information_gain_where_draws_differ_little():
    mean, stddev = parameters(0.05)
    stddev = np.broadcast_to(stddev[:1], stddev.shape)
    gain, error = monte_carlo(mean, stddev)
    assert abs(moment_matched(mean, stddev) - gain) < 0.15 * gain + 5 * error


def test_equal_stddevs_have_a_closed_form():
    mean, _ = parameters(0.3)
    expected = 0.5 * np.log1p(mean.var(0) / 0.2**2).sum()
    found = moment_matched(mean, np.full_like(mean, 0.2))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("estimate", ESTIMATES.values(), ids=ESTIMATES)
def test_identical_draws_tell_nothing(estimate):
    mean, stddev = (np.repeat(x[:1], DRAWS, axis=0) for x in parameters(1.0))
    np.testing.assert_allclose(estimate(mean, stddev), 0.0, atol=1e-6)


def test_two_draws_by_hand():
    # BD = 2^2 / (4 (1 + 4)) + log((1 + 4) / (2 * 1 * 2)) / 2
    distance = 0.2 + 0.5 * np.log(1.25)
    found = pairwise(tf.constant([[0.0], [2.0]]), tf.constant([[1.0], [2.0]]))
    np.testing.assert_allclose(found, -np.log((1 + np.exp(-distance)) / 2), rtol=1e-6)


@pytest.mark.parametrize(("spread", "within"), [(0.5, 0.1), (1.0, 0.05), (10.0, 0.001)])
def test_pairwise_bound_grows_tight_where_draws_move_apart(spread, within):
    mean, stddev = parameters(spread)
    gain, error = monte_carlo(mean, stddev)
    assert gain - pairwise(mean, stddev) < within * gain + 5 * error


def test_draws_far_apart_tell_which_they_are():
    mean = np.arange(DRAWS * 1.0)[:, None] * 1e3
    found = pairwise(tf.constant(mean), tf.ones_like(mean))
    np.testing.assert_allclose(found, np.log(DRAWS), rtol=1e-6)

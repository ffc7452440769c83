"""Tests of agents.planet.planning.cross_entropy, on scores whose best plan is known.

What all planners do is tested here of both; the rest is in test_improved.py.
"""

import sys

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.planning import PLANNERS
from tests.agents.presets import preset

SEED = tf.constant([1, 2])
SMALL = {"horizon": 3, "candidates": 200, "elites": 20}
EACH = pytest.mark.parametrize(
    "planner",
    [
        preset("planner", "cem", **SMALL, iterations=8),
        preset("planner", "icem", **SMALL, iterations=8),
        preset(
            "planner",
            "icem",
            **SMALL,
            iterations=8,
            noise_beta=0.0,
            keep_elites=0.0,
            decay=1.0,
        ),
    ],
    ids=["cem", "icem", "icem-white"],
)

# The best plans of two environments, [B, H, A]; the second one's is partly out of reach.
BEST = tf.constant(
    [[[0.5, -0.3], [0.0, 0.7], [-0.6, 0.2]], [[3.0, -0.3], [-2.0, 0.1], [0.4, -5.0]]]
)


def closeness(plans, seed=None):
    """Minus the squared distance from the best plan: [B, N, H, A] -> [B, N]."""
    del seed
    return -tf.reduce_sum((plans - BEST[:, tf.newaxis]) ** 2, axis=[2, 3])


def make_plan(planner, score=closeness, seed=SEED, state=None):
    if state is None:
        state = planner.initial_state(2, 2)
    plan, state = planner.plan(score, state, (2, 2), seed)
    return plan.actions, state


@EACH
def test_the_best_plan_is_found_inside_and_at_the_bounds(planner):
    plan, _ = tf.function(lambda: make_plan(planner), autograph=False)()
    np.testing.assert_allclose(plan, tf.clip_by_value(BEST, -1, 1), atol=0.05)


@EACH
def test_candidates_are_within_the_bounds_of_actions(planner):
    extremes = []

    def score(plans, seed):
        extremes.append((plans.numpy().min(), plans.numpy().max()))
        return closeness(plans, seed)

    make_plan(planner, score)
    low, high = np.transpose(extremes)
    assert low.min() == -1
    assert high.max() == 1


@pytest.mark.slow
@EACH
def test_more_iterations_give_better_plans(planner):
    def best(iterations):
        settings = vars(planner) | {"iterations": iterations, "candidates": 40}
        plans = [
            make_plan(type(planner)(**settings), seed=tf.constant([0, seed]))[0]
            for seed in range(5)
        ]
        return np.mean([closeness(plan[:, None])[0] for plan in plans])

    assert best(1) < best(3) < best(9)


@EACH
def test_as_many_plans_are_scored_as_is_said(planner):
    counts = []

    def score(plans, seed):
        counts.append(plans.shape[1])
        return closeness(plans, seed)

    make_plan(planner, score)
    assert sum(counts) == planner.evaluations


@EACH
def test_a_seed_gives_the_same_plan(planner):
    first, again, other = (
        make_plan(planner, seed=tf.constant([0, seed]))[0].numpy() for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.any(first == other)


@EACH
def test_each_iteration_is_scored_with_a_seed_of_its_own(planner):
    seeds = []

    def score(plans, seed):
        seeds.append(tuple(seed.numpy()))
        return closeness(plans, seed)

    make_plan(planner, score)
    assert len(set(seeds)) == planner.iterations


@EACH
def test_the_state_is_as_it_was_at_first(planner):
    _, state = make_plan(planner)
    tf.nest.map_structure(
        lambda new, old: new.shape.assert_is_compatible_with(old.shape),
        state,
        planner.initial_state(2, 2),
    )


def test_cem_refits_to_the_population_moments_of_the_elites():
    planner = preset("planner", "cem", horizon=1, candidates=50, elites=5, iterations=2)
    populations = []

    def score(plans, seed):
        del seed
        populations.append(plans[0, :, 0, 0].numpy())
        return -((plans[:, :, 0, 0] - 0.3) ** 2)

    (plan, stddev), _ = planner.plan(score, (), (1, 1), SEED)
    elites = [each[np.argsort((each - 0.3) ** 2)[:5]] for each in populations]
    np.testing.assert_allclose(plan[0, 0, 0], elites[1].mean(), rtol=1e-5)
    np.testing.assert_allclose(stddev[0, 0, 0], elites[1].std(), rtol=1e-2)
    assert abs(populations[1].mean() - elites[0].mean()) < 4 * elites[0].std() / 50**0.5
    assert populations[1].std() == pytest.approx(elites[0].std(), rel=0.4)


def test_cem_starts_from_the_standard_normal_distribution_cut_at_the_bounds():
    planner = preset("planner", "cem", horizon=1, candidates=4000, elites=1, iterations=1)
    population = []

    def score(plans, seed):
        del seed
        population.extend(plans.numpy().ravel())
        return plans[..., 0, 0]

    planner.plan(score, (), (1, 1), SEED)
    assert np.mean(np.abs(population) == 1) == pytest.approx(0.3173, abs=0.03)
    assert np.mean(np.abs(population) < 0.5) == pytest.approx(0.3829, abs=0.03)


KINDS = pytest.mark.parametrize("kind", PLANNERS)


@KINDS
@pytest.mark.parametrize("name", ["horizon", "candidates", "elites", "iterations"])
def test_counts_below_1_are_refused(kind, name):
    with pytest.raises(ValueError, match=f"^{name} must be at least 1, got 0"):
        preset("planner", kind, **{name: 0})


@KINDS
def test_more_elites_than_candidates_are_refused(kind):
    message = r"^elites must be at most candidates \(5\), got 6"
    with pytest.raises(ValueError, match=message):
        preset("planner", kind, candidates=5, elites=6)


REACHABLE = tf.clip_by_value(BEST, -1.0, 1.0)


def plan_with(planner, proposals, score=closeness):
    start = planner.initial_state(2, 2)
    plan, state = planner.plan(score, start, (2, 2), SEED, proposals)
    return plan.actions, state


@EACH
def test_proposals_that_are_best_are_the_plan(planner):
    apart = 1e-5 * tf.range(20.0)[tf.newaxis, :, tf.newaxis, tf.newaxis]
    best = REACHABLE[:, tf.newaxis] + apart  # as many as elites
    plan, _ = plan_with(planner, best)
    np.testing.assert_allclose(plan, REACHABLE, atol=5e-4)
    without, _ = plan_with(planner, None)
    assert np.abs(without - REACHABLE).max() > 1e-3


@EACH
def test_proposals_that_are_worst_change_nothing(planner):
    worst = tf.fill([2, 5, 3, 2], 0.123)

    def score(plans, seed):
        is_proposed = tf.reduce_all(plans == 0.123, axis=[2, 3])
        return tf.where(is_proposed, -1e9, closeness(plans, seed))

    found, without = plan_with(planner, worst, score), plan_with(planner, None)
    tf.nest.map_structure(np.testing.assert_array_equal, found, without)


@EACH
def test_proposals_are_scored_beside_the_candidates_of_every_iteration(planner):
    seen = []

    def score(plans, seed):
        seen.append(plans.numpy())
        return closeness(plans, seed)

    proposals = tf.random.stateless_uniform([2, 4, 3, 2], [3, 4], -1, 1)
    plan_with(planner, proposals, score)
    assert sum(plans.shape[1] for plans in seen) == planner.evaluations + 4 * 8
    for plans in seen:
        np.testing.assert_array_equal(plans[:, -4:], proposals)


@EACH
def test_the_noise_of_scores_is_not_the_one_that_drew_the_candidates(planner, monkeypatch):
    """Else a plan would score by what drew it."""
    drew, scored = [], []
    module = sys.modules[type(planner).__module__]
    normal = module.normal

    def told(shape, seed):
        drew.append(tuple(seed.numpy()))
        return normal(shape, seed)

    def score(plans, seed):
        scored.append(tuple(seed.numpy()))
        return closeness(plans)

    monkeypatch.setattr(module, "normal", told)
    make_plan(planner, score)
    assert drew
    assert not set(drew) & set(scored)

"""Tests of planners where actions are categories, on scores whose best plan is known."""

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.action_space import Categories
from agents.planet.planning.planner import PlannerOfGroups
from tests.agents.presets import preset

SEED = tf.constant([1, 2])
SPACE, SIZE, HORIZON = Categories([3, 2]), 5, 4
SMALL = {"horizon": HORIZON, "candidates": 100, "elites": 10}
EACH = pytest.mark.parametrize(
    "planner", [preset("planner", kind, **SMALL, iterations=5) for kind in ("cem", "icem")]
)
WORTH = np.random.default_rng(0).normal(size=[HORIZON, SIZE]).astype(np.float32)


def bandits(plans, seed=None):
    """Each category of each step and part has a worth: [B, N, H, A] -> [B, N]."""
    del seed
    return tf.einsum("bnha,ha->bn", plans, WORTH)


def lock(plans, seed=None):
    """A walk of three categories: a step counts if all before it were right, 0 1 2 0."""
    del seed
    right = tf.reduce_sum(plans[..., :3] * np.eye(3, dtype=np.float32)[[0, 1, 2, 0]], -1)
    return tf.reduce_sum(tf.math.cumprod(right, axis=-1), -1)


def plan_by(planner, score, state=None, proposals=None, rows=1):
    state = planner.initial_state(rows, SIZE) if state is None else state
    return planner.plan(score, state, (rows, SIZE), SEED, proposals, SPACE)


@pytest.mark.slow
@EACH
@pytest.mark.parametrize("compiles", [False, True])
def test_the_best_category_of_each_step_and_part_is_found(planner, compiles):
    def find():
        return plan_by(planner, bandits)[0].actions[0]

    found = tf.function(find, autograph=False, jit_compile=compiles)()
    np.testing.assert_array_equal(found, SPACE.mode(tf.constant(WORTH)))


@EACH
def test_the_way_through_a_chain_is_found(planner):
    plan, _ = plan_by(planner, lock)
    assert np.argmax(plan.actions[0, :, :3], -1).tolist() == [0, 1, 2, 0]


@EACH
def test_candidates_are_one_hot_in_the_first_decision_and_the_next(planner):
    state = None
    for _ in range(2):
        seen = []

        def score(plans, seed, seen=seen):
            seen.append(plans)
            return bandits(plans)

        _, state = plan_by(planner, score, state)
        for plans in seen:
            first, second = tf.split(plans, [3, 2], -1)
            for part in (first, second):
                assert set(np.unique(part)) <= {0.0, 1.0}
                np.testing.assert_array_equal(tf.reduce_sum(part, -1), 1.0)


@pytest.mark.parametrize(("kind", "momentum"), [("cem", 0.0), ("icem", 0.25)])
def test_a_refit_is_how_often_elites_choose_each_category_smoothed(kind, momentum):
    """De Boer et al., 2005: v' = (1 - momentum) share of elites + momentum v."""
    more = {"momentum": momentum, "keep_elites": 0.0} if kind == "icem" else {}
    planner = preset("planner", kind, **SMALL, iterations=1, **more)
    seen = []

    def score(plans, seed):
        seen.append(plans.numpy()[0])
        return bandits(plans)

    plan, _ = plan_by(planner, score)
    (plans,) = seen
    order = np.argsort(-bandits(plans[np.newaxis])[0], kind="stable")
    shares = plans[order[:10]].mean(0)
    start = np.array([1 / 3] * 3 + [1 / 2] * 2)
    expected = (1 - momentum) * shares + momentum * start
    np.testing.assert_allclose(plan.spread[0], expected, atol=1e-6)
    np.testing.assert_array_equal(plan.actions[0], SPACE.mode(tf.constant(expected)))


@EACH
def test_first_candidates_are_uniform(planner):
    seen = []

    def score(plans, seed):
        seen.append(plans.numpy())
        return bandits(plans)

    plan_by(planner, score, rows=200)
    share = seen[0][:, :100].mean((0, 1, 2))
    expected = np.array([1 / 3] * 3 + [1 / 2] * 2)
    # Choices of a plan go together in time; those of plans do not.
    error = np.sqrt(expected * (1 - expected) / (200 * 100))
    assert np.all(np.abs(share - expected) < 4 * error)


def test_colored_noise_holds_choices_for_longer():
    def changes(beta):
        planner = preset("planner", "icem", **(SMALL | {"horizon": 10}), noise_beta=beta)
        seen = []

        def score(plans, seed):
            seen.append(np.argmax(plans[0, :100, :, :3], -1))
            return tf.zeros(plans.shape[:2])

        plan_by(planner, score)
        return np.mean(seen[0][:, 1:] != seen[0][:, :-1])

    assert changes(0.0) == pytest.approx(2 / 3, abs=0.08)
    assert changes(2.0) < 0.4


@EACH
def test_a_proposal_that_alone_scores_is_among_the_elites(planner):
    steps = np.eye(3)[[0, 1, 2, 0]], np.eye(2)[[1, 1, 0, 1]]
    proposal = tf.constant(np.concatenate(steps, -1)[None, None], tf.float32)

    def score(plans, seed):
        wrong = tf.reduce_any(plans != proposal, [2, 3])
        return bandits(plans) - 1e6 * tf.cast(wrong, tf.float32)

    few = preset("planner", "icem", horizon=HORIZON, candidates=4, elites=1, momentum=0.0)
    plan, _ = plan_by(few, score, proposals=proposal)
    np.testing.assert_array_equal(plan.actions, proposal[:, 0])
    plan, _ = plan_by(planner, score, proposals=proposal)
    assert float(tf.reduce_min(tf.reduce_sum(plan.spread * proposal[:, 0], -1))) > 0


@EACH
def test_groups_find_the_best_plan(planner):
    plan, _ = plan_by(PlannerOfGroups(planner, 2), bandits)
    np.testing.assert_array_equal(plan.actions[0], SPACE.mode(tf.constant(WORTH)))

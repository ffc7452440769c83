"""Tests of agents.planet.planning.planner, on scores whose best plan is known."""

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.planning.planner import PlannerOfGroups
from agents.system.seeds import split
from tests.agents.planet.planning.test_cross_entropy import (
    BEST,
    SEED,
    SMALL,
    closeness,
    make_plan,
)
from tests.agents.presets import preset

CEM, ICEM = (
    PlannerOfGroups(preset("planner", kind, **SMALL, iterations=8), groups=3)
    for kind in ("cem", "icem")
)
GROUPS = pytest.mark.parametrize("planner", [CEM, ICEM], ids=["cem", "icem"])

# Where each of three groups would have the actions; the last is out of reach.
TARGETS = tf.constant([-0.5, 0.2, 1.5])


def score_by_group(seen):
    """Minus the squared distance from the target of a plan's group; appends to `seen`."""

    def score(plans, seed):
        del seed
        batch_size, count, horizon, size = plans.shape
        groups = tf.reshape(plans, [batch_size, 3, count // 3, horizon, size])
        distance = groups - TARGETS[:, tf.newaxis, tf.newaxis, tf.newaxis]
        scores = -tf.reduce_sum(distance**2, axis=[3, 4])
        seen.append((groups, scores))
        return tf.reshape(scores, [batch_size, count])

    return score


@pytest.mark.slow
@pytest.mark.parametrize(
    ("planner", "jit_compile"),
    [
        (CEM, False),
        (ICEM, False),
        (CEM, True),
        pytest.param(ICEM, True, marks=pytest.mark.slow),
    ],
    ids=["cem", "icem", "cem-xla", "icem-xla"],
)
def test_groups_find_the_best_plan_in_a_graph_as_well(planner, jit_compile):
    options = {"jit_compile": jit_compile, "autograph": False}
    plan, _ = tf.function(lambda: make_plan(planner), **options)()
    np.testing.assert_allclose(plan, tf.clip_by_value(BEST, -1, 1), atol=0.2)


@GROUPS
def test_groups_score_as_many_plans_as_is_said_and_few_more_than_one_planner(planner):
    counts = []

    def score(plans, seed):
        counts.append(plans.shape[1])
        return closeness(plans, seed)

    _, state = make_plan(planner, score)
    assert sum(counts) == planner.evaluations
    assert planner.evaluations == pytest.approx(planner.planner.evaluations, rel=0.03)
    tf.nest.map_structure(
        lambda new, old: new.shape.assert_is_compatible_with(old.shape),
        state,
        planner.initial_state(2, 2),
    )


def test_a_candidate_stays_in_its_group_in_all_iterations_and_decisions():
    each = preset("planner", "icem", horizon=1, candidates=60, elites=12, iterations=4)
    planner, seen = PlannerOfGroups(each, groups=3), []
    state = planner.initial_state(2, 2)
    for number in range(3):
        _, state = make_plan(planner, score_by_group(seen), tf.constant([0, number]), state)
    calls = len(seen) // 3  # of each decision
    places = {}  # of each plan: environment, group and call of the score
    for call, (groups, _) in enumerate(seen):
        for environment, group, n in np.ndindex(*groups.shape[:3]):
            plan = groups[environment, group, n].numpy()
            if np.all(np.abs(plan) < 1) and np.any(plan):
                places.setdefault(plan.tobytes(), []).append((environment, group, call))
    kept = [found for found in places.values() if len({call for *_, call in found}) > 1]
    assert len(kept) > 20
    assert any(len({call // calls for *_, call in found}) > 1 for found in kept)
    for found in kept:
        assert len({place[:2] for place in found}) == 1


@GROUPS
def test_a_group_refits_to_its_own_elites(planner):
    seen = []
    make_plan(planner, score_by_group(seen))
    (groups, _) = seen[-1]  # the plan of each group
    expected = tf.broadcast_to(
        tf.minimum(TARGETS, 1.0)[:, tf.newaxis, tf.newaxis, tf.newaxis], groups.shape[1:]
    )
    for environment in groups:
        np.testing.assert_allclose(environment, expected, atol=0.2)


@GROUPS
def test_the_plan_is_that_of_the_group_that_scores_its_own_highest(planner):
    seen = []
    plan, _ = make_plan(planner, score_by_group(seen))
    groups, scores = seen[-1]
    assert groups.shape == (2, 3, 1, 3, 2)
    for environment in range(2):
        best = np.argmax(scores[environment, :, 0])
        assert best < 2  # the target of the last group is out of reach
        np.testing.assert_array_equal(plan[environment], groups[environment, best, 0])


@GROUPS
def test_groups_that_are_scored_alike_plan_as_their_planner_does(planner):
    alone = planner.planner.share(3)

    def score_rows(plans, seed):
        del seed
        distance = plans - tf.repeat(BEST, 3, axis=0)[:, tf.newaxis]
        return -tf.reduce_sum(distance**2, axis=[2, 3])

    state = alone.initial_state(6, 2)
    plans, _ = alone.plan(score_rows, state, (6, 2), split(SEED, 2)[0])
    plans = [tf.reshape(x, [2, 3, 3, 2]) for x in plans]
    best = tf.argmax(closeness(plans[0]), axis=1)
    expected = [tf.gather(of_groups, best, batch_dims=1) for of_groups in plans]
    found, _ = planner.plan(closeness, planner.initial_state(2, 2), (2, 2), SEED)
    for values, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(values, right, rtol=1e-5, atol=1e-6)


@GROUPS
def test_every_group_gets_all_proposals(planner):
    proposals = tf.random.stateless_uniform([2, 4, 3, 2], [3, 4], -1, 1)
    seen, score = [], score_by_group([])

    def spied(plans, seed):
        seen.append(plans.numpy())
        return score(plans, seed)

    planner.plan(spied, planner.initial_state(2, 2), (2, 2), SEED, proposals)
    *searched, last = seen
    assert last.shape[1] == 3
    for plans in searched:
        groups = plans.reshape([2, 3, -1, 3, 2])
        for group in range(3):
            np.testing.assert_array_equal(groups[:, group, -4:], proposals)


@GROUPS
def test_a_proposal_that_is_best_for_its_group_is_the_plan(planner):
    best = tf.fill([2, 20, 3, 2], TARGETS[1])
    plan, _ = planner.plan(
        score_by_group([]), planner.initial_state(2, 2), (2, 2), SEED, best
    )
    np.testing.assert_allclose(plan.actions, best[:, 0], atol=1e-3)

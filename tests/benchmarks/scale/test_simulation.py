"""Tests of benchmarks.scale.simulation, against what follows from the times by hand."""

import dataclasses

import pytest

from benchmarks.scale.costs import Costs
from benchmarks.scale.simulation import Layout, simulate

NOTHING = Costs(
    decision={1: 0.0},
    step={1: 0.0},
    episode_steps=10,
    action_repeat=8,
    pack=0.0,
    hand=0.0,
    write=0.0,
    send=0.0,
    receive=0.0,
    train={1: 0.0, 2: 0.0},
    save=0.0,
    weights=0,
    gradients=0,
)


def episodes_per_second(layout, **costs):
    outcome = simulate(dataclasses.replace(NOTHING, **costs), layout, episodes=300)
    assert max(outcome.busy.values()) <= 1 + 1e-9  # nobody works longer than it is
    return outcome.steps_per_second / 80, outcome


def test_a_slow_actor_is_what_a_run_waits_for():
    rate, outcome = episodes_per_second(
        Layout(1, updates=5),
        decision={1: 0.3},
        step={1: 0.1},
        pack=0.75,
        receive=0.25,
        train={1: 0.1},
        save=0.5,
    )
    assert rate == pytest.approx(1 / 5.0)
    assert outcome.bottleneck == "actors"
    assert outcome.busy["learners"] == pytest.approx(0.2)


def test_actors_add_up_until_the_learner_is_what_a_run_waits_for():
    costs = {"decision": {1: 0.4}, "train": {1: 0.1}, "save": 0.5}
    rates = [episodes_per_second(Layout(n, updates=5), **costs)[0] for n in (1, 2, 4, 8)]
    assert rates == pytest.approx([0.25, 0.5, 1.0, 1.0], rel=0.02)


@pytest.mark.parametrize("actors", [1, 3, 7, 8])
def test_actors_that_wait_for_nobody_add_up_exactly(actors):
    costs = dataclasses.replace(NOTHING, decision={1: 0.4})
    outcome = simulate(costs, Layout(actors, updates=5), episodes=50)
    assert outcome.steps_per_second == pytest.approx(actors * 80 / 4.0)


def test_a_learner_that_takes_one_after_another_can_be_what_all_wait_for():
    rate, outcome = episodes_per_second(
        Layout(20, updates=1), decision={1: 0.1}, hand=0.1, write=0.1, send=0.05
    )
    assert rate == pytest.approx(4.0, rel=0.04)
    assert outcome.bottleneck == "learners"


def test_processes_that_share_a_core_take_turns():
    costs = {"decision": {1: 0.1}, "train": {1: 0.1}}
    rate, _ = episodes_per_second(Layout(1, updates=10, cores=1), **costs)
    assert rate == pytest.approx(0.5, rel=0.02)
    rate, _ = episodes_per_second(Layout(1, updates=10, cores=2), **costs)
    assert rate == pytest.approx(1.0, rel=0.02)


def test_learners_share_a_batch_and_sum_gradients():
    layout = Layout(8, learners=2, updates=10, bandwidth=100.0, latency=0.01)
    rate, _ = episodes_per_second(layout, train={1: 0.2, 2: 0.1}, gradients=9)
    assert rate == pytest.approx(1 / (10 * (0.1 + 0.09 + 0.01)), rel=0.02)


def test_weights_are_as_old_as_the_wait_for_the_learner():
    """An actor gets them when its last episode was learned from: the updates of others."""
    costs = {"decision": {1: 1e-3}, "train": {1: 0.1}}
    rate, outcome = episodes_per_second(Layout(3, updates=50), **costs)
    assert outcome.staleness == pytest.approx(100, abs=1)
    assert rate == pytest.approx(1 / 5.0, rel=0.01)


def test_a_learner_that_would_wait_lets_an_actor_go_on_at_once():
    costs = {"decision": {1: 0.4}, "train": {1: 0.1}}
    rate, outcome = episodes_per_second(Layout(2, updates=10), **costs)
    assert rate == pytest.approx(2 / 4.0, rel=0.01)  # not 2 / 5: learning takes a second
    assert outcome.staleness == pytest.approx(20, abs=1)


def test_one_actor_collects_while_its_last_episode_is_learned_from():
    costs = {"decision": {1: 0.4}, "train": {1: 0.1}}
    rate, outcome = episodes_per_second(Layout(1, updates=30), **costs)
    assert rate == pytest.approx(1 / 4.0, rel=0.01)
    assert outcome.staleness == pytest.approx(30, abs=1)

"""Tests of agents.planet.planning.icem."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.planning.icem import colored_noise_basis
from tests.agents.presets import preset

SEED = tf.constant([1, 2])


@pytest.mark.parametrize(("elites", "groups"), [(15, 5), (10, 3), (2, 2), (100, 2)])
def test_a_share_of_an_icem_planner_keeps_elites_as_well(elites, groups):
    planner = preset("planner", "icem", candidates=150, elites=elites, keep_elites=0.3)
    share = planner.share(groups)
    assert share.candidates == -(-150 // groups)
    assert share.elites == -(-elites // groups)
    assert share.num_kept == -(-planner.num_kept // groups)


def test_icem_populations_shrink_but_hold_twice_the_elites():
    planner = preset("planner", "icem", candidates=100, elites=20, iterations=6, decay=1.5)
    assert planner.populations == [100, 67, 44, 40, 40, 40]


def test_icem_starts_from_the_last_plan_one_step_on():
    planner = preset(
        "planner",
        "icem",
        horizon=3,
        candidates=20,
        elites=10,
        iterations=1,
        initial_stddev=1e-6,
    )
    mean = tf.constant([[[0.1], [0.2], [0.3]]])
    kept = tf.constant(np.linspace(-1, 1, 9).reshape(1, 3, 3, 1), tf.float32)
    populations = []

    def score(plans, seed):
        del seed
        populations.append(plans[0, :, :, 0].numpy())
        return plans[..., 0, 0]

    planner.plan(score, (mean, kept), (1, 1), SEED)
    fresh, returned, last = np.split(populations[0], [20, 23])
    np.testing.assert_allclose(fresh, [[0.2, 0.3, 0.3]] * 20, atol=1e-4)
    moved = kept[0, :, :, 0].numpy()[:, [1, 2, 2]]
    np.testing.assert_array_equal(returned, moved)
    np.testing.assert_allclose(last, [[0.2, 0.3, 0.3]], atol=1e-6)


def test_icem_keeps_its_best_elites_for_the_next_iteration_and_decision():
    planner = preset("planner", "icem", horizon=2, candidates=30, elites=10, iterations=2)
    populations = []

    def score(plans, seed):
        del seed
        populations.append(plans[0].numpy())
        return tf.reduce_sum(plans, axis=[2, 3])

    _, (_, kept) = planner.plan(score, planner.initial_state(1, 1), (1, 1), SEED)
    assert planner.num_kept == 3
    # as a float 0.29 x 100 is a little less than 29
    wide = dataclasses.replace(planner, candidates=100, elites=100, keep_elites=0.29)
    assert wide.num_kept == 29
    for population, later in zip(populations, (populations[1], kept[0]), strict=True):
        order = np.argsort(-population.sum((1, 2)), kind="stable")[:3]
        for best in population[order]:
            assert np.any(np.all(later == best, axis=(1, 2)))


def test_a_proposal_that_is_kept_is_one_candidate():
    words = {"horizon": 1, "candidates": 8, "elites": 4, "iterations": 3}
    planner = preset("planner", "icem", **words, keep_elites=0.5)
    proposals = tf.constant([[[[0.9]], [[-0.6]]]])

    def score(plans, seed):
        del seed
        return -tf.abs(plans[..., 0, 0] - 0.9)

    _, (_, kept) = planner.plan(score, planner.initial_state(1, 1), (1, 1), SEED, proposals)
    best, second = kept[0, :, 0, 0].numpy()
    assert best == np.float32(0.9) != second


def test_icem_mixes_old_and_new_moments():
    planner = preset(
        "planner", "icem", horizon=1, candidates=50, elites=5, iterations=1, momentum=0.4
    )
    populations = []

    def score(plans, seed):
        del seed
        populations.append(plans[0, :, 0, 0].numpy())
        return -tf.abs(plans[..., 0, 0])

    state = (tf.constant([[[0.5]]]), tf.zeros([1, 1, 1, 1]))
    (plan, stddev), (mean, _) = planner.plan(score, state, (1, 1), SEED)
    elites = sorted(populations[0], key=abs)[:5]
    np.testing.assert_allclose(plan, [[[0.4 * 0.5 + 0.6 * np.mean(elites)]]], rtol=1e-5)
    np.testing.assert_allclose(stddev, [[[0.4 * 1.0 + 0.6 * np.std(elites)]]], rtol=1e-4)
    np.testing.assert_array_equal(mean, plan)


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("length", [1, 5, 12])
def test_colored_noise_has_unit_variance(length, exponent):
    basis = colored_noise_basis(length, exponent)
    np.testing.assert_allclose((basis**2).sum(0), np.ones(length))


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("length", [15, 16])
def test_colored_noise_has_the_power_spectrum(length, exponent):
    basis = colored_noise_basis(length, exponent)
    noise = np.random.default_rng(0).normal(size=[40_000, len(basis)]) @ basis
    power = np.mean(np.abs(np.fft.rfft(noise)) ** 2, axis=0)[1:]
    power /= np.fft.rfftfreq(length)[1:] ** -exponent
    np.testing.assert_allclose(power, power[0], rtol=0.05)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("decay", 0.5, "decay must be at least 1, got 0.5"),
        ("keep_elites", 1.5, "keep_elites must be at most 1, got 1.5"),
        ("momentum", 1.0, "momentum must be below 1, got 1.0"),
        ("noise_beta", -1.0, "noise_beta must be at least 0, got -1"),
        ("initial_stddev", 0.0, "initial_stddev must be above 0, got 0"),
    ],
)
def test_values_out_of_range_are_refused(name, value, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        preset("planner", "icem", **{name: value})

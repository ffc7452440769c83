"""Tests of agents.study.insight.forecasts."""

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.model.rssm import Latent
from agents.study.insight.forecasts import (
    SIZES,
    ForecastTimes,
    broadest,
    count_components,
    forecasts,
)
from agents.study.insight.latents import CONTEXT

SEED = tf.constant([9, 10])
ROWS = 15


@pytest.fixture(scope="module")
def episodes(make_episodes):
    return make_episodes(np.zeros([2, ROWS]))


@pytest.fixture(scope="module")
def found(model, episodes):
    times = ForecastTimes(model, episodes)
    return times, list(forecasts(model, episodes, times, SEED))


def test_forecasts_stay_inside_the_episodes(found):
    times, _ = found
    assert times.starts[0] == CONTEXT - 1
    assert times.starts[-1] + times.steps[-1] == ROWS - 1
    assert list(times.steps) == [1, 2, 3, 4, 5]


def test_all_mixtures_have_equally_many_components(model, found):
    times, (first, _) = found
    for size, mixtures in first.items():
        count = max(SIZES) // size if size else 1
        shape = (count, count_components(model), len(times.steps), len(times.starts), 2)
        assert mixtures.shape == shape


def test_components_are_all_different(found):
    _, (first, _) = found
    for mixtures in first.values():
        for mixture in mixtures:
            different = len(np.unique(mixture[:, -1, 0], axis=0))
            assert different > 0.9 * len(mixture)  # some have no unit of the decoder on


def test_draws_of_a_mixture_start_from_latents_of_their_own(monkeypatch, model, episodes):
    def still(model, start, action, noise, weights):
        shape = noise.shape[:3]  # nothing moves: components differ by their start alone
        return Latent(*(tf.broadcast_to(x, [*shape, x.shape[-1]]) for x in start))

    monkeypatch.setattr("agents.study.insight.forecasts.imagine_latents", still)
    monkeypatch.setattr(model, "expected_observation", lambda features: features)
    times = ForecastTimes(model, episodes)
    for mixtures in next(forecasts(model, episodes, times, SEED)).values():
        for mixture in mixtures:
            assert len(np.unique(mixture[:, 0, 0], axis=0)) == count_components(model)
    _, alone = next(broadest(model, episodes, times, SEED))
    assert len(np.unique(alone[:, 0, 0], axis=0)) == count_components(model)


@pytest.mark.slow
@pytest.mark.parametrize("make", [forecasts, broadest])
def test_each_episode_has_draws_of_its_own(model, episodes, monkeypatch, make):
    seeds, draw = [], model.draw_weights

    def spied(count, seed):
        seeds.append(tuple(np.array(seed)))
        return draw(count, seed)

    monkeypatch.setattr(model, "draw_weights", spied)
    list(make(model, episodes, ForecastTimes(model, episodes), SEED))
    assert len(set(seeds)) == len(episodes) == 2


def test_truths_are_what_came_that_many_steps_after_the_start(model, episodes, found):
    times, _ = found
    truths = times.truths(model, episodes, SEED)
    for truth, episode in zip(truths, episodes, strict=True):
        for (step, start), row in np.ndenumerate(times.starts[None] + times.steps[:, None]):
            np.testing.assert_array_equal(truth[step, start], episode["observation"][row])


def test_each_step_follows_from_the_action_that_leads_to_it(monkeypatch, model, episodes):
    def told(model, start, action, noise, weights):
        shape = noise.shape[:3]
        return Latent(
            *(tf.broadcast_to(action[:, tf.newaxis], [*shape, x.shape[-1]]) for x in start)
        )

    monkeypatch.setattr("agents.study.insight.forecasts.imagine_latents", told)
    monkeypatch.setattr(model, "expected_observation", lambda features: features)
    times = ForecastTimes(model, episodes)
    for episode, (_, found) in zip(
        episodes, broadest(model, episodes, times, SEED), strict=True
    ):
        for (step, start), row in np.ndenumerate(times.starts + times.steps[:, None]):
            expected = np.full_like(found[:, step, start], episode["action"][row])
            np.testing.assert_array_equal(found[:, step, start], expected)


def spread(mixtures):
    return mixtures.std(axis=1).mean()


@pytest.mark.slow
def test_more_draws_spread_more(make_model, episodes):
    wide = make_model("posterior_scale=1.0")
    times = ForecastTimes(wide, episodes)
    first = next(forecasts(wide, episodes, times, SEED))
    assert spread(first[1]) < spread(first[5]) < spread(first[20]) * 1.05


def test_what_comes_after_the_start_is_not_seen(model, episodes, found):
    times, (first, _) = found
    hidden = episodes[0]["observation"].copy()
    hidden[times.starts[0] + 1 :] = 100.0
    changed = [episodes[0] | {"observation": hidden}, episodes[1]]
    again = next(forecasts(model, changed, times, SEED))
    np.testing.assert_allclose(again[0][..., 0, :], first[0][..., 0, :], atol=1e-5)
    assert not np.allclose(again[0][..., -1, :], first[0][..., -1, :], atol=1e-3)


def test_certain_weights_make_one_kind_of_forecast(make_model, episodes):
    model = make_model("transition=deterministic")
    times = ForecastTimes(model, episodes)
    assert list(next(forecasts(model, episodes, times, SEED))) == [0]


def test_short_episodes_are_refused(model, episodes):
    short = [{key: value[:6] for key, value in episodes[0].items()}]
    with pytest.raises(ValueError, match="at least 7 rows for forecasts, got 6"):
        ForecastTimes(model, short)


@pytest.mark.slow
def test_forecasts_and_truths_are_in_the_units_of_the_task(make_model, episodes):
    model = make_model()
    far = [e | {"observation": 500.0 + 3.0 * e["observation"]} for e in episodes]
    for episode in far:
        model.see(episode)
    times = ForecastTimes(model, far)
    (truth, _), (first, _) = (
        times.truths(model, far, SEED),
        forecasts(model, far, times, SEED),
    )
    start = times.starts[0]
    np.testing.assert_array_equal(truth[0, 0], far[0]["observation"][start + 1])
    for mixtures in first.values():
        assert np.abs(mixtures - 500.0).max() < 3.0 * 30
        assert np.std(mixtures) > 0.1

"""Tests of benchmarks.learning.noticing.forecasts."""

import numpy as np
import pytest
import tensorflow as tf

from agents.system.seeds import fold, normal
from bayes_rl.weights import hold
from benchmarks.learning.noticing import forecasts

SEED = tf.constant([0, 1])


def test_certain_weights_foresee_the_same_by_draws_as_by_their_means(make_agent, episode):
    returns = forecasts.imagine_returns(make_agent("deterministic")[1], [episode] * 3, SEED)
    assert returns["draws"].shape == (forecasts.IMAGINED, 3)
    np.testing.assert_allclose(returns["draws"], returns["mean weights"], atol=1e-4)
    assert np.ptp(returns["draws"]) > 0  # noise of the latents


def test_uncertain_weights_foresee_other_returns(make_agent, episode):
    returns = forecasts.imagine_returns(
        make_agent("reparameterization")[1], [episode], SEED
    )
    assert np.abs(returns["draws"] - returns["mean weights"]).max() > 1e-4


def test_a_forecast_of_one_step_is_the_reward_after_the_policy_acts(make_agent, episode):
    agent = make_agent("deterministic")[1]
    short = {name: rows[:2] for name, rows in episode.items()}
    found = forecasts.imagine_returns(agent, [short], SEED)["mean weights"][:, 0]
    first = {name: rows[:1] for name, rows in episode.items()}
    still = tf.zeros([1, 1, agent.model.rssm.latent_size])
    seen = forecasts.encode(agent.model, [first], fold(SEED, 0))
    start = seen._replace(noise=still).latents(agent.model, agent.model.central_weights())
    start = tf.nest.map_structure(lambda x: x[:, 0], start)
    noise = normal([1, forecasts.IMAGINED, 1, still.shape[-1]], fold(SEED, 1))
    action = agent.value.act(start.features)
    for number in (0, 1, forecasts.IMAGINED - 1):
        after = agent.model.rssm.imagine_step(start, action, noise[0, number])
        reward = float(agent.model.reward(after.features)[0])
        assert found[number] == pytest.approx(reward, rel=1e-4, abs=1e-6)


def test_each_draw_acts_by_itself_in_all_episodes(make_agent, episode):
    """Draw s, with its noise, gives row s; episodes differ in their first observation."""
    agent = make_agent("reparameterization")[1]
    other = episode | {"observation": episode["observation"] + 1.0}
    both = forecasts.imagine_returns(agent, [episode, other], SEED)["draws"]
    seen = forecasts.encode(agent.model, [_first(episode), _first(other)], fold(SEED, 0))
    still = tf.zeros_like(seen.noise)
    start = seen._replace(noise=still).latents(agent.model, agent.model.central_weights())
    start = tf.nest.map_structure(lambda x: x[:, 0][tf.newaxis], start)
    size = agent.model.rssm.latent_size
    noise = normal([5, forecasts.IMAGINED, 2, size], fold(SEED, 1))
    drawn = agent.model.draw_weights(forecasts.IMAGINED, fold(SEED, 2))
    for number in (0, 7):
        one = {name: w[number : number + 1] for name, w in drawn.items()}
        latent, total = start, 0.0
        with hold(agent.model, one):
            for step in noise[:, number : number + 1]:
                action = agent.value.act(latent.features)
                latent = agent.model.rssm.imagine_step(latent, action, step)
                total += agent.model.reward(latent.features)
        np.testing.assert_allclose(both[number], total[0], rtol=1e-3, atol=1e-5)


def test_a_forecast_is_as_long_as_the_longest_episode(make_agent, episode):
    agent = make_agent("deterministic")[1]
    short = {name: rows[:3] for name, rows in episode.items()}
    both = forecasts.imagine_returns(agent, [short, episode], SEED)["draws"]
    np.testing.assert_allclose(both.mean(0)[0], both.mean(0)[1], rtol=0.2)


def _first(episode):
    return {name: rows[:1] for name, rows in episode.items()}


def test_an_interval_pays_for_what_it_misses():
    imagined = np.linspace(0.0, 10.0, 11)[:, np.newaxis]
    for came, score in ((5.0, 8.0), (9.0, 8.0), (10.0, 18.0), (0.0, 18.0)):
        found = forecasts.forecast(imagined, np.array([came]))
        assert found["interval_score"] == pytest.approx(score)
        assert found["covered"] == (score == 8.0)
        assert (found["forecast"], found["came"]) == (5.0, came)

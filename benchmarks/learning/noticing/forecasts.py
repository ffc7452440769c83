"""What a run foresees of its return, beside what came.

The forecast is what the run's policy gets in the model from an episode's first observation
on. It is 80 % sure of the interval between two quantiles of imagined returns.
"""

import numpy as np
import tensorflow as tf

from agents.episodes.layout import seen_keys
from agents.study.insight.latents import encode
from agents.system.seeds import fold, normal
from bayes_rl.weights import hold
from benchmarks.learning.noticing.surprises import as_one_draw

SURE = 0.8  # share of returns that an interval is to cover
IMAGINED = 100  # returns of a forecast


def imagine_returns(agent, episodes, seed):
    """Returns that the policy gets in the model, [IMAGINED, N] of N episodes.

    They are over the steps of the episodes, from the first observation of each, and of two
    kinds: "draws" of weights and noise, and "mean weights", of the noise alone.
    """
    model, steps = agent.model, max(len(each["reward"]) for each in episodes) - 1
    keys = (*seen_keys(episodes[0]), "action", "reward", "is_first")
    first = [{key: each[key][:1] for key in keys} for each in episodes]
    seen = encode(model, first, fold(seed, 0))._replace(
        noise=tf.zeros([len(episodes), 1, model.rssm.latent_size])
    )
    start = seen.latents(model, model.central_weights())
    start = tf.nest.map_structure(
        lambda x: tf.repeat(x[:, 0][tf.newaxis], IMAGINED, 0), start
    )
    noise = normal([steps, *start.sample.shape], fold(seed, 1))
    drawn = model.draw_weights(IMAGINED, fold(seed, 2))
    flat = tf.nest.map_structure(lambda x: tf.reshape(x, [1, -1, x.shape[-1]]), start)
    flat_noise = tf.reshape(noise, [steps, 1, -1, noise.shape[-1]])
    alone = _act_in_model(agent, flat, flat_noise, as_one_draw(model.central_weights()))
    return {
        "draws": _act_in_model(agent, start, noise, drawn).numpy(),
        "mean weights": tf.reshape(alone, noise.shape[1:3]).numpy(),
    }


@tf.function(autograph=False)
def _act_in_model(agent, latent, noise, weights):
    """Sums of rewards, [S, N] of latents [S, N, ...], of the policy under S draws."""
    model = agent.model

    def step(state, noise):
        latent, reached, total = state
        latent = model.rssm.imagine_step(latent, agent.value.act(latent.features), noise)
        total += reached * model.reward(latent.features)
        return latent, reached * model.continuation(latent.features), total

    with hold(model, weights):
        start = latent, tf.ones(noise.shape[1:3]), tf.zeros(noise.shape[1:3])
        return tf.foldl(step, noise, start)[2]


def forecast(imagined, came):
    """How an interval of imagined returns, [S, N], fits those that came, [N], in the mean.

    Over the N episodes: the share that is `covered`, the `width`, the mean returns, and the
    interval score, of which less is better:

        width + 2 / (1 - SURE) * distance of what came from the interval

    Source: Gneiting and Raftery, 2007, Strictly Proper Scoring Rules, Prediction, and
    Estimation, equation 43.

    Example:
        >>> imagined = np.arange(11.0)[:, np.newaxis]  # 80 % are from 1 to 9
        >>> found = forecast(np.tile(imagined, 2), np.array([2.0, 9.5]))
        >>> print(found["covered"], found["width"], found["interval_score"].round(2))
        0.5 8.0 10.5
    """
    low, high = np.quantile(imagined, [(1 - SURE) / 2, (1 + SURE) / 2], axis=0)
    outside = np.maximum(0.0, np.maximum(low - came, came - high))
    return {
        "covered": np.mean((low <= came) & (came <= high)),
        "width": np.mean(high - low),
        "interval_score": np.mean(high - low + 2.0 / (1.0 - SURE) * outside),
        "forecast": np.mean(imagined),
        "came": np.mean(came),
    }

"""Forecasts of observations: mixtures over weight draws and latents."""

import functools

import numpy as np
import tensorflow as tf

from agents.planet.model.networks import is_image
from agents.planet.model.rssm import Latent
from agents.study.insight.latents import CONTEXT, encode, imagine_latents
from agents.system.errors import UserError
from agents.system.seeds import fold, normal
from bayes_rl.weights import posteriors

SIZES = (1, 5, 20)  # weight draws of a mixture; each divides the largest and K
MOST_STEPS = 50  # agent steps
_STARTS = 5  # in each episode
_COMPONENTS = 100  # of each mixture; a few for pictures
_PICTURES = {"starts": 1, "components": 20, "steps": (1, 2, 5, 10, 20, 50)}


def most_steps_ahead(episodes):
    """Agent steps ahead that are judged, as far as the shortest episode lets one.

    Example:
        >>> most_steps_ahead([{"reward": np.zeros(rows)} for rows in (15, 9)])
        2
    """
    rows = min(len(episode["reward"]) for episode in episodes)
    return min(MOST_STEPS, (rows - CONTEXT) // 2)


def long_enough(episodes, ahead=1):
    """The episodes that are long enough for forecasts of so many agent steps ahead."""
    return [each for each in episodes if most_steps_ahead([each]) >= ahead]


class ForecastTimes:
    """Which rows of held-out episodes are forecast, and from which.

    Forecasts start from the latents of the rows `starts`, up to which all were seen, and
    are judged `steps` agent steps ahead. A `UserError`: the episodes are too short.
    """

    def __init__(self, model, episodes):
        rows = min(len(episode["reward"]) for episode in episodes)
        ahead = most_steps_ahead(episodes)
        if ahead < 1:
            raise UserError(
                f"episodes need at least {CONTEXT + 2} rows for forecasts, got {rows}"
            )
        pictures = is_image(model.observation_spec)
        count = _PICTURES["starts"] if pictures else _STARTS
        steps = _PICTURES["steps"] if pictures else range(1, ahead + 1)
        self.steps = np.array([step for step in steps if step <= ahead])
        last = rows - 1 - ahead
        self.starts = np.unique(np.linspace(CONTEXT - 1, last, count).astype(int))

    def truths(self, model, episodes, seed):
        """What comes, for each episode: [steps, starts, *observation], see `observed`."""
        rows = self.starts + self.steps[:, np.newaxis]
        truths = []
        for number, episode in enumerate(episodes):
            observed = episode["observation"][rows.ravel()]
            seen = model.observed(observed, fold(seed, number)).numpy()
            truths.append(seen.reshape(*rows.shape, *seen.shape[1:]))
        return truths


def count_components(model):
    """K, of each mixture."""
    return _PICTURES["components"] if is_image(model.observation_spec) else _COMPONENTS


def forecasts(model, episodes, times, seed):
    """Decoded means of the components of every mixture, one episode after another.

    The filter sees all rows up to the start, under the central weights. From there each
    component draws the latent at the start, then one at each step, and keeps to one
    function: that of the central weights, or of a draw. Each episode has draws of its own,
    so that no chance of a few draws counts for all, and no two components of a mixture
    begin with the same noise. All have equally many components, K, so that none scores
    better for being finer:

        central weights  K latents
        S draws          K / S latents for each draw; as many mixtures as the draws make,
                         of which each is judged

    Yields for each episode a dict from S (0: the central weights) to an array
    [mixtures, K, steps, starts, *observation].
    """
    count = count_components(model)
    for imagine, draw in _imaginations(model, episodes, times, seed, count):
        found = {0: imagine(1, model.central_weights())}
        if posteriors(model):
            each = imagine(max(SIZES), draw())
            found |= {size: _mix(each, size) for size in SIZES}
        yield found


def broadest(model, episodes, times, seed):
    """As `forecasts`, one mixture alone: of as many draws as there are, at a small cost.

    Yields for each episode S, the draws of the mixture, 0 where the weights are certain,
    and an array [K, steps, starts, *observation], of which each draw has K / S in a row.
    """
    count, is_uncertain = count_components(model), bool(posteriors(model))
    size = max(SIZES) if is_uncertain else 1
    for imagine, draw in _imaginations(model, episodes, times, seed, count // size):
        each = imagine(size, draw() if is_uncertain else model.central_weights())
        yield size if is_uncertain else 0, each.reshape(count, *each.shape[2:])


def _imaginations(model, episodes, times, seed, components):
    """For each episode `_imagine` of functions and weights, and what draws weights."""
    encoded = encode(model, episodes, fold(seed, 0))
    latents = encoded.latents(model, model.central_weights())
    for number, episode in enumerate(episodes):
        own = fold(fold(seed, 2), number)
        start = Latent(*(tf.gather(state[number], times.starts) for state in latents))
        rows = times.starts + 1 + np.arange(times.steps[-1])[:, np.newaxis]
        action = tf.repeat(tf.constant(episode["action"][rows]), components, axis=1)
        yield (
            functools.partial(_imagine, model, times, start, action, own, components),
            functools.partial(model.draw_weights, max(SIZES), fold(own, 2)),
        )


def _imagine(model, times, start, action, seed, components, functions, weights):
    """Decoded rollouts of an episode, each component with noise of its own.

    They are [functions, K, steps, starts, *observation].
    """
    ahead, count = action.shape[0], action.shape[1]
    size = model.rssm.latent_size
    first = normal([functions, count, size], fold(seed, 0))
    start = Latent(*(tf.repeat(state, components, axis=0) for state in start))
    start = Latent(*(tf.repeat(state[tf.newaxis], functions, axis=0) for state in start))
    start = start._replace(sample=start.mean + start.stddev * first)
    noise = normal([ahead, functions, count, size], fold(seed, 1))
    imagined = imagine_latents(model, start, action, noise, weights)
    features = tf.gather(imagined.features, times.steps - 1)
    decoded = model.expected_observation(features).numpy()
    shape = (len(times.steps), functions, len(times.starts), components)
    decoded = decoded.reshape(*shape, *decoded.shape[3:])
    return np.moveaxis(decoded, [1, 3, 0, 2], [0, 1, 2, 3])


def _mix(each, size):
    """Puts draws [S, K, ...] together in mixtures of `size`: [S / size, K, ...]."""
    count = each.shape[1]  # of a mixture: each draw gives a share
    return each[:, : count // size].reshape(-1, count, *each.shape[2:])

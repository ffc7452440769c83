"""What a strategy and a source of uncertainty must be and give.

Both are what researchers write themselves, so both are tried once, on small numbers, before
a run begins: what they give in place of what they should is said in one line.
"""

import inspect
import numbers

import numpy as np
import tensorflow as tf

from agents.planet.explore.strategy import REDRAWS, Elapsed, Strategy
from agents.planet.model.rssm import LAST_LAYER
from agents.planet.model.transitions import DETERMINISTIC
from agents.planet.model.transitions.source import Source
from agents.planet.planning.imagination import TRAJECTORIES
from agents.planet.planning.rollouts import Rollout
from agents.system.errors import UserError
from agents.system.settings import check_choice, check_settings
from bayes_rl.weights import posteriors

# Sizes of what is tried, no two alike, so that no axis passes for another.
_ENVIRONMENTS, _PLANS, _STEPS, _LATENT_SIZE = 2, 3, 4, 5
_INPUTS, _UNITS = 3, 61  # enough units that a rare dropout is seen in some draw
_DRAWS = 64  # of which members of a small ensemble come in another order for another seed
_SEEDS = ([0, 1], [0, 2])


def check_strategy(strategy):
    """Refuses a strategy that no policy can plan by.

    It is a `Strategy` whose fields check themselves, its attributes are among those that
    there are, and its scores of a few plans are one finite number for each.
    """
    name = _name(strategy)
    if not isinstance(strategy, Strategy):
        raise UserError(f"{name} must be a subclass of agents.planet.explore.Strategy")
    check_settings(type(strategy), name)
    for each, known in (("redraw", REDRAWS), ("trajectories", TRAJECTORIES)):
        check_choice(getattr(strategy, each), f"{each} of {name}", known)
    if strategy.trajectories != "mean" and not strategy.draws:
        raise UserError(
            f"{name} must have draws of at least 1 or trajectories 'mean', got "
            f"draws={strategy.draws} and trajectories={strategy.trajectories!r}"
        )
    _check_signature(strategy, name)
    scores = strategy(_a_rollout(strategy), _start(strategy))
    plans = _PLANS * strategy.groups
    scores = one_for_each_plan(scores, strategy, [_ENVIRONMENTS, plans])
    if not np.isfinite(scores).all():
        raise UserError(
            f"{name} must return finite scores, got {scores[0].numpy().tolist()} for plans "
            "with rewards from 0 to 1"
        )


def check_draws(strategy, model):
    """Refuses a strategy that wants draws of weights which are certain."""
    if strategy.draws and not posteriors(model):
        raise UserError(
            f"{_name(strategy)} needs draws of the weights, but the transition has none: "
            "transition must not be deterministic"
        )


def one_for_each_plan(scores, strategy, shape):
    """The scores that a strategy gave, unless their shape is not B and N."""
    given = getattr(scores, "shape", scores)
    if not isinstance(scores, tf.Tensor) or given != shape:
        raise UserError(
            f"{_name(strategy)} must give [B, N] scores, one for each plan, here "
            f"{list(shape)}, got {given}"
        )
    return scores


def check_source(source, name, sequences):
    """Refuses a source of uncertainty that no model can learn by.

    It is a `Source` which gives the layers, weights and costs that it says, of a batch of
    so many sequences too; a weight is uncertain, unless its name is "deterministic".
    """
    name = f"transition={name}"
    if not isinstance(source, Source):
        raise UserError(
            f"{name} must be a subclass of agents.planet.model.transitions.source.Source, "
            f"got {_a(source)}"
        )
    model = tf.Module()
    model.layers = [
        _layer(source, name, _INPUTS, _UNITS, "relu", "transition_hidden"),
        _layer(source, name, _UNITS, 2, None, LAST_LAYER),
    ]
    if not posteriors(model):
        if name != f"transition={DETERMINISTIC}":
            raise UserError(
                f"{name}: a weight must be uncertain, got none; use a layer of bayes_rl "
                f"with a trainable initializer, or transition={DETERMINISTIC}"
            )
        return
    central = _weights(source.central(model), f"{name}: central")
    shapes = {weight: value.shape for weight, value in central.items()}
    _check_drawing(source, model, name, shapes)
    _check_training(source, model, name, shapes, source.copies * sequences)
    _check_costs(source.costs(model), name)


def _name(strategy):
    return f"explore strategy {type(strategy).__name__}"


def _a(value):
    return f"{type(value).__name__} {value!r}"[:80]


def _check_signature(strategy, name):
    try:
        inspect.signature(strategy).bind(None, None)
    except TypeError:
        given = inspect.signature(strategy)
        raise UserError(
            f"{name} must be callable with (rollout, elapsed), got the signature {given}"
        ) from None


def _a_rollout(strategy):
    """Of a few plans, such as the strategy gets of a model; numbers from 0 to 1."""
    particles = strategy.draws if strategy.trajectories in ("each", "switching") else 1
    draws = strategy.draws if strategy.trajectories == "shared" else particles
    plans = [_ENVIRONMENTS, _PLANS * strategy.groups]

    def numbers_of(*shape):
        return tf.reshape(tf.linspace(0.1, 0.9, int(np.prod(shape))), shape)

    steps = numbers_of(particles, *plans, _STEPS)
    latents = numbers_of(draws, *plans, _STEPS, _LATENT_SIZE)
    value = numbers_of(particles, *plans)
    return Rollout(steps, latents, latents, tf.ones_like(steps), value, value, steps)


def _start(strategy):
    return Elapsed(
        tf.constant(0, tf.int64),
        tf.constant(0, tf.int64) if strategy.counts_rewards else None,
    )


def _layer(source, name, inputs, units, activation, layer_name):
    """A layer of the source, built."""
    layer = source.dense(units, activation, layer_name)
    if not isinstance(layer, tf.keras.layers.Layer):
        raise UserError(f"{name}: dense must return a Keras layer, got {_a(layer)}")
    if layer.name != layer_name:
        raise UserError(
            f"{name}: dense must name its layer {layer_name!r}, got {layer.name!r}"
        )
    outputs = layer(tf.zeros([1, inputs]))
    if outputs.shape[-1] != units:
        raise UserError(
            f"{name}: dense must return a layer of {units} units as asked, "
            f"got {outputs.shape[-1]}"
        )
    return layer


def _weights(given, what):
    if not isinstance(given, dict):
        raise UserError(f"{what} must return a dict from names to weights, got {_a(given)}")
    return {weight: tf.convert_to_tensor(value) for weight, value in given.items()}


def _check_shapes(weights, shapes, leading, what):
    for weight, value in weights.items():
        expected = [*leading, *shapes.get(weight, value.shape[len(leading) :])]
        if value.shape != expected:
            raise UserError(
                f"{what} must return {weight!r} with shape {expected}, got {value.shape}"
            )


def _check_drawing(source, model, name, shapes):
    what = f"{name}: draw"
    draws = [_weights(source.draw(model, _DRAWS, seed), what) for seed in _SEEDS]
    for drawn in draws:
        _check_shapes(drawn, shapes, [_DRAWS], f"{what} of {_DRAWS} draws")
    one, other = draws
    if all(bool(tf.reduce_all(value == value[:1])) for value in one.values()):
        raise UserError(
            f"{what} must return different weights for each draw, got {_DRAWS} equal draws"
        )
    if all(bool(tf.reduce_all(value == other[weight])) for weight, value in one.items()):
        raise UserError(
            f"{what} must return different weights for different seeds, got the same for "
            f"{_SEEDS[0]} and {_SEEDS[1]}"
        )


def _check_training(source, model, name, shapes, sequences):
    what = f"{name}: draw_for_training"
    given = source.draw_for_training(model, sequences, tf.constant(_SEEDS[0]))
    if not isinstance(given, tuple) or len(given) != 2:
        raise UserError(f"{what} must return (weights, number of draws), got {_a(given)}")
    weights, count = given
    if not isinstance(count, numbers.Integral) or (count and sequences % count):
        raise UserError(
            f"{what} must return 0 draws or a number that divides {sequences} sequences, "
            f"got {_a(count)}"
        )
    leading = [count] if count else []
    _check_shapes(_weights(weights, what), shapes, leading, f"{what} of {count} draws")


def _check_costs(costs, name):
    what = f"{name}: costs"
    for weight, cost in _weights(costs, what).items():
        if cost.shape.rank:
            raise UserError(
                f"{what} must return one number for {weight!r}, got the shape {cost.shape}"
            )

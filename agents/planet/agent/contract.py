"""Checks of a strategy and of a source of uncertainty.

Researchers write these two themselves. Both are therefore tried once, on small tensors,
before a run begins. A mistake gives an error of one line.
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
    """Raises an error for a strategy that a policy cannot plan with.

    A strategy must be a `Strategy` whose fields check their ranges. Its attributes must
    have known values. It must give one finite score for each of a few plans.
    """
    name = _name(strategy)
    if not isinstance(strategy, Strategy):
        raise UserError(f"{name} must be a subclass of agents.planet.explore.Strategy")
    check_settings(type(strategy), name)
    for each, known in (("redraw", REDRAWS), ("trajectories", TRAJECTORIES)):
        check_choice(getattr(strategy, each), f"{each} of {name}", known)
    draws, trajectories = strategy.draws, strategy.trajectories
    if trajectories != "mean" and not draws:
        given = f"draws={draws} and trajectories={trajectories!r}"
        _refuse(name, "have draws of at least 1 or trajectories 'mean'", given)
    try:
        inspect.signature(strategy).bind(None, None)
    except TypeError:
        given = f"the signature {inspect.signature(strategy)}"
        _refuse(name, "be callable with (rollout, elapsed)", given)
    scores = strategy(_a_rollout(strategy), _start(strategy))
    plans = _PLANS * strategy.groups
    scores = one_for_each_plan(scores, strategy, [_ENVIRONMENTS, plans])
    if not np.isfinite(scores).all():
        given = f"{scores[0].numpy().tolist()} for plans with rewards from 0 to 1"
        _refuse(name, "return finite scores", given)


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
        right = f"give [B, N] scores, one for each plan, here {list(shape)}"
        _refuse(_name(strategy), right, given)
    return scores


def check_source(source, name, sequences):
    """Raises an error for a source of uncertainty that a model cannot learn with.

    It must give the layers, weights and costs that `Source` describes, also for a batch of
    so many sequences. A weight must be uncertain, unless its name is "deterministic".
    """
    is_certain, name = name == DETERMINISTIC, f"transition={name}"
    if not isinstance(source, Source):
        right = "be a subclass of agents.planet.model.transitions.source.Source"
        _refuse(name, right, _a(source))
    model = tf.Module()
    model.layers = [
        _layer(source, f"{name}: dense", _INPUTS, _UNITS, "relu", "transition_hidden"),
        _layer(source, f"{name}: dense", _UNITS, 2, None, LAST_LAYER),
    ]
    if not posteriors(model):
        if not is_certain:
            raise UserError(
                f"{name}: a weight must be uncertain, got none; use a layer of bayes_rl "
                f"with a trainable initializer, or transition={DETERMINISTIC}"
            )
        return
    central = _weights(source.central(model), f"{name}: central")
    shapes = {weight: value.shape for weight, value in central.items()}
    _check_drawing(source, model, f"{name}: draw", shapes)
    _check_training(
        source, model, f"{name}: draw_for_training", shapes, source.copies * sequences
    )
    for weight, cost in _weights(source.costs(model), f"{name}: costs").items():
        if cost.shape.rank:
            given = f"the shape {cost.shape}"
            _refuse(f"{name}: costs", f"return one number for {weight!r}", given)


def _refuse(what, right, given):
    raise UserError(f"{what} must {right}, got {given}")


def _name(strategy):
    return f"explore strategy {type(strategy).__name__}"


def _a(value):
    return f"{type(value).__name__} {value!r}"[:80]


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
    nothing = tf.constant(0, tf.int64)
    return Elapsed(nothing, nothing if strategy.counts_rewards else None)


def _layer(source, what, inputs, units, activation, layer_name):
    """A layer of the source, built."""
    layer = source.dense(units, activation, layer_name)
    if not isinstance(layer, tf.keras.layers.Layer):
        _refuse(what, "return a Keras layer", _a(layer))
    if layer.name != layer_name:
        _refuse(what, f"name its layer {layer_name!r}", repr(layer.name))
    found = layer(tf.zeros([1, inputs])).shape[-1]
    if found != units:
        _refuse(what, f"return a layer of {units} units as asked", found)
    return layer


def _weights(given, what):
    if not isinstance(given, dict):
        _refuse(what, "return a dict from names to weights", _a(given))
    return {weight: tf.convert_to_tensor(value) for weight, value in given.items()}


def _check_shapes(weights, shapes, leading, what):
    for weight, value in weights.items():
        expected = [*leading, *shapes.get(weight, value.shape[len(leading) :])]
        if value.shape != expected:
            _refuse(what, f"return {weight!r} with shape {expected}", value.shape)


def _check_drawing(source, model, what, shapes):
    draws = [_weights(source.draw(model, _DRAWS, seed), what) for seed in _SEEDS]
    for drawn in draws:
        _check_shapes(drawn, shapes, [_DRAWS], f"{what} of {_DRAWS} draws")
    one, other = draws
    if all(bool(tf.reduce_all(value == value[:1])) for value in one.values()):
        _refuse(what, "return different weights for each draw", f"{_DRAWS} equal draws")
    if all(bool(tf.reduce_all(value == other[weight])) for weight, value in one.items()):
        given = f"the same for {_SEEDS[0]} and {_SEEDS[1]}"
        _refuse(what, "return different weights for different seeds", given)


def _check_training(source, model, what, shapes, sequences):
    given = source.draw_for_training(model, sequences, tf.constant(_SEEDS[0]))
    if not isinstance(given, tuple) or len(given) != 2:
        _refuse(what, "return (weights, number of draws)", _a(given))
    weights, count = given
    if not isinstance(count, numbers.Integral) or (count and sequences % count):
        right = f"return 0 draws or a number that divides {sequences} sequences"
        _refuse(what, right, _a(count))
    leading = [count] if count else []
    _check_shapes(_weights(weights, what), shapes, leading, f"{what} of {count} draws")

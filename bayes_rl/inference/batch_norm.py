"""Statistics of batch normalization under draws of the other weights."""

import contextlib

import numpy as np
import tensorflow as tf

from bayes_rl.weights import hold, named_variables
from bayes_rl.weights.naming import modules_of


def layers_of(model):
    """Layers of batch normalization, a list."""
    kind = tf.keras.layers.BatchNormalization
    return [x for x in modules_of(model) if isinstance(x, kind)]


def with_statistics(model, draws, batches):
    """Draws, dict of name -> [S, ...], with the moving means and variances under each.

    They are means over batches of training data of those that layers compute in training;
    the model keeps its own.

    Source: Maddox et al., 2019, A Simple Baseline for Bayesian Uncertainty in Deep
    Learning, section 3.3; Izmailov et al., 2018, Averaging Weights Leads to Wider Optima
    and Better Generalization, section 3.2.
    """
    layers = layers_of(model)
    own = {id(x) for each in layers for x in each.non_trainable_variables}
    named = {k: x for k, x in named_variables(model).items() if id(x) in own}
    named = {k: x for k, x in named.items() if k not in draws}
    if not named:
        return draws
    count = len(next(iter(draws.values())))
    found = {name: [] for name in named}
    with _renewed_by_each_batch(layers, named):
        after = _make_step(model, named)
        for s in range(count):
            one = {name: tf.convert_to_tensor(x)[s] for name, x in draws.items()}
            for name, value in _mean_over(batches, after, one).items():
                found[name].append(value)
    statistics = {name: tf.constant(np.stack(x)) for name, x in found.items()}
    return draws | statistics


def _make_step(model, named):
    @tf.function(autograph=False)
    def step(weights, inputs):
        with hold(model, weights):
            model(inputs, training=True)
        return {name: tf.convert_to_tensor(x) for name, x in named.items()}

    return step


def _mean_over(batches, step, weights):
    total, examples = {}, 0
    for batch in batches:
        inputs, _, _ = tf.keras.utils.unpack_x_y_sample_weight(batch)
        count = int(tf.nest.flatten(inputs)[0].shape[0])
        examples += count
        for name, value in step(weights, inputs).items():
            total[name] = total.get(name, 0.0) + count * value.numpy()
    return {name: value / examples for name, value in total.items()}


@contextlib.contextmanager
def _renewed_by_each_batch(layers, named):
    momenta = [layer.momentum for layer in layers]
    values = [tf.identity(x) for x in named.values()]
    for layer in layers:
        layer.momentum = 0.0
    try:
        yield
    finally:
        for layer, momentum in zip(layers, momenta, strict=True):
            layer.momentum = momentum
        for variable, value in zip(named.values(), values, strict=True):
            variable.assign(value)

"""Which layers and models of Keras can be given an axis of S draws."""

import tensorflow as tf

from bayes_rl.compatibility import versions

_keras = tf.keras.layers
_ELEMENTWISE = (
    _keras.InputLayer,
    _keras.Dense,
    _keras.Activation,
    _keras.ReLU,
    _keras.LeakyReLU,
    _keras.ELU,
    _keras.ThresholdedReLU,
    _keras.Dropout,
    _keras.GaussianNoise,
    _keras.GaussianDropout,
    _keras.Add,
    _keras.Subtract,
    _keras.Multiply,
    _keras.Average,
    _keras.Maximum,
    _keras.Minimum,
)


def check_axis_of_draws(model, draws):
    """Raises a ValueError where a layer of Keras takes an axis of S draws for another one.

    Layers that are not of Keras, and the models of subclasses, may do with it what they say
    themselves.
    """
    for root in model if isinstance(model, (list, tuple)) else [model]:
        for layer in _parts_of(root):
            if type(layer) not in _ELEMENTWISE:
                raise ValueError(
                    f"layer {layer.name!r} ({type(layer).__name__}) cannot take an axis of "
                    f"{draws} draws; call ed.predict(model, inputs, draws), or hold one "
                    "draw after the other"
                )


def _parts_of(layer):
    """Layers of Keras that the outputs pass through."""
    if isinstance(layer, tf.keras.Sequential) or getattr(layer, "_is_graph_network", False):
        for part in layer.layers:
            yield from _parts_of(part)
    elif type(layer).__module__.startswith(f"{versions.KERAS}."):
        yield layer


def check_inputs_are_whole():
    """Checks, in a call of a layer, that Keras took no axis from inputs with one of draws.

    Its models do with a last axis of size 1, before their layers see it.

    Raises:
        ValueError: the model in whose call this is did.
    """
    context = versions.call_context()
    model, inputs = context.layer, context.inputs
    if not getattr(model, "_is_graph_network", False):
        return
    for given, known in zip(tf.nest.flatten(inputs), model.inputs, strict=False):
        if given.shape[:-1].rank == known.shape.rank and given.shape[-1] == 1:
            raise ValueError(
                f"model {model.name!r} takes inputs {known.shape}, got {given.shape} with "
                "an axis of draws, of which Keras would drop the last axis; hold one draw "
                "after the other"
            )

"""Templates: layers that are never called, of which configurations of others are made.

Keras' Bidirectional runs two layers made of a third one, and its configuration is that of
the third.
"""

import tensorflow as tf

from bayes_rl.weights.naming import modules_of


def with_templates(model):
    """Modules of a model, and those that only the configurations of others are made of."""
    for module in modules_of(model):
        yield module
        if isinstance(module, tf.keras.layers.Bidirectional):
            yield from modules_of(module.layer)


def renew_templates(model):
    """Lets configurations have the regularizers that the layers of a model have now."""
    for module in modules_of(model):
        if isinstance(module, tf.keras.layers.Bidirectional):
            templates = {layer.name: layer for layer in _with_posteriors(module.layer)}
            for layer in _with_posteriors(module.forward_layer):
                if layer.name in templates:
                    renew_regularizers(templates[layer.name], layer)
        if hasattr(module, "renew_regularizers"):
            module.renew_regularizers()
    renew_backward_layers(model)


def _with_posteriors(layer):
    return [m for m in modules_of(layer) if hasattr(m, "stochastic_weights")]


def renew_regularizers(template, layer, prefix=""):
    """Gives a template the regularizers of a layer, <prefix><name>, without variables."""
    for name, value in list(vars(layer).items()):
        if name.endswith("_regularizer") and hasattr(template, prefix + name):
            unbuilt = getattr(value, "unbuilt", lambda value=value: value)
            setattr(template, prefix + name, unbuilt())


def renew_backward_layers(model):
    """Lets configurations have backward layers as they are now.

    Keras keeps that configuration from the start where the layer was given by itself.
    """
    for module in modules_of(model):
        if (kept := vars(module).get("_backward_layer_config")) is not None:
            config = tf.keras.saving.serialize_keras_object(module.backward_layer)
            config["config"]["name"] = kept["config"]["name"]
            module._backward_layer_config = config

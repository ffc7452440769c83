"""Stochastic weights of a model, by name."""

import tensorflow as tf


def stochastic_layers(model):
    """Layers with stochastic weights, each once, in a fixed order."""
    roots = model if isinstance(model, (list, tuple)) else [model]
    found = [m for m in modules_of(model) if hasattr(m, "stochastic_weights")]
    # A model may be used by other methods than its call, and is then never built itself.
    if not found or not all(module.built for module in found):
        for module in (*roots, *found):
            if not getattr(module, "built", True):
                raise ValueError(
                    f"{module.name!r} must be built first: call it once on its inputs"
                )
    return {id(m): m for m in found if m.stochastic_weights}.values()


def modules_of(model):
    """Every module inside of a model, at least once, in a fixed order."""
    for root in model if isinstance(model, (list, tuple)) else [model]:
        if not isinstance(root, tf.Module):
            raise TypeError(
                "model must be a tf.Module, Keras layer or model, or a list of them; "
                f"got {type(root).__name__}"
            )
        yield from (*_in_order_of_calls(root), root, *root.submodules)


def _in_order_of_calls(root):
    """Keras layers as the model lists them; `submodules` goes by names of attributes."""
    return root._flatten_layers() if isinstance(root, tf.keras.layers.Layer) else ()


def named_weights(model):
    """Every stochastic weight with its layer.

    Args:
        model: as in `sample_weights`.

    Returns:
        Dict of full name -> (layer, `StochasticWeight`).

    Raises:
        ValueError: two weights have the same name, or the model is not built.

    Example:
        >>> import bayes_rl as ed
        >>> layer = ed.layers.DenseReparameterization(4, name="dense")
        >>> layer.build([None, 3])
        >>> named_weights(layer)["dense/kernel"][1].shape
        (3, 4)
    """
    named = {}
    for layer in stochastic_layers(model):
        for weight in layer.stochastic_weights.values():
            if weight.name in named:
                raise ValueError(
                    f"two layers have a weight named {weight.name!r}; give each layer of "
                    "the model a name of its own"
                )
            named[weight.name] = layer, weight
    return named


@tf.autograph.experimental.do_not_convert
def named_signs(model):
    """Every tensor of signs that gives each example a draw of its own.

    `sample_weights` draws them for a batch size, with a row for each example; all else that
    it draws is shared by the batch.

    Args:
        model: as in `sample_weights`.

    Returns:
        Dict of full name -> (layer, name within the layer, size of the last axis).

    Example:
        >>> import bayes_rl as ed
        >>> layer = ed.layers.DenseFlipout(4, name="dense")
        >>> layer.build([None, 3])
        >>> {name: size for name, (_, _, size) in named_signs(layer).items()}
        {'dense/kernel/sign_input': 3, 'dense/kernel/sign_output': 4}
    """
    return {
        f"{layer.name}/{key}": (layer, key, size)
        for layer in stochastic_layers(model)
        for key, size in layer.sign_sizes().items()
    }

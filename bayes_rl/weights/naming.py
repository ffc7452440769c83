"""Stochastic weights of a model, by name.

A name is `<layer>/<weight>`. Where several layers have that name, as much of the path
stands before it as tells them apart: `encoder/hidden/kernel`. It depends on names of layers
alone, which Keras keeps when a model is saved and loaded.

Draws by a seed depend on labels, which are names but for those that Keras has counted up.
"""

import collections
import re

import tensorflow as tf

from bayes_rl.compatibility.versions import Functional, check_keras, to_snake_case


def stochastic_layers(model):
    """Layers with stochastic weights, each once, in a fixed order."""
    return [layer for _, layer in _named_layers(model)]


def _named_layers(model):
    """(name, layer) of layers with stochastic weights."""
    found = [(p, m) for p, m in _modules(model) if hasattr(m, "stochastic_weights")]
    # A model may be used by other methods than its call, and is then never built itself.
    if not found or not all(module.built for _, module in found):
        check_built(*_roots(model), *(module for _, module in found))
    return list(_shortest([(p, m) for p, m in found if m.stochastic_weights]))


def check_built(*modules):
    """Raises a ValueError that names the first which is not built."""
    for module in modules:
        if not getattr(module, "built", True):
            raise ValueError(
                f"{module.name!r} must be built first: call it once on its inputs"
            )


def modules_of(model):
    """Every module inside of a model, each once, in a fixed order."""
    return [module for _, module in _modules(model)]


def layers_with_variables(model):
    """(name, list of its own variables) of modules that have such, in a fixed order."""
    found = [(path, module) for path, module in _modules(model) if _own(module)]
    if not found:
        check_built(*_roots(model))
    return [(path, _own(module)) for path, module in _shortest(found)]


def _own(module):
    """Variables of a module that are not those of its parts."""
    if isinstance(module, tf.keras.layers.Layer):
        return [*module._trainable_weights, *module._non_trainable_weights]
    return [x for x in tf.nest.flatten(vars(module)) if isinstance(x, tf.Variable)]


def _roots(model):
    roots = model if isinstance(model, (list, tuple)) else [model]
    for root in roots:
        check_keras(root)
        if not isinstance(root, tf.Module):
            raise TypeError(
                "model must be a tf.Module, Keras layer or model, or a list of them; "
                f"got {type(root).__name__}"
            )
    return roots


def _modules(model):
    found = {}
    for root in _roots(model):
        is_model = isinstance(root, tf.keras.Model)
        _add_modules(found, root, "" if is_model else _joined("", root))
    return found.values()


def _add_modules(found, module, path):
    if id(module) in found:
        return
    found[id(module)] = path, module
    for part in _parts(module):
        _add_modules(found, part, _joined(path, part))


def _joined(path, module):
    """The path of a module; of a part that bears the whole path of the other, that one."""
    if not isinstance(module, tf.keras.layers.Layer):
        return path
    if f"/{path}".endswith(f"/{module.name}"):
        return path
    return f"{path}/{module.name}" if path else module.name


def _parts(module):
    """Modules directly inside of a module: Keras layers in the order of their calls."""
    ignored = module._TF_MODULE_IGNORED_PROPERTIES
    # As `tf.Module._flatten` has it, whose paths take most of its time.
    values = [value for key, value in sorted(vars(module).items()) if key not in ignored]
    parts = [x for x in tf.nest.flatten(values) if isinstance(x, tf.Module)]
    if not isinstance(module, tf.keras.layers.Layer):
        return parts
    others = [part for part in parts if not isinstance(part, tf.keras.layers.Layer)]
    # What Keras does not track, such as the template of a Bidirectional layer, is no part.
    return [*module._flatten_layers(recursive=False, include_self=False), *others]


def _shortest(found):
    """The shortest end of each path that no other path has; of a layer alone, its name."""
    ends = collections.Counter(end for path, _ in found for end in _ends(path))
    for path, layer in found:
        clear = [end for end in _ends(path) if ends[end] == 1]
        longer = [end for end in clear if len(end) >= len(layer.name)]
        yield min(longer, key=len, default=path), layer


def _ends(path):
    parts = path.split("/")
    return ["/".join(parts[start:]) for start in range(len(parts))]


def named_weights(model):
    """Every stochastic weight of a model: full name -> (layer, `StochasticWeight`).

    Raises:
        ValueError: two weights have the same name, or the model is not built.
    """
    named = {}
    for path, layer in _named_layers(model):
        for key, weight in layer.stochastic_weights.items():
            if (name := f"{path}/{key}") in named:
                raise ValueError(
                    f"two layers have a weight named {name!r}; give each layer of the "
                    "model a name of its own"
                )
            named[name] = layer, weight
    return named


def named_signs(model):
    """Every tensor of signs that gives each example a draw of its own.

    `sample_weights` draws them for a batch size, with a row for each example; all else that
    it draws is shared by the batch.

    Returns:
        Dict of full name -> (layer, name within the layer, size of the last axis).
    """
    return {
        f"{path}/{key}": (layer, key, size)
        for path, layer in _named_layers(model)
        for key, size in layer.sign_sizes().items()
    }


def seed_labels(model):
    """What the draw of each weight, and of its signs, depends on beside the seed, by name.

    It is the full name. Names that Keras has made of class and a count of the process, as
    `dense_flipout_7`, are counted anew in the order of the model, so that a model that is
    made twice has the same draws.

    Example:
        >>> import bayes_rl as ed
        >>> layers = [ed.layers.DenseFlipout(3) for _ in range(3)][1:]
        >>> model = tf.keras.Sequential([*layers, ed.layers.DenseFlipout(1, name="last")])
        >>> model.build([None, 3])
        >>> [seed_labels(model)[f"{x.name}/kernel"] for x in model.layers]
        ['dense_flipout/kernel', 'dense_flipout_1/kernel', 'last/kernel']
    """
    counted = _counted_anew(modules_of(model))
    labels = {}
    for path, layer in _named_layers(model):
        label = "/".join(counted.get(part, part) for part in path.split("/"))
        for key in (*layer.stochastic_weights, *layer.sign_sizes()):
            labels[f"{path}/{key}"] = f"{label}/{key}"
    return labels


def _counted_anew(modules):
    """Names of layers that Keras has counted -> names in the order of these modules."""
    found, counts = {}, collections.Counter()
    for layer in modules:
        if not isinstance(layer, tf.keras.layers.Layer) or layer.name in found:
            continue
        is_model = type(layer) is Functional  # which Keras names so
        kind = to_snake_case("Model" if is_model else type(layer).__name__)
        match = re.fullmatch(rf"((?:forward_|backward_)?{kind})(_\d+)?", layer.name)
        if match is None:
            continue
        count = counts[match[1]]
        found[layer.name] = f"{match[1]}_{count}" if count else match[1]
        counts[match[1]] += 1
    return found

"""Find an initializer, regularizer or constraint by name, configuration or object."""

import difflib

import tensorflow as tf


def register(kind):
    """Decorator of classes that Keras saves and loads."""
    if hasattr(kind, "stochastic_weights"):
        # Keras' TimeDistributed asks for the layer inside by its bare name.
        tf.keras.saving.get_custom_objects().setdefault(kind.__name__, kind)
    return tf.keras.saving.register_keras_serializable("bayes_rl")(kind)


def make_get(aliases, keras_module):
    """Makes the `get` of a family of Keras objects.

    Args:
        aliases: name -> class of ours.
        keras_module: `tf.keras.initializers`, `regularizers` or `constraints`, asked for
            names that are not ours.

    Returns:
        A function from a name, configuration, object or None to an object or None.
    """
    names = {**aliases, **{found.__name__: found for found in aliases.values()}}

    def get(identifier, value=None):
        """Object for a name, a configuration or an object; None for None.

        Args:
            identifier: name of a class, also in snake case (a fresh object), configuration,
                object, None or "".
            value: unused; for compatibility.

        Returns:
            The object, or None.

        Raises:
            ValueError: no object has this name.
        """
        del value
        if isinstance(identifier, str):
            return _from_name(identifier, names, keras_module)
        if isinstance(identifier, dict) and _registered_class(identifier):
            return deserialize(identifier)
        if isinstance(identifier, dict) and identifier.get("class_name") in names:
            return names[identifier["class_name"]].from_config(identifier["config"])
        return keras_module.get(identifier)

    return get


def _from_name(name, aliases, keras_module):
    if not name:
        return None
    if name in aliases:
        return aliases[name]()
    try:
        return keras_module.get(name)
    except ValueError:
        nearest = difflib.get_close_matches(name, aliases, n=1)
        hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
        kind = keras_module.__name__.rpartition(".")[2]
        raise ValueError(f"{name!r} is not among the {kind}{hint}") from None


def serialize(initializer):
    """Configuration from which `deserialize` makes an equal object of any kind."""
    return tf.keras.saving.serialize_keras_object(initializer)


def deserialize(config, custom_objects=None):
    """Object from a configuration made by `serialize`."""
    # Keras looks registered classes up by another name while it reads HDF5 files.
    if (found := _registered_class(config)) is not None:
        return found.from_config(config["config"])
    return tf.keras.saving.deserialize_keras_object(config, custom_objects=custom_objects)


def _registered_class(config):
    name = config.get("registered_name") or ""
    return (
        tf.keras.saving.get_registered_object(name)
        if name.startswith("bayes_rl>")
        else None
    )

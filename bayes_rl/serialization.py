"""Objects from names and configurations, and configurations from objects."""

import inspect

import numpy as np
import tensorflow as tf

from bayes_rl import checks

# Classes whose own `from_config` gives the constructor what it finds.
_PLAIN = (
    *(tf.keras.layers.Layer, tf.keras.Model, tf.keras.initializers.Initializer),
    *(tf.keras.regularizers.Regularizer, tf.keras.constraints.Constraint),
)
_OF_KERAS = [kind.from_config.__func__ for kind in _PLAIN]
# Unknown while Keras reads its older formats, but constructors look them up themselves.
_LOOKED_UP_IN = (tf.keras.initializers, tf.keras.regularizers, tf.keras.constraints)


def register(kind):
    """Decorator of classes that Keras saves and loads; `configured` where need be."""
    if hasattr(kind, "stochastic_weights"):
        # Keras' TimeDistributed asks for the layer inside by its bare name.
        tf.keras.saving.get_custom_objects().setdefault(kind.__name__, kind)
    if getattr(kind.__init__, "__module__", "").startswith("bayes_rl"):
        configured(kind)
    return tf.keras.saving.register_keras_serializable("bayes_rl")(kind)


def configured(kind):
    """Decorator of classes that keep what their constructor is given.

    Configurations are made of the attributes with the names of its arguments; those that it
    does not keep are left out. Where it takes `**kwargs`, the class above says the rest.

    Example:
        >>> @configured
        ... class Scale(tf.keras.layers.Layer):
        ...     def __init__(self, factor=2.0, **kwargs):
        ...         super().__init__(**kwargs)
        ...         self.factor = factor
        >>> Scale.from_config(Scale(3.0, name="scale").get_config()).factor
        3.0
    """

    def get_config(self):
        return config_of(kind, self)

    def from_config(cls, config):
        # Only configurations have a class: other dicts are arguments as they are.
        return super(kind, cls).from_config({k: _revived(v) for k, v in config.items()})

    if "get_config" not in vars(kind):
        kind.get_config = get_config
    if kind.from_config.__func__ in _OF_KERAS:
        kind.from_config = classmethod(from_config)
    return kind


def config_of(kind, instance, **values):
    """What `configured` makes of an instance, for classes that have more to say.

    `values` are those of arguments that are not attributes, or not plain ones.
    """
    _, *parameters = inspect.signature(kind.__init__).parameters.values()
    config = {}
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        config = super(kind, instance).get_config()
        if not config and issubclass(kind, tf.keras.Model):
            config = tf.keras.layers.Layer.get_config(instance)  # A model says nothing.
    names = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    kept = [name for name in names if name not in config and hasattr(instance, name)]
    values = {**{name: getattr(instance, name) for name in kept}, **values}
    return {**config, **{name: _plain(value) for name, value in values.items()}}


def _plain(value):
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (tf.Variable, np.ndarray, np.generic)):
        return np.asarray(value).tolist()
    if isinstance(value, (type, tf.DType)):
        return getattr(value, "__name__", None) or value.name
    return serialize(value)


def _revived(value):
    if isinstance(value, list):
        return [_revived(item) for item in value]
    if not isinstance(value, dict) or "class_name" not in value:
        return value
    try:
        return deserialize(value)
    except ValueError:
        if any(hasattr(kind, value["class_name"]) for kind in _LOOKED_UP_IN):
            return value
        raise


def make_get(aliases, keras_module):
    """Makes the `get` of a family of Keras objects.

    `aliases` is a dict of name -> class of ours; `keras_module`, such as
    `tf.keras.initializers`, is asked for other names.
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
        found = keras_module.get(name)
    except ValueError:
        found = name
    if isinstance(found, str):  # as Keras gives some back that it does not know
        kind = keras_module.__name__.rpartition(".")[2]
        hint = checks.did_you_mean(name, aliases)
        raise ValueError(f"{name!r} is not among the {kind}{hint}")
    return found


def serialize(initializer):
    """Configuration from which `deserialize` makes an equal object of any kind."""
    return tf.keras.saving.serialize_keras_object(initializer)


def deserialize(config, custom_objects=None):
    """Object from a configuration made by `serialize`."""
    # Keras looks registered classes up by another name while it reads HDF5 files.
    if (found := _registered_class(config)) is not None:
        return found.from_config(config["config"])
    try:
        return tf.keras.saving.deserialize_keras_object(config, custom_objects)
    except ValueError as error:
        return _deserialized_by_name(config, custom_objects, error)


def _deserialized_by_name(config, custom_objects, error):
    """A layer or activation of Keras, which it finds in HDF5 files only among its kind."""
    if config.get("class_name") == "function":
        return tf.keras.activations.deserialize(config["config"], custom_objects)
    try:
        return tf.keras.layers.deserialize(config, custom_objects)
    except ValueError:
        raise error from None


def _registered_class(config):
    name = config.get("registered_name") or ""
    if name.startswith("bayes_rl>"):
        return tf.keras.saving.get_registered_object(name)
    return None

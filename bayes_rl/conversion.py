"""From a deterministic Keras model to a Bayesian one that starts where it was trained."""

import contextlib
import warnings

import numpy as np
import tensorflow as tf

from bayes_rl import checks, initializers, layers, regularizers
from bayes_rl.compatibility.versions import check_keras
from bayes_rl.weights.naming import check_built

# Keras class -> first part of the names of its twins in `bayes_rl.layers`. Classes that
# stand for `RNN` with a cell have the cell's twin.
_NAMES = (
    *("Dense", "Conv1D", "Conv2D", "Conv3D", "DepthwiseConv1D", "DepthwiseConv2D"),
    *("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"),
    *("Embedding", "LSTMCell", "GRUCell", "MultiHeadAttention"),
)
TWINS = {getattr(tf.keras.layers, name): name for name in _NAMES}
_ESTIMATORS = {"reparameterization": "Reparameterization", "flipout": "Flipout"}
_RECURRENT = (tf.keras.layers.RNN, tf.keras.layers.LSTM, tf.keras.layers.GRU)
# Attributes that hold the layers inside of a layer.
_PARTS = ("layer", "forward_layer", "backward_layer", "cell")
_PROJECTIONS = ("_query_dense", "_key_dense", "_value_dense", "_output_dense")


def to_bayesian(
    model,
    estimator="reparameterization",
    initializer="trainable_glorot_normal",
    regularizer="normal_kl_divergence",
    select=None,
):
    """A Bayesian twin of a Keras model, whose posterior means are the model's weights.

    Layers of the classes in `TWINS` become Bayesian, also inside of `RNN`,
    `TimeDistributed` and `Bidirectional` layers and of nested models; `LSTM` and `GRU`
    become `RNN` of a Bayesian cell, named `<layer>_cell`. Shared layers stay shared. Biases
    stay deterministic. Other layers, such as normalization, are copied; a warning lists
    those with kernels. The regularizers of swapped kernels are dropped: the prior takes
    their place.

    Source: Krishnan et al., 2020, Specifying Weight Priors in Bayesian Deep Neural Networks
    with Empirical Bayes, section 3.

    Args:
        model: built Sequential or functional model, or a built layer of these classes.
        estimator: "reparameterization" or "flipout". An embedding, whose examples share no
            products, has only the former.
        initializer: posterior over each kernel; its mean is then set.
        regularizer: cost of each posterior, for example with a `scale_factor`.
        select: function of a layer to whether it becomes Bayesian; default: all.

    Returns:
        A new model with the same layer names; it shares no variables with `model`.

    Raises:
        ValueError: `model` cannot be copied, is not built, `estimator` is unknown, or the
            posterior cannot have the weights as its means, as those that are positive.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(4, input_shape=[3])])
        >>> bayesian = to_bayesian(model, "flipout")
        >>> type(bayesian.layers[0]).__name__
        'DenseFlipout'
        >>> kernel = ed.mean_weights(bayesian)[f"{model.layers[0].name}/kernel"]
        >>> bool(tf.reduce_all(kernel == model.layers[0].kernel))
        True
    """
    check_keras(model)
    checks.one_of(_ESTIMATORS, estimator=estimator)
    swap = _Swap(_ESTIMATORS[estimator], initializer, regularizer, select)
    check_built(model)
    if isinstance(model, tf.keras.Model):
        twin = swap.model(model)
    else:
        twin = swap.layer(model)
        if not twin.built:
            twin.build(model.get_build_config()["input_shape"])
    _copy_weights(model, twin)
    if swap.left:
        warnings.warn(
            "these layers have no Bayesian twin and stay deterministic: "
            + ", ".join(swap.left.values()),
            stacklevel=2,
        )
    return twin


class _Swap:
    """Makes the twins of layers, without their weights."""

    def __init__(self, suffix, initializer, regularizer, select):
        self._suffix = suffix
        self._initializer = initializers.get(initializer)
        self._regularizer = regularizers.get(regularizer)
        self._select = select or (lambda layer: True)
        self._twins = {}  # by the identity of layers, so that shared ones stay shared
        self.left = {}

    def model(self, model):
        if not isinstance(model, tf.keras.Sequential) and not model._is_graph_network:
            raise ValueError(
                f"model {model.name!r} is a subclass of Model, which cannot be copied; "
                "convert its layers one by one with to_bayesian(layer)"
            )
        return tf.keras.models.clone_model(model, clone_function=self.layer)

    def layer(self, layer):
        if id(layer) not in self._twins:
            self._twins[id(layer)] = self._new(layer)
        return self._twins[id(layer)]

    def _new(self, layer):
        if isinstance(layer, tf.keras.Model):
            return self.model(layer)
        if type(layer) in _RECURRENT:
            return self._recurrent(layer)
        if type(layer) is tf.keras.layers.Bidirectional:
            return self._bidirectional(layer)
        if type(layer) in TWINS and self._select(layer):
            return self._twin(layer)
        return self._with_parts(layer)

    def _recurrent(self, layer):
        config = tf.keras.layers.RNN.get_config(layer)
        del config["cell"]
        if type(layer) is not tf.keras.layers.RNN and not self._select(layer):
            return type(layer).from_config(layer.get_config())
        cell = self._cell(layer.cell, f"{layer.name}_cell")
        return tf.keras.layers.RNN(cell, **config)

    def _bidirectional(self, layer):
        # Both ways are made from one layer, which has no weights to be told by; also when
        # the twin is loaded from a file.
        for way in (layer.forward_layer, layer.backward_layer):
            if _has_cell_of_its_own(way):
                self._note_left(way)
        is_own = hasattr(layer, "_backward_layer_config")
        return tf.keras.layers.Bidirectional(
            self.layer(layer.layer),
            merge_mode=layer.merge_mode,
            backward_layer=self.layer(layer.backward_layer) if is_own else None,
            name=layer.name,
            dtype=layer.dtype_policy,
        )

    def _cell(self, cell, name):
        if isinstance(cell, tf.keras.layers.StackedRNNCells):
            cells = [self._cell(c, f"{name}_{i}") for i, c in enumerate(cell.cells)]
            return tf.keras.layers.StackedRNNCells(cells, name=name)
        if type(cell) in TWINS and self._select(cell):
            return self._twin(cell, name)
        if type(cell) not in TWINS:
            self._note_left(cell)
        return type(cell).from_config(cell.get_config())

    def _twin(self, layer, name=None):
        kind = TWINS[type(layer)]
        plain = getattr(layers, f"{kind}Reparameterization")
        twin = getattr(layers, f"{kind}{self._suffix}", plain)
        config = {**layer.get_config(), "name": name or layer.name}
        for key in list(config):
            weight, _, role = key.rpartition("_")
            if weight in ("bias", "activity"):
                continue
            if role == "initializer":
                config[key] = self._initializer
            if role == "regularizer":
                config[key] = self._regularizer
        return twin.from_config(config)

    def _with_parts(self, layer):
        """A copy of a layer, with twins of the layers that it is made with."""
        copy = type(layer).from_config(layer.get_config())
        if not _parts(layer) and type(layer) not in TWINS:
            self._note_left(layer)
        for name in _parts(layer):
            setattr(copy, name, self.layer(getattr(layer, name)))
        return copy

    def _note_left(self, layer):
        if getattr(layer, "stochastic_weights", None):
            return
        if any(weight.shape.rank > 1 for weight in layer.trainable_weights):
            self.left[layer.name] = f"{layer.name!r} ({type(layer).__name__})"


def _copy_weights(layer, twin):
    for original, copy in _pairs(layer, twin):
        if type(copy) is type(original) and not _parts(original):
            copy.set_weights(original.get_weights())
            continue
        for name, variable in vars(original).items():
            if isinstance(variable, tf.Variable):
                _copy_weight(name, variable, copy)


def _copy_weight(name, variable, copy):
    weight = getattr(copy, "stochastic_weights", {}).get(name)
    if weight is None:
        target = getattr(copy, name)
        target.assign(tf.reshape(tf.cast(variable, target.dtype), target.shape))
    else:
        _set_mean(weight, tf.reshape(variable, weight.shape))


def _set_mean(weight, value):
    location = weight.initializer.parameter_names[0]
    if getattr(weight.initializer, location).shape == value.shape:
        # what its constraint cannot give is refused below, with what would be right
        with contextlib.suppress(ValueError):
            weight.initializer.assign(**{location: value})
            if np.allclose(weight.mean(), value, rtol=1e-4, atol=1e-5):
                return
    raise ValueError(
        f"{type(weight.initializer).__name__} cannot have the weights of {weight.name!r} "
        "as its mean; use a posterior with a mean of its own, such as 'trainable_normal'"
    )


def _pairs(layer, twin):
    """Layers that hold variables, each with its twin."""
    if isinstance(layer, tf.keras.Model):
        for part in layer.layers:
            yield from _pairs(part, twin.get_layer(part.name))
    elif hasattr(twin, "dense_class"):
        for name in _PROJECTIONS:
            yield getattr(layer, name), getattr(twin, name).dense
    elif isinstance(layer, tf.keras.layers.StackedRNNCells):
        for pair in zip(layer.cells, twin.cells, strict=True):
            yield from _pairs(*pair)
    else:
        yield layer, twin
        for name in _parts(layer):
            yield from _pairs(getattr(layer, name), getattr(twin, name))


def _parts(layer):
    """Names of the layers that a layer was made with, and which may have twins."""
    # It divides the variable of a kernel.
    if isinstance(layer, tf.keras.layers.SpectralNormalization):
        return []
    found = {name: getattr(layer, name, None) for name in _PARTS}
    if _has_cell_of_its_own(layer):
        del found["cell"]
    return [n for n, part in found.items() if isinstance(part, tf.keras.layers.Layer)]


def _has_cell_of_its_own(layer):
    """Whether a layer such as ConvLSTM2D has made its cell, which has no twin, itself."""
    if not isinstance(layer, tf.keras.layers.RNN) or type(layer) in _RECURRENT:
        return False
    with_twins = (tf.keras.layers.StackedRNNCells, *TWINS)
    return not isinstance(layer.cell, with_twins)

"""The one place that knows versions: which Keras is used, and what has no public name.

Layers are of Keras 2: the package `tf-keras`, which TensorFlow uses as `tf.keras` where
`TF_USE_LEGACY_KERAS` says so before it is imported. TensorFlow 2.15 has Keras 2 itself.
No other module of `bayes_rl` imports a private one.
"""

import importlib
import importlib.util
import os
import sys

# Where Keras 3 defines layers, models and tensors. The Keras 2 of TensorFlow 2.15 has
# packages of the same names.
_KERAS_3 = (
    "keras.src.layers.layer",
    "keras.src.models.model",
    "keras.src.backend.common.keras_tensor",
)


def choose_keras():
    """Makes `tf.keras` Keras 2, in this process and in those that it starts.

    Raises:
        ImportError: `tf.keras` is Keras 3 already, or `tf-keras` is not installed.
    """
    found = importlib.util.find_spec("tf_keras")
    is_late = "tensorflow" in sys.modules and "TF_USE_LEGACY_KERAS" not in os.environ
    if found:
        os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    import tensorflow as tf

    if found and is_late:  # `from tensorflow.keras import ...` would find Keras 3 there
        tf.__path__.insert(0, os.path.join(os.path.dirname(found.origin), "api", "_v2"))
    if _is_keras_2(tf):
        return
    minor = ".".join(tf.__version__.split(".")[:2])
    if not found:
        raise ImportError(
            f"bayes_rl needs Keras 2, and TensorFlow {tf.__version__} has Keras 3: "
            f"pip install 'tf-keras~={minor}.0'"
        )
    raise ImportError(
        "bayes_rl needs Keras 2, and tf.keras is Keras 3 in this process already: import "
        "bayes_rl before tf.keras is used, and do not set TF_USE_LEGACY_KERAS=0"
    )


def _is_keras_2(tf):
    try:
        return ".engine." in tf.keras.layers.Layer.__module__
    except ImportError:  # TF_USE_LEGACY_KERAS is set, and there is no tf-keras
        return False


def check_keras(model):
    """Raises a TypeError where a model, layer or tensor is of Keras 3."""
    kind = type(model)
    if any(base.__module__ in _KERAS_3 for base in kind.__mro__):
        raise TypeError(
            f"{kind.__name__} is of Keras 3, and bayes_rl has layers of Keras 2: make it "
            "with tf.keras after `import bayes_rl`, or with tf_keras, instead of keras"
        )


choose_keras()

import tensorflow as tf  # noqa: E402
from tensorflow.python.autograph.core import config, config_lib  # noqa: E402
from tensorflow.python.eager import record  # noqa: E402, F401
from tensorflow.python.framework import (  # noqa: E402, F401
    composite_tensor_gradient,
    type_spec,
    type_spec_registry,
)
from tensorflow_probability.python.internal import batch_shape_lib  # noqa: E402, F401

KERAS = tf.keras.layers.Layer.__module__.split(".")[0]  # "keras" or "tf_keras"
call_context = importlib.import_module(f"{KERAS}.src.engine.base_layer_utils").call_context
to_snake_case = importlib.import_module(f"{KERAS}.src.utils.generic_utils").to_snake_case
Functional = importlib.import_module(f"{KERAS}.src.engine.functional").Functional


# Calls of layers decide nothing by a tensor in Python, so that they are graphs as they are:
# to convert them takes seconds a layer. Of tf_keras, TensorFlow after 2.15 knows that.
config.CONVERSION_RULES = (
    config_lib.DoNotConvert("bayes_rl"),
    config_lib.DoNotConvert("tf_keras"),
    *config.CONVERSION_RULES,
)

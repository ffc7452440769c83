"""Which Keras layers are of, on every TensorFlow, and what is said where it is another."""

import ast
import importlib.util
import pathlib
import subprocess
import sys
import types

import pytest
import tensorflow as tf
from tensorflow.python.autograph.impl import conversion

import bayes_rl as ed
from bayes_rl.compatibility import versions

ROOT = pathlib.Path(__file__).parents[3]
PRIVATE = ("keras.src", "tf_keras", "tensorflow.python", "tensorflow_probability.python")
HAS_KERAS_3 = tuple(map(int, tf.__version__.split(".")[:2])) > (2, 15)
needs_keras_3 = pytest.mark.skipif(not HAS_KERAS_3, reason="TensorFlow 2.15 has Keras 2")


def run_python(code, **environment):
    quiet = {"PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3", **environment}
    return subprocess.run(
        [sys.executable, "-c", code], env=quiet, capture_output=True, text=True
    )


def imported_modules(file):
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def test_one_module_alone_imports_private_ones():
    files = [*(ROOT / "bayes_rl").rglob("*.py"), *(ROOT / "agents").rglob("*.py")]
    found = {
        file.relative_to(ROOT).as_posix()
        for file in files
        for name in imported_modules(file)
        if name.startswith(PRIVATE)
    }
    assert found == {"bayes_rl/compatibility/versions.py"}


def test_layers_are_of_keras_2():
    modules = {base.__module__ for base in ed.layers.DenseFlipout.__mro__}
    assert f"{versions.KERAS}.src.engine.base_layer" in modules


def test_the_context_of_a_call_is_that_of_the_keras_in_use():
    seen = []

    class Asks(tf.keras.layers.Layer):
        def call(self, inputs):
            seen.append(versions.call_context().layer)
            return inputs

    layer = Asks()
    layer(tf.ones([1]))
    assert seen == [layer]


@pytest.mark.parametrize(
    ("module", "is_keras_3"),
    [
        ("keras.src.layers.convolutional.base_conv", False),  # of TensorFlow 2.15
        ("keras.src.engine.training", False),
        ("keras.src.layers.layer", True),
        ("keras.src.models.model", True),
        ("keras.src.backend.common.keras_tensor", True),
    ],
)
def test_keras_3_is_told_from_the_keras_2_that_has_the_same_packages(module, is_keras_3):
    one = type("Base", (), {"__module__": module})()
    if is_keras_3:
        with pytest.raises(TypeError, match="Base is of Keras 3"):
            versions.check_keras(one)
    else:
        versions.check_keras(one)


@pytest.mark.slow
@pytest.mark.parametrize("first", ["bayes_rl", "tensorflow", "agents", "envs"])
def test_no_variable_has_to_be_set_by_hand(first):
    code = (
        f"import {first}\n"
        "import tensorflow as tf\n"
        "import bayes_rl as ed\n"
        "from tensorflow.keras import layers\n"
        "assert layers.Dense is tf.keras.layers.Dense\n"
        "assert issubclass(ed.layers.DenseFlipout, layers.Dense)"
    )
    result = run_python(code)
    assert result.returncode == 0, result.stderr


@pytest.mark.skipif(not importlib.util.find_spec("tf_keras"), reason="needs tf-keras")
@pytest.mark.parametrize("first", ["agents", "bayes_rl", "envs"])
def test_keras_2_is_chosen_before_tensorflow_is_imported(first):
    code = (
        "import os, sys\n"
        "sys.modules['tensorflow'] = None  # cannot be imported\n"
        "try:\n"
        f"    import {first}\n"
        "except ImportError:\n"
        "    pass\n"
        "print(os.environ['TF_USE_LEGACY_KERAS'])"
    )
    result = run_python(code)
    assert result.stdout == "1\n", result.stderr


@needs_keras_3
@pytest.mark.parametrize(
    ("before", "environment"),
    [
        ("import tensorflow as tf; tf.keras.layers", {}),
        ("from tensorflow.keras import layers", {}),
        ("", {"TF_USE_LEGACY_KERAS": "0"}),
    ],
    ids=["used before", "imported from before", "told otherwise"],
)
def test_keras_3_in_use_is_refused_in_a_line(before, environment):
    result = run_python(f"{before}\nimport bayes_rl", **environment)
    assert result.returncode == 1
    line = result.stderr.splitlines()[-1]
    assert line.startswith("ImportError: bayes_rl needs Keras 2, and tf.keras is Keras 3")
    assert "import bayes_rl before tf.keras is used" in line


@needs_keras_3
def test_what_to_install_is_said_where_keras_2_is_not():
    code = (
        "import importlib.util, sys\n"
        "sys.modules['tf_keras'] = None\n"
        "find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name: name != 'tf_keras' and find(name)\n"
        "import bayes_rl"
    )
    minor = ".".join(tf.__version__.split(".")[:2])
    line = run_python(code).stderr.splitlines()[-1]
    assert line.endswith(f"has Keras 3: pip install 'tf-keras~={minor}.0'")


def of_keras_3(name, module):
    """An object whose class looks as one of Keras 3 does."""
    return types.new_class(name, exec_body=lambda ns: ns.update(__module__=module))()


USES = {
    "predict": lambda model: ed.predict(model, tf.ones([2, 3])),
    "to_bayesian": ed.to_bayesian,
    "sample_weights": lambda model: ed.sample_weights(model, [2], seed=0),
    "scale_kl": lambda model: ed.scale_kl(model, 0.1),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_model_of_keras_3_is_refused_in_a_line(use):
    model = of_keras_3("Sequential", "keras.src.models.model")
    with pytest.raises(TypeError, match="^Sequential is of Keras 3, and bayes_rl has .*$"):
        use(model)


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@needs_keras_3
def test_a_true_model_of_keras_3_is_refused(use):
    import keras

    model = keras.Sequential([keras.Input([3]), keras.layers.Dense(2)])
    with pytest.raises(TypeError, match="Sequential is of Keras 3"):
        use(model)


def test_a_layer_on_what_a_layer_of_keras_3_gives_is_refused():
    output = of_keras_3("KerasTensor", "keras.src.backend.common.keras_tensor")
    with pytest.raises(TypeError, match="KerasTensor is of Keras 3.*with tf.keras"):
        ed.layers.DenseFlipout(2)(output)


@needs_keras_3
def test_a_layer_on_a_true_input_of_keras_3_is_refused():
    import keras

    with pytest.raises(TypeError, match="KerasTensor is of Keras 3"):
        ed.layers.DenseFlipout(2)(keras.Input([3]))


def test_calls_of_layers_are_graphs_as_they_are_and_those_of_users_are_converted():
    class Mine(ed.layers.DenseFlipout):
        def call(self, inputs):
            return super().call(inputs)

    attention = ed.layers.MultiHeadAttentionFlipout
    for kind in (ed.layers.DenseFlipout, attention, tf.keras.layers.LSTM):
        assert conversion.is_allowlisted(kind.call), kind
    assert not conversion.is_allowlisted(Mine.call)

"""The README is true and short: its links lead somewhere, its code runs."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_it_is_a_front_door():
    assert README.count("\n") <= 150


def test_make_targets_exist():
    targets = "train|test|bench|check|slow|docs|docs-test|docs-serve"
    for target in set(re.findall(rf"make ({targets})\b", README)):
        subprocess.run(["make", "-n", target], cwd=ROOT, check=True, capture_output=True)


def test_files_exist():
    for path in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / path).exists(), path


@pytest.fixture(scope="module")
def layer_example():
    """The code of the example, and its names after it ran."""
    import tensorflow as tf

    tf.keras.utils.set_random_seed(0)
    code, _ = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names = {}
    exec(code, names)  # noqa: S102  the example of the README
    return code, names


@pytest.mark.slow
def test_layer_example_runs(layer_example):
    _, names = layer_example
    assert names["outputs"].shape == (5, 450, 10)


@pytest.mark.slow
def test_ten_lines_make_a_trained_model_honest():
    import tensorflow as tf

    import bayes_rl as ed

    _, code = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(code.splitlines()) == 10
    page = (ROOT / "docs/tutorials/make_a_model_honest.md").read_text()
    assert code in re.sub(r"\n\n+", "\n", page)
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=[2])])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss)
    inputs, labels = tf.random.stateless_normal([100, 2], [0, 1]), tf.range(100) % 3
    names = {"ed": ed, "tf": tf, "model": model, "inputs": inputs, "labels": labels}
    names |= {"held": inputs, "held_labels": labels.numpy(), "new": inputs[:7]}
    exec(code, names)  # noqa: S102  the example of the README
    assert names["sets"].shape == (7, 3)


@pytest.mark.slow
def test_layer_example_is_as_good_as_its_deterministic_twin(layer_example):
    import numpy as np

    def accuracy(names):
        return np.mean(np.argmax(names["probs"], -1) == names["test_labels"])

    (code, names), twin = layer_example, {}
    # It takes the same steps.
    code = code.replace("ed.layers.DenseFlipout", "tf.keras.layers.Dense")
    code = code.partition("with ed.hold")[0].replace("ed.scale_kl", "# ed.scale_kl")
    exec(code, twin)  # noqa: S102  the example of the README
    assert accuracy(names) > accuracy(twin) - 0.02

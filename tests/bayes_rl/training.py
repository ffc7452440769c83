"""A training loop for the examples, and the inputs they share."""

import dataclasses

import tensorflow as tf


@dataclasses.dataclass
class Losses:
    """Mean loss over a few draws before and after training."""

    before: float
    after: float


def train(loss_fn, parts, steps=30, learning_rate=0.01, draws=4):
    """Takes gradient steps on `loss_fn()`, in a graph; each must reach every variable.

    Args:
        loss_fn: the loss [] of the data, a function without arguments.
        parts: list of models, layers and variables to train.
        steps: number of gradient steps.
        learning_rate: of Adam.
        draws: number of losses to average.
    """
    before = tf.reduce_mean([loss_fn() for _ in range(draws)])
    variables = []
    for part in parts:
        is_variable = isinstance(part, tf.Variable)
        variables.extend([part] if is_variable else part.trainable_variables)
    optimizer = tf.keras.optimizers.Adam(learning_rate)
    optimizer.build(variables)

    @tf.function(autograph=False)
    def step():
        with tf.GradientTape() as tape:
            loss = loss_fn()
        gradients = tape.gradient(loss, variables)
        missing = [
            x.name for x, found in zip(variables, gradients, strict=True) if found is None
        ]
        assert not missing
        optimizer.apply_gradients(zip(gradients, variables, strict=True))

    for _ in range(steps):
        step()
    after = tf.reduce_mean([loss_fn() for _ in range(draws)])
    return Losses(float(before), float(after))


def stripes(size=8, count=32, channels=1):
    """Images [count, size, size, channels] of noisy stripes, and their labels [count].

    Pixels are 0 or 1; the label is 1 for horizontal stripes and 0 for vertical ones.
    """
    rows, columns = tf.meshgrid(tf.range(size), tf.range(size), indexing="ij")
    labels = tf.range(count) % 2
    shifts = tf.range(count) // 2 % 2
    lines = tf.where(labels[:, None, None] == 1, rows, columns)
    images = tf.cast((lines + shifts[:, None, None]) // 2 % 2, tf.float32)
    flips = tf.random.stateless_uniform([count, size, size], [0, 1]) < 0.05
    images = tf.where(flips, 1.0 - images, images)[..., tf.newaxis]
    return tf.tile(images, [1, 1, 1, channels]), labels

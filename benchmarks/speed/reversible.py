"""Memory that activations take in training chains of residual blocks, by depth.

Shows that a `ReversibleSequential` needs no memory for activations (Gomez et al., 2017,
The Reversible Residual Network: Backpropagation Without Storing Activations). Each number
is the peak of a process of its own that takes gradients for a large batch, less the peak
of one for a tiny batch, which has the same weights and graph. `plain` runs the same
blocks in a `tf.keras.Sequential`.
"""

import argparse
import sys

from benchmarks.measuring.memory import measured_by, own_peak

DEPTHS = (8, 64)
KINDS = ("plain", "reversible")
MODES = ("eager", "graph", "xla")
BATCH, TINY, SIZE = 8192, 8, 128


def main():
    """Prints a table of MiB, with what one more block costs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    modes = parser.parse_args().modes
    inputs = BATCH * SIZE * 4 / 2**20
    print(f"inputs [{BATCH}, {SIZE}], {inputs:.0f} MiB; memory in MiB")
    heads = "".join(f"{f'depth {depth}':>11}" for depth in DEPTHS)
    print(f"{'mode':<7}{'blocks':<12}{heads}{'a block':>10}")
    for mode in modes:
        for kind in KINDS:
            print(
                f"{mode:<7}{kind:<12}{row([activations_of(kind, mode, x) for x in DEPTHS])}"
            )


def row(memories):
    """Memory at two depths, and its growth from one block to the next."""
    growth = (memories[1] - memories[0]) / (DEPTHS[1] - DEPTHS[0])
    return "".join(f"{x:11.0f}" for x in memories) + f"{growth:10.2f}"


def activations_of(kind, mode, depth):
    """MiB that a large batch needs beyond a tiny one."""
    return peak(kind, mode, depth, BATCH) - peak(kind, mode, depth, TINY)


def peak(kind, mode, depth, batch):
    """MiB that a process needs for two training gradients beyond what it starts with.

    The kind is one of `KINDS`, the mode one of `MODES`, the depth a number of blocks.
    """
    return measured_by("benchmarks.speed.reversible", "--measure", kind, mode, depth, batch)


def measure(kind, mode, depth, batch):
    """Prints the growth of this process's peak while it takes gradients."""
    import tensorflow as tf

    model = make(kind, depth)
    inputs = tf.random.stateless_normal([batch, SIZE], [0, 1])

    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(model(x)))
        return tape.gradient(loss, model.trainable_variables)

    if mode != "eager":
        step = tf.function(step, jit_compile=mode == "xla")
    model(inputs[:1])
    start = own_peak()
    for _ in range(2):
        gradients = step(inputs)
    assert gradients[0].numpy().any()
    print(own_peak() - start)


def make(kind, depth):
    """A Keras layer of `depth` residual blocks."""
    import tensorflow as tf

    import bayes_rl as ed

    blocks = [
        ed.layers.ReversibleResidual(
            *(tf.keras.layers.Dense(SIZE // 2, "relu") for _ in range(2))
        )
        for _ in range(depth)
    ]
    if kind == "plain":
        return tf.keras.Sequential(blocks)
    return ed.layers.ReversibleSequential(blocks)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        _, _, kind, mode, depth, batch = sys.argv
        measure(kind, mode, int(depth), int(batch))
    else:
        main()

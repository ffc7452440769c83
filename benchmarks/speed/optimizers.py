"""One training step of `fit` with IVON, against Keras' Adam.

A step is that of `Model.fit`: a batch from a dataset, outputs, loss, gradients, optimizer.
Cases of a group are called in turn in one process; `time over reference` is the median of
the ratios of a round [quartiles].
"""

from benchmarks.speed.layers import Case, parse, run_chosen

MOST = "1.2"  # of the time of a step with Adam


def all_cases(scale=1.0):
    """Every case of the benchmark; those with XLA come last."""
    return [
        case
        for xla in (False, True)
        for make in (_dense, _convolution, _lstm)
        for case in _cases(*make(scale), xla)
    ]


def _cases(group, shape, layers, xla):
    group += ", XLA" if xla else ""
    return [
        Case(group, name, lambda n=name: make_step(n, layers(), shape, xla), target)
        for name, target in (("Adam", ""), ("IVON", MOST))
    ]


def _dense(scale):
    import tensorflow as tf

    batch, wide = (max(2, int(scale * size)) for size in (256, 512))

    def layers():
        sizes = (wide, wide)
        return [tf.keras.layers.Dense(size, activation="relu") for size in sizes]

    return f"dense {wide}-{wide}-{wide}, batch {batch}", [batch, wide], layers


def _convolution(scale):
    import tensorflow as tf

    batch, size = max(2, int(scale * 64)), max(4, int(scale * 32))

    def layers():
        options = {"padding": "same", "activation": "relu"}
        first = tf.keras.layers.Conv2D(size, 3, **options)
        second = tf.keras.layers.Conv2D(size, 3, strides=2, **options)
        return [first, second, tf.keras.layers.Flatten()]

    group = f"two convolutions of {size} filters on {size}x{size}, batch {batch}"
    return group, [batch, size, size, 3], layers


def _lstm(scale):
    import tensorflow as tf

    batch, units, steps = (max(2, int(scale * size)) for size in (64, 128, 50))
    group = f"LSTM {units} over {steps} steps, batch {batch}"
    return group, [batch, steps, units], lambda: [tf.keras.layers.LSTM(units)]


def make_step(name, layers, shape, xla):
    """A function without arguments that takes one step of `fit` on one fixed batch.

    A last layer of 10 units follows the given ones.
    """
    import tensorflow as tf

    import bayes_rl as ed

    first, last = tf.keras.Input(shape[1:]), tf.keras.layers.Dense(10)
    model = tf.keras.Sequential([first, *layers, last])
    optimizer = tf.keras.optimizers.Adam(1e-3)
    if name == "IVON":
        optimizer = ed.optimizers.IVON(0.01, effective_sample_size=60_000)
    model.compile(optimizer, "mse", jit_compile=xla)
    inputs = tf.random.stateless_normal(shape, [0, 1])
    targets = tf.random.stateless_normal([shape[0], 10], [0, 2])
    batches = iter(tf.data.Dataset.from_tensors((inputs, targets)).repeat())
    step = model.make_train_function()
    return lambda: step(batches)["loss"].numpy()


def line(row):
    """A row as text."""
    ratio = ""
    if row["over_reference"]:
        middle, low, high = (row[f"over_reference{end}"] for end in ("", "_low", "_high"))
        ratio = f"{middle:.2f} [{low:.2f}, {high:.2f}], at most {row['at_most']}"
    return f"{row['group']:<60} {row['case']:<6} {row['milliseconds']:8.2f} ms  {ratio}"


def main(arguments=None, scale=1.0):
    """Prints a line a case."""
    options = parse("python -m benchmarks.speed.optimizers", __doc__, arguments)
    for row in run_chosen(options, all_cases, scale):
        print(line(row))


if __name__ == "__main__":
    main()

"""One training step of Bayesian layers, against Keras' deterministic ones and TFP's."""

import dataclasses
import itertools
import os
import sys
import time
import typing

from benchmarks.measuring.options import make_parser, use_threads
from benchmarks.measuring.timing import CLOCKS, measure, spread

NOTES = """\
- One training step: outputs, mean squared error plus KL divided by the number of examples,
  gradients, Adam.
- Milliseconds: the median of the repeats [quartiles], by the clock named below. Processor
  time does not count other processes; with one thread it is the time of an idle machine.
  The cases of a group were called in turn in one process.
- Time over reference: the median of the ratios of a round [quartiles]. The reference is the
  group's first case, Keras' deterministic layers.
- XLA: the whole step in `tf.function(jit_compile=True)`; else in `tf.function`."""
EXAMPLES = 60_000


@dataclasses.dataclass(frozen=True)
class Case:
    """One thing to time."""

    group: str  # those of a group are timed in turn; the first is the reference
    name: str  # within the group
    make: typing.Callable  # returns what does the work once and waits for its end
    target: str = ""  # most time over reference; in milliseconds, where it is alone


def all_cases(scale=1.0):
    """Every case of the benchmark; a scale of all sizes below 1 is for tests."""
    size = max(2, int(scale * 256))
    group = f"KL of a {size}x{size} layer, eager"
    kl = Case(group, "DenseReparameterization", lambda: make_kl(size), "1 ms")
    kinds = (_dense, _convolution, _lstm)
    steps = (kind(scale, xla) for xla in (False, True) for kind in kinds)
    return [*itertools.chain.from_iterable(steps), kl]


def _cases(group, xla, shape, layers):
    group += ", XLA" if xla else ""
    return [
        Case(group, name, lambda make=make: make_step(make(), shape, xla), target)
        for name, make, target in layers
    ]


def _dense(scale, xla):
    import tensorflow as tf
    import tensorflow_probability as tfp

    import bayes_rl as ed

    batch, wide = (max(2, int(scale * size)) for size in (256, 512))

    def two(layer):
        return lambda: [layer(wide, activation="relu"), layer(10)]

    layers = [
        ("Keras", two(tf.keras.layers.Dense), ""),
        ("DenseReparameterization", two(ed.layers.DenseReparameterization), "2.0"),
        ("DenseFlipout", two(ed.layers.DenseFlipout), "2.5"),
        ("TFP DenseReparameterization", two(tfp.layers.DenseReparameterization), ""),
        ("TFP DenseFlipout", two(tfp.layers.DenseFlipout), ""),
    ]
    return _cases(f"dense {wide}-{wide}-10, batch {batch}", xla, [batch, wide], layers)


def _convolution(scale, xla):
    import tensorflow as tf
    import tensorflow_probability as tfp

    import bayes_rl as ed

    batch, size = (max(2, int(scale * size)) for size in (64, 32))

    def one(layer):
        return lambda: [layer(size, 3, padding="same")]

    layers = [
        ("Keras", one(tf.keras.layers.Conv2D), ""),
        ("Conv2DReparameterization", one(ed.layers.Conv2DReparameterization), ""),
        ("Conv2DFlipout", one(ed.layers.Conv2DFlipout), "2.1"),
        (
            "TFP Convolution2DReparameterization",
            one(tfp.layers.Convolution2DReparameterization),
            "",
        ),
        ("TFP Convolution2DFlipout", one(tfp.layers.Convolution2DFlipout), ""),
    ]
    group = f"convolution {size}-{size} on {size}x{size}x{size}, batch {batch}"
    return _cases(group, xla, [batch, size, size, size], layers)


def _lstm(scale, xla):
    import tensorflow as tf

    import bayes_rl as ed

    batch, units, steps = (max(2, int(scale * size)) for size in (64, 128, 50))

    def one(cell):
        return lambda: [tf.keras.layers.RNN(cell(units), return_sequences=True)]

    layers = [
        ("Keras", one(tf.keras.layers.LSTMCell), ""),
        ("LSTMCellReparameterization", one(ed.layers.LSTMCellReparameterization), "1.2"),
        ("LSTMCellFlipout", one(ed.layers.LSTMCellFlipout), "1.6"),
    ]
    group = f"LSTM {units} over {steps} steps, batch {batch}"
    return _cases(group, xla, [batch, steps, units], layers)


def make_step(layers, shape, xla):
    """A function without arguments that takes one gradient step on one fixed batch."""
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.Input(shape[1:], shape[0]), *layers])
    variables = model.trainable_variables
    optimizer = tf.keras.optimizers.Adam(1e-3, jit_compile=False)
    optimizer.build(variables)
    inputs = tf.random.stateless_normal(shape, [0, 1])
    targets = tf.random.stateless_normal(model.output_shape, [0, 2])

    @tf.function(jit_compile=xla)
    def step(inputs, targets):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(inputs, training=True) - targets))
            if model.losses:
                loss += tf.add_n(model.losses) / EXAMPLES
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return loss

    return lambda: step(inputs, targets).numpy()


def make_kl(size):
    """A function without arguments that computes the KL of a layer in eager mode."""
    import bayes_rl as ed

    layer = ed.layers.DenseReparameterization(size)
    layer.build([None, size])
    return lambda: layer.losses[0].numpy()


def run(cases, repeats, clock=time.perf_counter):
    """A row for each case; those of a group stand next to each other."""
    rows = []
    for group, members in itertools.groupby(cases, key=lambda case: case.group):
        members = list(members)
        print(group, file=sys.stderr, flush=True)
        functions = {case: case.make() for case in members}
        seconds = measure(functions, repeats, clock=clock)
        reference = seconds[members[0]]
        for case in members:
            ratios = spread("over_reference", seconds[case] / reference)
            if case is members[0]:
                ratios = dict.fromkeys(ratios)
            row = {"group": group, "case": case.name}
            row |= spread("milliseconds", 1e3 * seconds[case]) | ratios
            rows.append(row | {"at_most": case.target})
    return rows


def choose(cases, word):
    """The cases that have a word in their name, and what each of them stands beside."""
    chosen = []
    for group, members in itertools.groupby(cases, key=lambda case: case.group):
        first, *others = members
        found = [case for case in others if word in f"{group}, {case.name}"]
        if found or word in f"{group}, {first.name}":
            chosen += [first, *found]
    return chosen


def answer(rows, _):
    """How much longer steps of Bayesian layers take than Keras', in sentences."""
    own = [row for row in rows if row["over_reference"] and "TFP" not in row["case"]]
    ratios = {
        kind: [row["over_reference"] for row in own if row["case"].endswith(kind)]
        for kind in ("Reparameterization", "Flipout")
    }
    if not all(ratios.values()):
        return ""
    one, other = (f"{min(each):.1f} to {max(each):.1f}" for each in ratios.values())
    slow = {
        row["case"]: None
        for row in own
        if row["at_most"] and row["over_reference"] > float(row["at_most"])
    }
    missed = f" Slower than the aim in the table: {', '.join(slow)}." * bool(slow)
    return (
        f"A training step with reparameterization takes {one} times as long as with Keras' "
        f"layers, and with Flipout {other} times as long.{missed}"
    )


def make_report():
    from benchmarks.measuring import report

    columns = {
        "group": report.text("group"),
        "case": report.text("case"),
        "milliseconds": report.spread("milliseconds", ".2f"),
        "time over reference": report.spread("over_reference", ".2f"),
        "aim, at most": report.text("at_most"),
    }
    question = "How much slower are Bayesian layers than Keras' deterministic ones?"
    words = ("Speed of layers", question, answer, lambda row: "XLA" not in row["group"])
    return report.Report("layers", *words, tuple(columns), NOTES, columns)


def main(arguments=None, scale=1.0):
    options = parse("python -m benchmarks.speed.layers", __doc__, arguments)
    if options.page:
        make_report().remake(options.folder)
        return
    rows = run_chosen(options, all_cases, scale)
    words = sys.argv[1:] if arguments is None else arguments
    command = " ".join(["python -m benchmarks.speed.layers", *words])
    facts = {"threads": options.threads or "all", "clock": options.clock}
    make_report().show(rows, command, options.folder, **facts)


def parse(command, about, arguments):
    """The options of a benchmark of single training steps."""
    parser = make_parser(command, about.splitlines()[0])
    parser.set_defaults(clock="processor", threads=1, repeats=40)
    return parser.parse_args(arguments)


def run_chosen(options, all_cases, scale):
    """Rows of the cases that the options choose, of a function of a scale to all cases."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    use_threads(options.threads)
    chosen = choose(all_cases(scale), options.only)
    if not chosen:
        sys.exit(f"no case has {options.only!r} in its name")
    return run(chosen, options.repeats, CLOCKS[options.clock])


if __name__ == "__main__":
    main()

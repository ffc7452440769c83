"""A Bayesian Transformer that translates number words to digits, beside its plain twin.

    four hundred and five thousand and seven  ->  4 0 5 0 0 7

Both see a few hundred pairs. Then they translate numbers that they never saw, as they stand
and as a speaker says them who hesitates, "four er hundred and five thousand and uh seven".
The twin is the same network with one value for each weight, the most probable one under the
same prior. Predictions of the Bayesian one are means over draws of its weights. Accuracy of
digits and of whole numbers, negative log likelihood and calibration error go to a file, for
each seed, network and test.

With `--mesh 2x4` weights and examples are split over a mesh of devices; a machine without
GPUs stands in with eight virtual CPU devices. Losses are those of a single device.

Source: Tran et al., 2019, Bayesian Layers: A Module for Neural Network Uncertainty,
section 3.1.
"""

import dataclasses
import os
import pathlib
import sys
import time
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

import bayes_rl as ed  # noqa: E402
from bayes_rl import parallel  # noqa: E402
from examples import experiment  # noqa: E402

_ONES = [
    *["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"],
    *["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen"],
    *["seventeen", "eighteen", "nineteen"],
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_FILLERS = ["er", "uh"]
WORDS = ["", *_ONES, *_TENS, "hundred", "thousand", "and", *_FILLERS]
END = 10  # of a number, after its digits; also what starts one
LENGTH = 7  # of the longest number with its end
SOURCE_LENGTH = 13
METHODS = ("deterministic", "flipout")


@dataclasses.dataclass(frozen=True)
class Sizes:
    """What `--small` makes small. The posterior's numbers were chosen on seed 100."""

    examples: int = 600
    tests: int = 1024
    hidden: int = 64
    layers: int = 2
    heads: int = 4
    filter: int = 256
    batch: int = 64
    steps: int = 1500
    draws: int = 20
    first_variance: float = 0.01  # of a weight at first, times the layer's inputs
    prior_stddev: float = 0.2
    kl_scale: float = 0.1


SMALL = Sizes(32, 32, 8, 1, 4, 16, 16, 20, 2)
OPTIMIZERS = {"adam": parallel.Adam, "sgd": lambda: parallel.SGD(0.02)}


def words_of(number):
    """Number words of a number below a million.

    Example:
        >>> " ".join(words_of(405_007))
        'four hundred and five thousand and seven'
    """
    thousands, rest = divmod(number, 1000)
    words = [*words_of(thousands), "thousand"] if thousands else []
    hundreds, small = divmod(rest, 100)
    words += [_ONES[hundreds], "hundred"] if hundreds else []
    if words and small:
        words.append("and")
    if small >= 20:
        words.append(_TENS[small // 10 - 2])
        small %= 10
    return words + ([_ONES[small]] if small or not words else [])


def make_pairs(numbers, fillers, generator):
    """Numbers as the model wants them.

    Args:
        numbers: [N].
        fillers: whether a speaker hesitates, once or twice.
        generator: NumPy generator.

    Returns:
        Sources [N, 13], where 0 is padding; targets [N, 7], which go on with ends after
        theirs; the targets one position later, as the decoder is given them; and 1 for each
        digit and its end, 0 for the ends after it [N, 7].
    """
    sources = np.zeros([len(numbers), SOURCE_LENGTH], np.int32)
    targets = np.full([len(numbers), LENGTH], END, np.int32)
    for source, target, number in zip(sources, targets, numbers, strict=True):
        words = words_of(number)
        for _ in range(generator.integers(1, 3) if fillers else 0):
            filler = _FILLERS[generator.integers(2)]
            words.insert(generator.integers(len(words) + 1), filler)
        source[: len(words)] = [WORDS.index(word) for word in words]
        digits = str(number)
        target[: len(digits)] = list(map(int, digits))
    given = np.concatenate([np.full_like(targets[:, :1], END), targets[:, :-1]], axis=1)
    counts = np.cumsum(targets == END, axis=1) - (targets == END) == 0
    return sources, targets, given, counts.astype(np.float32)


def make_data(sizes, seed):
    """Dict of name -> pairs: `train`, `test` and `hesitant`, with no number in common."""
    generator = np.random.default_rng(seed)
    count = sizes.examples + sizes.tests
    lengths = generator.integers(1, 7, 20 * count)
    numbers = np.unique(generator.integers(0, 10**lengths))
    numbers = generator.permutation(numbers)[:count].tolist()
    train, test = numbers[: sizes.examples], numbers[sizes.examples :]
    return {
        "train": make_pairs(train, False, generator),
        "test": make_pairs(test, False, generator),
        "hesitant": make_pairs(test, True, generator),
    }


def make_model(method, sizes):
    """The Transformer, with posteriors over its kernels or their most probable values."""
    scale = sizes.kl_scale / sizes.examples
    if method == "deterministic":
        cost = tf.keras.regularizers.L2(0.5 * scale / sizes.prior_stddev**2)
        options = {"kernel_initializer": "glorot_uniform", "kernel_regularizer": cost}
    else:
        posterior = ed.initializers.TrainableNormal(
            "glorot_uniform", ed.initializers.ScaledNormalStdDev(sizes.first_variance)
        )
        cost = ed.regularizers.NormalKLDivergence(
            stddev=sizes.prior_stddev, scale_factor=scale
        )
        options = {"kernel_initializer": posterior, "kernel_regularizer": cost}
    shape = sizes.hidden, sizes.layers, sizes.heads, sizes.filter
    values = len(WORDS), END + 1
    return ed.models.build_transformer(*values, SOURCE_LENGTH, LENGTH, *shape, **options)


def logits_of(model, seed, sources, given):
    """Logits [B, 7, 11] of one draw of the weights, the same on every mesh."""
    weights = parallel.sample_weights(model, seed, sources.shape[0])
    with ed.hold(model, weights):
        return model([sources, given])


def loss_of(model, logits, targets, counts):
    """Bound on the negative log likelihood of a number, in nats."""
    nats = tf.nn.sparse_softmax_cross_entropy_with_logits(targets, logits)
    return tf.reduce_mean(tf.reduce_sum(counts * nats, axis=1)) + sum(model.losses)


def train(model, data, optimizer, steps, batch, seed, mesh=None):
    """Fits a model, which lies on a mesh or not.

    Returns:
        The loss of each step, a list of floats.
    """
    variables = model.trainable_variables
    optimizer.build(variables)

    @tf.function
    def step(draw, sources, targets, given, counts):
        with tf.GradientTape() as tape:
            logits = logits_of(model, draw, sources, given)
            loss = loss_of(model, logits, targets, counts)
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(list(zip(gradients, variables, strict=True)))
        return loss

    generator, losses = np.random.default_rng(seed), []
    for number in range(steps):
        rows = generator.choice(len(data[0]), batch, replace=False)
        draw = parallel.place(tf.constant([seed, number]), mesh)
        losses.append(step(draw, *(_place(x[rows], mesh) for x in data)))
    return [float(parallel.gather(loss)) for loss in losses]


def _place(array, mesh):
    return parallel.place(array, mesh, [parallel.BATCH])


def predict(one_draw, data, draws, batch, seed, mesh=None):
    """Probabilities [N, 7, 11] of each digit given those before, a mean over draws."""
    sources, _, given, _ = data
    total = np.zeros([*given.shape, END + 1])
    for number in range(draws):
        draw = parallel.place(tf.constant([-1 - seed, number]), mesh)
        for first in range(0, len(sources), batch):
            rows = slice(first, first + batch)
            parts = (_place(x[rows], mesh) for x in (sources, given))
            total[rows] += parallel.gather(one_draw(draw, *parts))
    return total / draws


def score(data, probabilities):
    """Dict of scores. A number is right if each digit, and its end, is the likeliest."""
    _, targets, _, counts = data
    right = np.argmax(probabilities, -1) == targets
    counted = counts > 0
    labels, found = targets[counted], np.maximum(probabilities[counted], 1e-9)
    error = ed.uncertainty.expected_calibration_error(labels, found.astype(np.float32))
    return {
        "digits_right": float(right[counted].mean()),
        "numbers_right": float(np.all(right | ~counted, axis=1).mean()),
        "negative_log_likelihood": float(-np.log(found[range(len(labels)), labels]).mean()),
        "calibration_error": float(error),
    }


def run(method, seed, sizes, options, mesh=None):
    """Trains and judges a model; a dict of its losses and scores."""
    tf.keras.utils.set_random_seed(seed)
    data, model = make_data(sizes, seed), make_model(method, sizes)
    if mesh is not None:
        parallel.shard(model, mesh)
    optimizer, steps = OPTIMIZERS[options.optimizer](), options.steps or sizes.steps
    start = time.process_time()
    losses = train(model, data["train"], optimizer, steps, sizes.batch, seed, mesh)
    seconds = time.process_time() - start
    draws = 1 if method == "deterministic" else sizes.draws
    found = {"seed": seed, "method": method, "seconds": seconds, "losses": losses}

    @tf.function
    def one_draw(*batch):
        return tf.nn.softmax(logits_of(model, *batch))

    for name in ("test", "hesitant"):
        probabilities = predict(one_draw, data[name], draws, sizes.batch, seed, mesh)
        found[name] = score(data[name], probabilities)
        numbers = ", ".join(f"{key} {value:.3f}" for key, value in found[name].items())
        print(f"seed {seed}, {method}, {name}: {numbers}", flush=True)
    return found


def start_mesh(sizes):
    """The mesh `--mesh` asks for, on GPUs or else on eight virtual CPU devices."""
    # DTensor's own use of protobuf, for each program anew.
    warnings.filterwarnings("ignore", "MessageFactory class is deprecated")
    if not tf.config.list_physical_devices("GPU"):
        parallel.make_virtual_cpus(8)
    return parallel.make_mesh(sizes)


def parse(arguments):
    parser = experiment.make_parser("translation", __doc__, method=METHODS)
    parser.add_argument("--steps", type=int, help="of training")
    parser.add_argument("--optimizer", choices=OPTIMIZERS, default="adam")
    parser.add_argument("--mesh", help="devices along batch x model, such as 2x4")
    return parser.parse_args(arguments)


def main(arguments=None):
    options = parse(arguments)
    sizes = SMALL if options.small else Sizes()
    try:
        mesh = options.mesh and start_mesh(options.mesh)
        results = [
            run(method, seed, sizes, options, mesh)
            for seed in options.seed
            for method in options.method
        ]
    except parallel.MeshError as error:
        print(f"translation.py: {error}", file=sys.stderr)
        sys.exit(2)
    out = options.out or pathlib.Path("logdir", "translation.json")
    experiment.save(out, sizes, results, arguments)


if __name__ == "__main__":
    main()

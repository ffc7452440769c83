"""How often events happen along a line, learned from where they happened, with bands.

    rate(s) = 2 exp(-s / 15) + exp(-((s - 25) / 10)^2),  0 < s < 50

The rate is unknown; one pattern of events that it made is given. A sparse Gaussian process
through a softplus is the posterior of the rate, and its lengthscale and variance are
learned. Scores: root mean squared error of the rate, the share of the line on which the
truth lies in the central 90 % band of draws, and the mean log probability of the counts of
other patterns of the same rate; beside it the same of a constant rate, and of the truth.
The picture is of the first seed.

Sources: Adams et al., 2009, Tractable Nonparametric Bayesian Inference in Poisson Processes
with Gaussian Process Intensities, section 5.1, for the rate; Tran et al., 2019, Bayesian
Layers, figure 9.
"""

import dataclasses
import os
import pathlib
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from scipy import stats  # noqa: E402

import bayes_rl as ed  # noqa: E402
from examples import experiment  # noqa: E402

END = 50.0  # of the line
LEVEL = 0.9  # of bands


@dataclasses.dataclass(frozen=True)
class Sizes:
    """What `--small` makes small, and what was chosen."""

    cells: int = 100
    patterns: int = 20  # to judge by
    inducing: int = 20
    steps: int = 1500
    draws: int = 200
    rate: float = 0.02  # of Adam


SMALL = Sizes(cells=10, patterns=2, inducing=4, steps=5, draws=5)


def truth(places):
    """The rate of events at places [...]."""
    return 2.0 * np.exp(-places / 15.0) + np.exp(-(((places - 25.0) / 10.0) ** 2))


def make_cells(count):
    """Centers of cells [count], and their width."""
    width = END / count
    return (np.arange(count) + 0.5) * width, width


def make_counts(sizes, seed):
    """Counts [1 + patterns, cells] of events, of the pattern to learn from and others."""
    places, width = make_cells(sizes.cells)
    shape = [1 + sizes.patterns, sizes.cells]
    return np.random.default_rng(seed).poisson(width * truth(places), shape)


def make_process(sizes):
    """A Poisson process from places [cells, 1] to counts [cells, 1]."""
    _, width = make_cells(sizes.cells)
    anchors = np.linspace(0.0, END, sizes.inducing, dtype=np.float32)[:, None]
    function = ed.layers.SparseGaussianProcess(
        1,
        sizes.inducing,
        covariance_fn=ed.layers.ExponentiatedQuadratic(1.0, 10.0, True),
        inducing_inputs_initializer=tf.keras.initializers.Constant(anchors),
        inducing_outputs_initializer="trainable_multivariate_normal",
    )
    rate = tf.keras.Sequential([function, tf.keras.layers.Activation("softplus")])
    return ed.layers.PoissonProcess(rate=rate, volume=width)


def train(process, places, counts, sizes):
    """Maximizes the evidence bound of counts [cells] by Adam."""
    process(places)
    optimizer = tf.keras.optimizers.Adam(
        tf.keras.optimizers.schedules.CosineDecay(sizes.rate, sizes.steps)
    )
    observed = tf.constant(counts[:, None], tf.float32)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            found = process(places)
            loss = -tf.reduce_sum(found.log_prob(observed)) + sum(process.losses)
        gradients = tape.gradient(loss, process.trainable_weights)
        optimizer.apply_gradients(zip(gradients, process.trainable_weights, strict=True))

    for _ in range(sizes.steps):
        step()


def score(rates, patterns):
    """Dict of scores of draws of the rate [S, cells], on counts [patterns, cells]."""
    places, width = make_cells(rates.shape[1])
    right, error = truth(places), rates.mean(axis=0) - truth(places)
    found = {"error": float(np.sqrt(np.mean(error**2)))}
    if len(rates) > 1:
        found["coverage"] = float(ed.uncertainty.interval_coverage(rates, right, LEVEL))
    return found | {"log_probability": log_probability(rates, width, patterns)}


def log_probability(rates, width, counts):
    """Mean over cells and patterns of the log probability of counts, in nats.

    Args:
        rates: [S, cells], draws.
        width: of a cell.
        counts: [patterns, cells].
    """
    each = stats.poisson.logpmf(counts, width * rates[:, None])  # [S, patterns, cells]
    return float(np.log(np.exp(each).mean(axis=0)).mean())


def run(seed, sizes):
    """Learns from a pattern and judges.

    Returns:
        List of a dict of scores for each method, and draws of the rate [S, cells].
    """
    experiment.start(seed)
    places, _ = make_cells(sizes.cells)
    counts, others = np.split(make_counts(sizes, seed), [1])
    start = time.process_time()
    process, inputs = make_process(sizes), tf.constant(places[:, None], tf.float32)
    train(process, inputs, counts[0], sizes)
    seconds = time.process_time() - start
    rates = np.array([process.rate(inputs)[:, 0] for _ in range(sizes.draws)], float)
    constant = np.full([1, len(places)], counts.sum() / END)
    results = [{"seed": seed, "method": "gaussian_process", "seconds": seconds}]
    results += [{"seed": seed, "method": name} for name in ("constant", "truth")]
    for found, own in zip(results, (rates, constant, truth(places)[None]), strict=True):
        found["test"] = score(own, others)
        numbers = ", ".join(f"{key} {value:.3f}" for key, value in found["test"].items())
        print(f"seed {seed}, {found['method']}: {numbers}", flush=True)
    return results, rates


def draw(places, rates, counts, file):
    """The learned rate with its band, the truth, and the events by cell."""
    figure = Figure(figsize=(8, 4), layout="constrained")
    panel = figure.subplots()
    ends = np.quantile(rates, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    panel.fill_between(places, *ends, alpha=0.3, label=f"{LEVEL:.0%} of draws")
    panel.plot(places, rates.mean(axis=0), label="mean")
    panel.plot(places, truth(places), "k--", linewidth=1, label="truth")
    panel.plot(np.repeat(places, counts), np.zeros(counts.sum()), "k|", label="events")
    panel.set(xlabel="place", ylabel="events per unit")
    panel.legend()
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file)


def main(arguments=None):
    options = experiment.make_parser("cox_process", __doc__).parse_args(arguments)
    sizes = SMALL if options.small else Sizes()
    out = options.out or pathlib.Path("logdir", "cox_process.json")
    results, rates = zip(*(run(seed, sizes) for seed in options.seed), strict=True)
    counts = make_counts(sizes, options.seed[0])[0]
    draw(make_cells(sizes.cells)[0], rates[0], counts, out.with_suffix(".png"))
    experiment.save(out, sizes, sum(results, []), arguments)


if __name__ == "__main__":
    main()

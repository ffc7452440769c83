"""How far regressions know what they do not know: diabetes, and a curve with a gap.

Six ways to predict a number: a plain network, Dense Flipout, deterministic variational
inference, NUTS over a network's weights, a deep Gaussian process, and a Gaussian process
whose hyperparameters are learned. Each says a mixture of normal distributions for each
input. Scores: negative log likelihood, continuous ranked probability score, root mean
squared error, and how many targets lie in the central 90 % interval; diabetes is measured
in units of its spread. Half the curve's tests lie in the gap, where no data were. A picture
shows what each says of the curve, of the first seed.

Sources: Tran et al., 2019, Bayesian Layers; Foong et al., 2019, 'In-Between' Uncertainty in
Bayesian Neural Networks, for the gap; those of the methods stand with their layers.
"""

import os
import pathlib
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from sklearn import datasets, model_selection, preprocessing  # noqa: E402

import bayes_rl as ed  # noqa: E402
from examples import experiment  # noqa: E402
from examples.methods.regression_methods import METHODS, SMALL, Sizes  # noqa: E402

NOISE = 0.1  # stddev of the curve's data
GAP, END = 0.7, 2.0  # data lie between these, to either side
LEVEL = 0.9  # of the interval


def curve(inputs):
    """The truth of the toy, [N, 1] -> [N]."""
    return 1.5 * np.cos(2.0 * inputs[:, 0]) + 0.5 * inputs[:, 0]


def make_curve(sizes, seed):
    """Training data on both sides of a gap, tests inside of it and beside it."""
    generator = np.random.default_rng(seed)

    def draw(low, high, count):
        sides = generator.choice([-1, 1], [count, 1])
        inputs = (generator.uniform(low, high, [count, 1]) * sides).astype(np.float32)
        noise = NOISE * generator.standard_normal(count)
        return inputs, (curve(inputs) + noise).astype(np.float32)

    train, half = draw(GAP, END, sizes.curve), sizes.tests // 2
    return {"train": train, "beside": draw(GAP, END, half), "gap": draw(0.0, GAP, half)}


def make_diabetes(sizes, seed):
    """Patients, with inputs and targets standardized by those of training."""
    inputs, targets = datasets.load_diabetes(return_X_y=True)
    parts = model_selection.train_test_split(
        inputs, targets[:, None], test_size=sizes.tests, random_state=seed
    )
    inputs, others, targets, their = parts
    inputs, targets = inputs[: sizes.patients], targets[: sizes.patients]
    scale = preprocessing.StandardScaler().fit(inputs), preprocessing.StandardScaler()
    scale[1].fit(targets)
    pairs = {"train": (inputs, targets), "test": (others, their)}
    return {
        name: tuple(
            s.transform(x).astype(np.float32) for s, x in zip(scale, pair, strict=True)
        )
        for name, pair in pairs.items()
    }


DATA = {"diabetes": make_diabetes, "curve": make_curve}


def score(prediction, targets, seed, level=LEVEL):
    """Dict of scores of a mixture of normal distributions.

    Args:
        prediction: means and stddevs [S, N].
        targets: [N].
        seed: of draws of the outcome.
        level: of the interval whose coverage is a score.
    """
    mixture = ed.Normal(*map(tf.constant, prediction))
    means, stddevs = prediction
    generator = np.random.default_rng(seed)
    picked = generator.integers(len(means), size=[1000, 1]), np.arange(len(targets))
    noise = generator.standard_normal([1000, len(targets)])
    draws = (means[picked] + stddevs[picked] * noise).astype(np.float32)
    crps = ed.uncertainty.continuous_ranked_probability_score(draws, targets)
    error = means.mean(axis=0) - targets
    nats = ed.uncertainty.log_score(mixture, targets)
    return {
        "negative_log_likelihood": float(tf.reduce_mean(nats)),
        "crps": float(tf.reduce_mean(crps)),
        "error": float(np.sqrt(np.mean(error**2))),
        "coverage": float(ed.uncertainty.interval_coverage(draws, targets, level)),
    }


def run(method, kind, seed, sizes):
    """Trains and judges a method on one kind of data.

    Returns:
        Dict of scores, and the predictor.
    """
    experiment.start(seed)
    data, start = DATA[kind](sizes, seed), time.process_time()
    inputs, targets = data.pop("train")
    predict = METHODS[method](inputs, np.reshape(targets, [-1]), sizes, seed)
    found = {"seed": seed, "method": method, "data": kind}
    found["seconds"] = time.process_time() - start
    for name, (tests, truth) in data.items():
        found[name] = score(predict(tests), np.reshape(truth, [-1]), seed)
        numbers = ", ".join(f"{key} {value:.3f}" for key, value in found[name].items())
        print(f"seed {seed}, {method}, {kind}, {name}: {numbers}", flush=True)
    return found, predict


def draw(predictors, train, file):
    """The classic picture: mean and bands of two stddevs over the curve and its gap."""
    figure = Figure(figsize=(12, 6), layout="constrained")
    grid = np.linspace(-2.6, 2.6, 261, dtype=np.float32)[:, None]
    panels = figure.subplots(2, 3, sharex=True, sharey=True).flat
    for panel, (method, predict) in zip(panels, predictors.items(), strict=False):
        means, stddevs = predict(grid)
        mean = means.mean(axis=0)
        spread = 2 * np.sqrt(means.var(axis=0) + (stddevs**2).mean(axis=0))
        panel.fill_between(grid[:, 0], mean - spread, mean + spread, alpha=0.25)
        panel.plot(grid, mean)
        panel.plot(grid, curve(grid), "k--", linewidth=0.8)
        panel.plot(*train, "k.", markersize=3)
        panel.set(ylim=(-4, 4), title=method.replace("_", " "))
    figure.suptitle("mean and two stddevs of the outcome; dashed: the truth", fontsize=10)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file)


def main(arguments=None):
    parser = experiment.make_parser("regression", __doc__, method=METHODS, data=DATA)
    options = parser.parse_args(arguments)
    sizes = SMALL if options.small else Sizes()
    out = options.out or pathlib.Path("logdir", "regression.json")
    results, predictors = [], {}
    for seed in options.seed:
        for kind in options.data:
            for method in options.method:
                found, predict = run(method, kind, seed, sizes)
                results.append(found)
                if kind == "curve" and seed == options.seed[0]:
                    predictors[method] = predict
    if predictors:
        train = make_curve(sizes, options.seed[0])["train"]
        draw(predictors, train, out.with_suffix(".png"))
    experiment.save(out, sizes, results, arguments)


if __name__ == "__main__":
    main()

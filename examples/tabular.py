"""How far regressions of tables know what they do not know: four of scikit-learn's.

    diabetes, 442 patients; Friedman's three functions of random inputs, 200 rows to learn

Each says a mixture of normal distributions for each row, in units of the training targets'
spread. Tests are rows like those of training, and rows outside of them: the tenth with the
highest values of the input that correlates most with the target, which no training has.
Scores: negative log likelihood, continuous ranked probability score, root mean squared
error, and how many targets lie in the central 80 % interval.

Each method has the same budget: four settings, of which it takes the one with the highest
likelihood of a fifth of the training rows, and learns all of them with it. Two have none:
`dense` and `dense_flipout` show what the layers do by default.

Sources: Breiman, 1996, Bagging Predictors, section 3, for Friedman's data and their sizes;
those of the methods stand with their layers.
"""

import os
import pathlib
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np  # noqa: E402
from sklearn import datasets, model_selection, preprocessing  # noqa: E402

from examples import experiment, regression  # noqa: E402
from examples.methods.tabular_methods import METHODS, SMALL, Sizes, choose  # noqa: E402

LEVEL = 0.8  # of the interval
_TESTS = 0.2  # share of diabetes
_OUTSIDE = 0.1  # share of all rows


def diabetes(sizes, seed):
    inputs, targets = datasets.load_diabetes(return_X_y=True)
    return inputs, targets, _TESTS


def friedman1(sizes, seed):
    data = datasets.make_friedman1(sizes.generated, 10, noise=1.0, random_state=seed)
    return *data, _all_but(sizes.train)


def friedman2(sizes, seed):
    data = datasets.make_friedman2(sizes.generated, noise=125.0, random_state=seed)
    return *data, _all_but(sizes.train)


def friedman3(sizes, seed):
    data = datasets.make_friedman3(sizes.generated, noise=0.1, random_state=seed)
    return *data, _all_but(sizes.train)


def _all_but(count):
    return lambda rows: rows - count


DATA = {each.__name__: each for each in (diabetes, friedman1, friedman2, friedman3)}


def make_data(kind, sizes, seed):
    """Dict of name -> inputs [N, features] and targets [N]: train, test and outside.

    All are standardized by the training rows.
    """
    inputs, targets, tests = DATA[kind](sizes, seed)
    correlations = [abs(np.corrcoef(x, targets)[0, 1]) for x in inputs.T]
    leading = inputs[:, np.argmax(correlations)]
    is_outside = leading > np.quantile(leading, 1.0 - _OUTSIDE)
    own = inputs[~is_outside], targets[~is_outside]
    tests = tests(len(own[0])) if callable(tests) else tests
    parts = model_selection.train_test_split(*own, test_size=tests, random_state=seed)
    scale = preprocessing.StandardScaler().fit(parts[0])
    mean, spread = parts[2].mean(), parts[2].std()
    pairs = {"train": parts[::2], "test": parts[1::2]}
    pairs["outside"] = inputs[is_outside], targets[is_outside]
    return {
        name: (scale.transform(x).astype(np.float32), np.float32((y - mean) / spread))
        for name, (x, y) in pairs.items()
    }


def run(method, kind, seed, sizes):
    """Trains and judges a method on one kind of data; a dict of its scores.

    Seconds are those of the training with the setting that was chosen.
    """
    experiment.start(seed)
    data = make_data(kind, sizes, seed)
    inputs, targets = data.pop("train")
    chosen = choose(method, inputs, targets, sizes, seed)
    start = time.process_time()
    predict = METHODS[method](inputs, targets, chosen, seed)
    found = {"seed": seed, "method": method, "data": kind}
    found["seconds"] = time.process_time() - start
    for name, (tests, truth) in data.items():
        scores = regression.score(predict(tests), truth, seed, LEVEL)
        scores["coverage_80"] = scores.pop("coverage")
        found[kind if name == "test" else f"{kind}_{name}"] = scores
        numbers = ", ".join(f"{key} {value:.3f}" for key, value in scores.items())
        print(f"seed {seed}, {method}, {kind}, {name}: {numbers}", flush=True)
    return found


def main(arguments=None):
    parser = experiment.make_parser("tabular", __doc__, method=METHODS, data=DATA)
    options = parser.parse_args(arguments)
    sizes = SMALL if options.small else Sizes()
    results = [
        run(method, kind, seed, sizes)
        for seed in options.seed
        for kind in options.data
        for method in options.method
    ]
    out = options.out or pathlib.Path("logdir", "tabular.json")
    experiment.save(out, sizes, results, arguments)


if __name__ == "__main__":
    main()

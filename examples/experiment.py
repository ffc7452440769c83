"""What the programs share: their command line, scores of predictions, the result file."""

import argparse
import dataclasses
import json
import pathlib
import subprocess
import sys

import numpy as np
import tensorflow as tf
from scipy import ndimage
from sklearn import metrics

import bayes_rl as ed

_FOLDER = pathlib.Path(__file__).parent
BINS = 10  # of confidence, in calibration errors and reliability plots
_SMALLEST = 1e-9  # probability that is told from 0


def make_parser(name, about, **choices):
    """A parser with `--seed`, `--small`, `--out` and words of which some may be chosen.

    Args:
        name: of the program, without its ending.
        about: its docstring, whose first line is shown.
        **choices: name of an option -> all its words, which are the default.
    """
    parser = argparse.ArgumentParser(f"{name}.py", description=about.splitlines()[0])
    parser.add_argument("--seed", type=int, nargs="+", default=[0], help="one or more")
    parser.add_argument("--small", action="store_true", help="all of it in seconds")
    parser.add_argument("--out", type=pathlib.Path, help="file of results, JSON")
    for option, words in choices.items():
        parser.add_argument(f"--{option}", nargs="+", choices=words, default=list(words))
    return parser


def start(seed):
    """Makes all that follows depend on the seed alone, not on what ran before."""
    tf.keras.backend.clear_session()  # draws depend on the names of layers
    tf.keras.utils.set_random_seed(seed)


def save(path, sizes, results, arguments=None):
    """Writes what was found to a file, in a folder that is made where it is missing.

    Args:
        path: `pathlib.Path`.
        sizes: dataclass of what was chosen.
        results: list of dicts.
        arguments: of the program; default: those of the process.
    """
    words = sys.argv[1:] if arguments is None else arguments
    facts = {"arguments": words, "commit": commit(), "sizes": dataclasses.asdict(sizes)}
    facts["results"] = results
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(facts, indent=1) + "\n")


def commit():
    """Of this code, with `+changes` where it was changed since; "unknown" without git."""
    words = ["git", "describe", "--always", "--dirty=+changes", "--abbrev=12"]
    try:
        done = subprocess.run(words, cwd=_FOLDER, capture_output=True, text=True)
    except OSError:  # git is not installed
        return "unknown"
    return done.stdout.strip() or "unknown"


def rotated(images, generator):
    """Images [N, rows, columns, 1], each turned by 15 to 45 degrees to either side."""
    angles = generator.uniform(15, 45, len(images)) * generator.choice([-1, 1], len(images))
    pairs = zip(images, angles, strict=True)
    return np.stack([ndimage.rotate(x, a, reshape=False, order=1) for x, a in pairs])


def classification_scores(labels, probabilities):
    """How right and how honest probabilities of classes are.

    Args:
        labels: [N], int.
        probabilities: [N, classes], means over draws.

    Returns:
        Dict of accuracy, negative log likelihood (nats), calibration error and Brier score,
        each a mean over examples, and of `reliability`: for each bin of confidence
        [number of examples, of right ones, sum of confidence].

    Example:
        >>> found = classification_scores([0, 1], [[0.95, 0.05], [0.85, 0.15]])
        >>> found["accuracy"], round(found["calibration_error"], 3)
        (0.5, 0.45)
        >>> found["reliability"][8:]
        [[1, 0, 0.85], [1, 1, 0.95]]
    """
    labels, probabilities = np.asarray(labels), np.asarray(probabilities, np.float64)
    confidence, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == labels
    bins = np.ceil(confidence * BINS).astype(int) - 1
    own = np.maximum(probabilities[range(len(labels)), labels], _SMALLEST)
    error = ed.uncertainty.expected_calibration_error(labels, probabilities, BINS)
    return {
        "accuracy": float(right.mean()),
        "negative_log_likelihood": float(-np.log(own).mean()),
        "calibration_error": float(error),
        "brier": float(np.mean(ed.uncertainty.brier_score(labels, probabilities))),
        "reliability": [
            [int(sum(x)), int(sum(right[x])), float(sum(confidence[x]))]
            for x in (bins == number for number in range(BINS))
        ],
    }


def entropy(probabilities):
    """Entropy in nats, [..., classes] -> [...]."""
    return -np.sum(probabilities * np.log(np.maximum(probabilities, _SMALLEST)), axis=-1)


def auroc(known, unknown):
    """Chance that an unknown input has a higher score than a known one.

    Args:
        known: [N], such as the entropy of predictions.
        unknown: [M].

    Returns:
        Area under the curve of true over false alarms: 0.5 where scores tell nothing.

    Example:
        >>> auroc([0.0, 1.0], [2.0, 0.5])
        0.75
    """
    is_unknown = np.repeat([0, 1], [len(known), len(unknown)])
    return float(metrics.roc_auc_score(is_unknown, np.concatenate([known, unknown])))

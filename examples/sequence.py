"""What a Bayesian LSTM knows of a grammar, and where it knows that two symbols may follow.

    B T S S X X T V P S E        one of the strings of Reber's grammar

A network reads a string and says the next symbol after each. The grammar allows one symbol,
or two with equal chance: a model that knows it has an entropy of 0 or of log 2 = 0.693. It
learns short strings, few of them, and is judged on other short ones and on longer ones than
it saw. Of a Bayesian LSTM the entropy is split: into what is in the grammar, the mean
entropy of each draw of the weights, and what draws disagree in, which more strings would
teach. Its twin has one value for each weight, the most probable one under the same prior.

Sources: Reber, 1967, Implicit Learning of Artificial Grammars; Fortunato et al., 2017,
Bayesian Recurrent Neural Networks; Tran et al., 2019, Bayesian Layers, figure 1.
"""

import os
import pathlib
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

import bayes_rl as ed  # noqa: E402
from examples import experiment  # noqa: E402
from examples.methods.sequence_methods import (  # noqa: E402
    METHODS,
    PADDING,
    SMALL,
    Sizes,
)

SYMBOLS = "BTSXPVE"
# state -> symbols that may follow, each with the state after it
GRAMMAR = (
    {"B": 1},
    {"T": 2, "P": 3},
    {"S": 2, "X": 4},
    {"T": 3, "V": 5},
    {"X": 3, "S": 6},
    {"P": 4, "V": 6},
    {"E": 7},
)
_END = 7  # the state after the last symbol


def make_string(generator):
    """A string of the grammar, each of the symbols that may follow with equal chance."""
    state, string = 0, ""
    while state != _END:
        symbol = generator.choice(list(GRAMMAR[state]))
        string, state = string + symbol, GRAMMAR[state][symbol]
    return string


def choices(string):
    """How many symbols may follow each symbol of a string but the last.

    Example:
        >>> choices("BTXSE")
        [2, 2, 2, 1]
    """
    state, counts = 0, []
    for symbol in string[:-1]:
        state = GRAMMAR[state][symbol]
        counts.append(len(GRAMMAR[state]))
    return counts


def make_strings(count, shortest, longest, generator, known=()):
    """List of so many different strings of these lengths, none of them known."""
    found = set()
    while len(found) < count:
        string = make_string(generator)
        if shortest <= len(string) <= longest and string not in known:
            found.add(string)
    return sorted(found)


def encode(strings, length):
    """Inputs [N, length - 1, 7] and the symbols after them [N, length - 1], padded."""
    codes = np.full([len(strings), length], PADDING)
    for code, string in zip(codes, strings, strict=True):
        code[: len(string)] = [SYMBOLS.index(symbol) for symbol in string]
    inputs = codes[:, :-1, None] == np.arange(len(SYMBOLS))
    return inputs.astype(np.float32), codes[:, 1:]


def make_data(sizes, seed):
    """Dict of name -> strings: `train`, `test` and `long`."""
    generator = np.random.default_rng(seed)
    train = make_strings(sizes.train, 5, sizes.longest, generator)
    test = make_strings(sizes.tests, 5, sizes.longest, generator, train)
    long = make_strings(sizes.tests, sizes.longest + 1, sizes.long, generator)
    return {"train": train, "test": test, "long": long}


def score(strings, labels, probabilities):
    """Dict of scores of the symbols, and of entropies in nats by number of choices.

    Args:
        strings: list of N.
        labels: [N, T], of the symbols that follow, padded.
        probabilities: [S, N, T, 7], of draws.
    """
    counted = labels != PADDING
    draws, labels = probabilities[:, counted], labels[counted]
    number = np.concatenate([choices(string) for string in strings])
    parts = ed.uncertainty.entropy_parts(ed.Categorical(probs=draws))
    found = experiment.classification_scores(labels, draws.mean(axis=0))
    for name, count in (("certain", 1), ("ambiguous", 2)):
        own = number == count
        for part in ("total", "epistemic"):
            values = getattr(parts, part).numpy()[own]
            found[f"{part}_entropy_{name}"] = float(values.mean())
    return found | {"truth": float(np.log(number).mean())}


def run(method, seed, sizes):
    """Trains and judges a model; a dict of its scores."""
    experiment.start(seed)
    data = make_data(sizes, seed)
    train, start = encode(data["train"], sizes.longest), time.process_time()
    logits = METHODS[method](train, sizes, seed)
    found = {"seed": seed, "method": method, "seconds": time.process_time() - start}
    for name, length in (("test", sizes.longest), ("long", sizes.long)):
        inputs, labels = encode(data[name], length)
        probabilities = tf.nn.softmax(logits(inputs)).numpy()
        found[name] = score(data[name], labels, probabilities)
        pairs = ((k, v) for k, v in found[name].items() if k != "reliability")
        numbers = ", ".join(f"{key} {value:.3f}" for key, value in pairs)
        print(f"seed {seed}, {method}, {name}: {numbers}", flush=True)
    return found


def main(arguments=None):
    parser = experiment.make_parser("sequence", __doc__, method=METHODS)
    options = parser.parse_args(arguments)
    sizes = SMALL if options.small else Sizes()
    results = [run(m, seed, sizes) for seed in options.seed for m in options.method]
    out = options.out or pathlib.Path("logdir", "sequence.json")
    experiment.save(out, sizes, results, arguments)


if __name__ == "__main__":
    main()

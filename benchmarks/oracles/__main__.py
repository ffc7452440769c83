"""Holds `ed.inference` and `ed.uncertainty` against laplace-torch, ivon-opt and mapie.

They need PyTorch, and so an environment of their own:

    python -m venv other && other/bin/pip install laplace-torch ivon-opt mapie
    python -m benchmarks.oracles other/bin/python

Prints the largest difference of each number from theirs, relative to the largest of theirs.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

from benchmarks.oracles.others import CLASSES, FEATURES, HIDDEN, STRUCTURES

COUNT, LEVEL, DELTA, DRAWS = 40, 0.8, 2.0, 2000
IVON = (0.1, 40.0, 0.5, 0.9, 0.99, 0.05)  # rate, lambda, h, beta 1, beta 2, delta
STEPS = 20
# Variances are of draws here; those of others are exact.
MOST = {"variance": 5.0 * (2.0 / DRAWS) ** 0.5}
MOST_OTHERS = 1e-3


def make_questions():
    """Dict of name -> array, but for the noise of IVON."""
    generator = np.random.default_rng(0)

    def normal(*shape):
        return generator.standard_normal(shape).astype(np.float32)

    given = {"inputs": normal(COUNT, FEATURES), "numbers": normal(COUNT)}
    given["labels"] = generator.integers(CLASSES, size=COUNT)
    given |= {"means": normal(COUNT), "new_means": normal(COUNT)}
    for name in ("shares", "new_shares"):
        given[name] = generator.dirichlet(np.ones(CLASSES), COUNT)
    shapes = [FEATURES, HIDDEN], [HIDDEN], [HIDDEN, CLASSES], [CLASSES]
    given |= {f"weight{i}": normal(*shape) for i, shape in enumerate(shapes)}
    return given | {"delta": DELTA, "level": LEVEL, "ivon": np.array(IVON)}


def laplace_answers(given):
    """Evidence, and variances [N, classes, classes] of logits."""
    import tensorflow as tf

    import bayes_rl as ed

    dense = tf.keras.layers.Dense
    data, answers = (given["inputs"], given["labels"]), {}
    for subset in ("last_layer", "all"):
        for structure in STRUCTURES:
            has_bias = structure != "kronecker"
            hidden = dense(HIDDEN, "tanh", has_bias, input_shape=[FEATURES])
            model = tf.keras.Sequential([hidden, dense(CLASSES, use_bias=has_bias)])
            numbers = range(4) if has_bias else (0, 2)
            model.set_weights([given[f"weight{i}"] for i in numbers])
            found = ed.inference.laplace(
                model, data, "categorical", subset, structure, DELTA
            )
            key = f"{subset}, {structure}"
            answers[f"{key}, evidence"] = found.log_marginal_likelihood
            logits = found.predict(given["inputs"], DRAWS, 1, COUNT, verbose=0)
            away = logits - logits.mean(axis=0)
            answers[f"{key}, variance"] = np.einsum("snc,snd->ncd", away, away) / DRAWS
    return answers


def ivon_answers(given):
    """Mean and h after some steps, and the noise of their draws."""
    import tensorflow as tf

    import bayes_rl as ed

    weights, noise = tf.Variable(tf.ones([FEATURES])), []
    optimizer = ed.optimizers.IVON(*IVON, seed=1)
    optimizer.build([weights])
    for _ in range(STEPS):
        with optimizer.draw([weights]), tf.GradientTape() as tape:
            drawn = tf.convert_to_tensor(weights)
            errors = tf.linalg.matvec(given["inputs"], drawn) - given["numbers"]
            loss = 0.5 * tf.reduce_mean(errors**2)
        noise.append((drawn - weights.value()) / optimizer.stddev(weights))
        optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
    hessian = 1.0 / (IVON[1] * optimizer.stddev(weights).numpy() ** 2) - IVON[5]
    answers = {"ivon, mean": weights.numpy(), "ivon, hessian": hessian}
    return answers, {"noise": np.stack(noise)}


def conformal_answers(given):
    """Ends of intervals, and sets of classes."""
    from bayes_rl.uncertainty import conformal_intervals, conformal_sets

    regression = [given[name] for name in ("numbers", "means", "new_means")]
    classes = [given[name] for name in ("labels", "shares", "new_shares")]
    intervals = np.stack(conformal_intervals(*regression, level=LEVEL), axis=1)
    return {"intervals": intervals, "sets": conformal_sets(*classes, level=LEVEL)}


def ask(python, given):
    """What other libraries answer; a dict of name -> array."""
    with tempfile.TemporaryDirectory() as folder:
        files = [str(pathlib.Path(folder, f"{x}.npz")) for x in ("questions", "answers")]
        np.savez(files[0], **given)
        program = pathlib.Path(__file__).with_name("others.py")
        subprocess.run([python, "-W", "ignore", str(program), *files], check=True)
        with np.load(files[1]) as file:
            return dict(file)


def difference(own, other):
    """The largest, relative to the largest of the other's numbers."""
    own, other = np.asarray(own, np.float64), np.asarray(other, np.float64)
    return float(np.max(np.abs(own - other)) / np.max(np.abs(other)))


def main(arguments=None):
    """Prints a line for each number; the exit status is 1 where one is another."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python", help="a Python that has the other libraries")
    options = parser.parse_args(arguments)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    given = make_questions()
    own, noise = ivon_answers(given)
    own |= laplace_answers(given) | conformal_answers(given)
    others = ask(options.python, given | noise)
    is_other = False
    for name, answer in own.items():
        found = difference(answer, others[name])
        most = MOST.get(name.rpartition(", ")[2], MOST_OTHERS)
        is_other |= found > most
        print(f"{name:<34} {found:.1e}, at most {most:.1e}{' !' * (found > most)}")
    sys.exit(int(is_other))


if __name__ == "__main__":
    main()

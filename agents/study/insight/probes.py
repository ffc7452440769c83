"""Probes: what of the physics the latent knows, read out by regressions.

A probe predicts velocities and positions of the simulator from numbers of a trained
model. It works on arrays, so no gradient can reach the model. With `observation=state`
velocities are inputs, and a probe says what the latent keeps; with `position` and `pixels`
it says what the latent has inferred.

Source: Hafner et al., 2019, Learning Latent Dynamics for Planning from Pixels, figure 7;
Tran et al., 2019, Bayesian Layers, figure 13. Their probes are trained beside the model.
"""

import numpy as np

from agents.episodes.layout import first_rows
from agents.planet.model.networks import is_image
from agents.study.insight.latents import (
    CONTEXT,
    PREDICTED,
    encode,
    filtered_features,
    open_loop_features,
)
from agents.study.insight.regression import (
    fit,
    fit_mlp,
    fit_ridge,
    predict_held_out,
    r_squared,
    r_squared_and_interval,
)

LEAST = 2  # episodes, so that one can be held out
PROBES = {"ridge": fit_ridge, "mlp": fit_mlp}


def physics(episodes, angles=()):
    """What probes predict: each velocity and each position, angles as cosine and sine.

    Angles are columns of `position`. Returns D names, and a list of [T, D].

    Example:
        >>> episode = {"velocity": np.array([[2.0]]), "position": np.array([[0.0, 3.0]])}
        >>> names, (target,) = physics([episode], angles=[0])
        >>> dict(zip(names, target[0].tolist()))
        {'velocity 0': 2.0, 'cos position 0': 1.0, 'sin position 0': 0.0, 'position 1': 3.0}
    """
    names = [f"velocity {n}" for n in range(episodes[0]["velocity"].shape[1])]
    columns = []
    for n in range(episodes[0]["position"].shape[1]):
        circle = [("cos position", n, np.cos), ("sin position", n, np.sin)]
        columns += circle if n in angles else [("position", n, np.array)]
    targets = [
        np.column_stack([e["velocity"], *(f(e["position"][:, n]) for _, n, f in columns)])
        for e in episodes
    ]
    return names + [f"{name} {n}" for name, n, _ in columns], targets


def probe_inputs(model, encoded, positions):
    """What probes read: latents, and what simpler readings of the model offer.

    The first row of an episode is left out, because nothing has moved yet. Positions are
    those of the physics, a list of [T, P]; where observations are pictures, a linear
    readout of them from the latents stands for decoded positions.

    The dict has lists of [T - 1, F]: `latent`, the features of every head under the mean
    weights; `embedding`, of the newest observation alone; `differences`, decoded positions
    and what they changed by since the row before.
    """
    latent = encoded.latents(model, model.central_weights())
    features = encoded.cut(latent.features)
    if is_image(model.observation_spec):
        decoded = predict_held_out(fit_ridge, features, positions)
    else:
        decoded = encoded.cut(model.expected_observation(latent.features))
    return {
        "latent": [rows[1:] for rows in features],
        "embedding": [rows[1:] for rows in encoded.cut(encoded.embedding)],
        "differences": [
            np.concatenate([rows[1:], np.diff(rows, axis=0)], axis=1) for rows in decoded
        ],
    }


class Probes:
    """All probes of a model, fitted to episodes and judged on those held out.

    Episodes are at least `LEAST`; angles are columns of `position`.
    """

    def __init__(self, model, episodes, angles, seed):
        self._model, self._episodes, self._seed = model, episodes, seed
        self._names, self._targets = physics(episodes, angles)
        self._velocities = sum(name.startswith("velocity") for name in self._names)
        positions = [target[:, self._velocities :] for target in self._targets]
        self._inputs = probe_inputs(model, encode(model, episodes, seed), positions)
        self._later = [target[1:] for target in self._targets]

    def scores(self):
        """Rows, see `score_probes`."""
        return score_probes(self._inputs, self._names, self._later)

    def readings(self):
        """Velocities of the last episode, read by a network fitted to the others.

        Dict of `filtered`, and `open_loop` after the first rows, as
        `agents.study.figures.predictions.save_state_prediction` takes them: the truth,
        [T, V], what is read from each weight draw, [S, T, V], the number of rows that the
        model saw, and the names. Empty where nothing has a velocity.
        """
        if not self._velocities:
            return {}
        model, seed = self._model, self._seed
        columns = slice(self._velocities)
        fitted_to = range(len(self._episodes) - 1)
        read = fit(fit_mlp, self._inputs["latent"], self._later, fitted_to)
        rows = min(CONTEXT + PREDICTED, len(self._targets[-1]))
        context = min(CONTEXT, rows - 1)
        episode = first_rows(self._episodes[-1], rows)
        features = {
            "filtered": (rows, filtered_features(model, episode, seed)),
            "open_loop": (context, open_loop_features(model, episode, context, seed)),
        }
        truth, names = self._targets[-1][:rows, columns], self._names[columns]
        return {
            kind: (truth, np.stack([read(each)[:, columns] for each in draws]), seen, names)
            for kind, (seen, draws) in features.items()
        }


def score_probes(inputs, names, targets):
    """Judges every probe on every input, and the mean, on held-out episodes.

    Inputs are a dict of lists of [T, F], targets a list of [T, D] with D names. Rows have
    `target`, `input`, `probe`, `r_squared` and the interval over episodes, `low` and
    `high`.
    """
    pairs = [(name, probe) for name in inputs for probe in PROBES] + [("mean", "")]
    rows = []
    for name, probe in pairs:
        regression, given = PROBES.get(probe), inputs.get(name, targets)
        predictions = predict_held_out(regression, given, targets)
        share = r_squared_and_interval(targets, predictions)
        rows += [
            {"target": target, "input": name, "probe": probe}
            | dict(zip(("r_squared", "low", "high"), map(float, numbers), strict=True))
            for target, *numbers in zip(names, *share, strict=True)
        ]
    return rows


def live_probe(model, episodes, angles, seed):
    """R squared of the linear probe of the latents, held out by episode, for the metrics.

    Episodes are at least 2, such as the newest of a run; they may have been trained on.
    Angles are columns of `position`. Dict of target, such as `velocity_0`, to R squared;
    those that never change are left out.
    """
    encoded = encode(model, episodes, seed)
    names, targets = physics(episodes, angles)
    latent = encoded.latents(model, model.central_weights())
    inputs = [rows[1:] for rows in encoded.cut(latent.features)]
    targets = [rows[1:] for rows in targets]
    share = r_squared(targets, predict_held_out(fit_ridge, inputs, targets))
    return {
        name.replace(" ", "_"): float(value)
        for name, value in zip(names, share, strict=True)
        if np.isfinite(value)
    }

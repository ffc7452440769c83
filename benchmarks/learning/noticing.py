"""Whether a run notices that its task has changed, and foresees its own return.

python -m benchmarks.learning.noticing RUN ...     # writes csv files in results/noticing

Each run acts in its task and in changed ones. `KINDS` says how surprising an episode is.
The score is the area under the ROC curve: the probability that a changed episode is more
surprising than an unchanged one. The forecast of a return is what the run's policy gets in
the model from an episode's first observation on. It is 80 % sure of the interval between
two quantiles of imagined returns, and should cover 80 % of those that come.
"""

import argparse
import contextlib
import dataclasses
import itertools
import pathlib
from typing import NamedTuple

import numpy as np
import pandas as pd
import tensorflow as tf
from scipy import special, stats

from agents.episodes.evaluation import Evaluator
from agents.episodes.layout import seen_keys
from agents.planet.planning.imagination import expect_next
from agents.study.insight.latents import encode, filter_latents
from agents.study.insight.spread import as_batch
from agents.system.errors import UserError
from agents.system.seeds import fold, normal
from agents.training.loading import load_agent
from bayes_rl.weights import hold

CHANGES = {  # factors, see `physics` in train.yaml
    ("small", "mass"): {"mass": 1.1},
    ("small", "friction"): {"friction": 1.5},
    ("small", "gain"): {"gain": 0.9},
    ("large", "mass"): {"mass": 1.5},
    ("large", "friction"): {"friction": 3.0},
    ("large", "gain"): {"gain": 0.7},
}
UNCHANGED = ("none", "none")
DECISIONS = (10, 50)  # from an episode's start, that are looked at
DRAWS = 20
SURE = 0.8  # share of returns that an interval is to cover
IMAGINED = 100  # returns of a forecast
_OUT = pathlib.Path(__file__).parents[2] / "results/noticing"


class Steps(NamedTuple):
    """What came in each step, and what had been expected of it one step before.

    Attributes:
        came: [T, D], mean of the latent after the step, which the filter sees.
        means: [S, T, D], which S draws of the weights expected.
        stddevs: [S, T, D], of the noise that they expected.
        mean: [T, D], which the mean weights expected, as a deterministic twin has them.
        stddev: [T, D], of the noise that these expected.
    """

    came: np.ndarray
    means: np.ndarray
    stddevs: np.ndarray
    mean: np.ndarray
    stddev: np.ndarray

    def first(self, count):
        """The first so many steps."""
        return Steps(*(each[..., :count, :] for each in self))


def expected_steps(model, episode, seed):
    """The `Steps` of an episode, [T - 1] of its T rows."""
    batch = as_batch(episode)
    embedding = model.embed(batch, fold(seed, 0))
    still = tf.zeros([*batch["is_first"].shape, model.rssm.latent_size])
    known = batch["action"], batch["is_first"], still
    latent = filter_latents(model, embedding, *known, model.central_weights())
    before, action = latent.features[:, :-1], batch["action"][:, 1:]
    each = expect_next(
        model, before, action, model.draw_weights(DRAWS, fold(seed, 1)), DRAWS
    )
    alone = expect_next(model, before, action, _one(model.central_weights()), 1)
    found = latent.mean[:, 1:], each.mean, each.stddev, alone.mean[0], alone.stddev[0]
    came, means, stddevs, mean, stddev = (x.numpy().astype(np.float64) for x in found)
    return Steps(came[0], means[:, 0], stddevs[:, 0], mean[0], stddev[0])


def of_draws(steps):
    """Mean over t of -log mean over k of N(z_t; m_kt, s_kt^2), draws k of the weights."""
    each = stats.norm.logpdf(steps.came, steps.means, steps.stddevs).sum(-1)
    return -np.mean(special.logsumexp(each, axis=0) - np.log(len(each)))


def of_mean_weights(steps):
    """Mean over t of -log N(z_t; m_t, s_t^2): by the noise that the twin expects."""
    return -np.mean(stats.norm.logpdf(steps.came, steps.mean, steps.stddev).sum(-1))


def of_spread(steps):
    """Root mean square over t and dimensions of the stddev over draws of m_kt."""
    return np.sqrt(np.mean(np.var(steps.means, axis=0)))


def of_mean_error(steps):
    """Sum over dimensions of (mean over t of (z_t - m_t) / s_t)^2. It needs no posterior.

    Errors that lean to one side all along point to another task, though each be small.
    """
    errors = (steps.came - steps.mean) / steps.stddev
    return np.sum(np.mean(errors, axis=0) ** 2)


def of_weights(steps):
    """How much better other weights, of those that the posterior is unsure of, would fit.

        sum over d of e^T K^-1 P K^-1 e / trace(K^-1 P),  K = P + diag(s^2)

    e [T] are the errors of a dimension, and P [T, T] is the covariance over draws of what
    the weights expect of it. It is the score test for a larger P: for weights that the
    data so far do not explain. Each dimension gives 1 if the weights are as learned.

    Source: Lin, 1997, Variance Component Testing in Generalised Linear Models with Random
    Effects, Biometrika 84.
    """
    about = np.moveaxis(steps.means - steps.means.mean(0), -1, 0)  # [D, S, T]
    covariance = np.swapaxes(about, 1, 2) @ about / (len(steps.means) - 1)
    noise = np.square(steps.stddev).T[:, :, np.newaxis] * np.eye(len(steps.came))
    weighed = np.linalg.solve(covariance + noise, covariance)  # K^-1 P
    errors = (steps.came - steps.mean).T[..., np.newaxis]
    solved = np.linalg.solve(covariance + noise, errors)
    fits = np.swapaxes(errors, 1, 2) @ weighed @ solved
    expected = np.trace(weighed, axis1=1, axis2=2)
    certain = expected < 1e-9  # rounding alone: such weights tell nothing
    return np.sum(np.where(certain, 0.0, fits[:, 0, 0] / np.where(certain, 1.0, expected)))


KINDS = {
    "draws": of_draws,
    "mean weights": of_mean_weights,
    "spread": of_spread,
    "mean error": of_mean_error,
    "weights": of_weights,
}


def imagine_returns(agent, episodes, seed):
    """Returns that the policy gets in the model, [IMAGINED, N] of N episodes.

    They are over the steps of the episodes, from the first observation of each, and of two
    kinds: "draws" of weights and noise, and "mean weights", of the noise alone.
    """
    model, steps = agent.model, len(episodes[0]["reward"]) - 1
    keys = (*seen_keys(episodes[0]), "action", "reward", "is_first")
    first = [{key: each[key][:1] for key in keys} for each in episodes]
    seen = encode(model, first, fold(seed, 0))._replace(
        noise=tf.zeros([len(episodes), 1, model.rssm.latent_size])
    )
    start = seen.latents(model, model.central_weights())
    start = tf.nest.map_structure(
        lambda x: tf.repeat(x[:, 0][tf.newaxis], IMAGINED, 0), start
    )
    noise = normal([steps, *start.sample.shape], fold(seed, 1))
    drawn = model.draw_weights(IMAGINED, fold(seed, 2))
    flat = tf.nest.map_structure(lambda x: tf.reshape(x, [1, -1, x.shape[-1]]), start)
    flat_noise = tf.reshape(noise, [steps, 1, -1, noise.shape[-1]])
    alone = _act_in_model(agent, flat, flat_noise, _one(model.central_weights()))
    return {
        "draws": _act_in_model(agent, start, noise, drawn).numpy(),
        "mean weights": tf.reshape(alone, noise.shape[1:3]).numpy(),
    }


@tf.function(autograph=False)
def _act_in_model(agent, latent, noise, weights):
    """Sums of rewards, [S, N] of latents [S, N, ...], of the policy under S draws."""
    model = agent.model

    def step(state, noise):
        latent, reached, total = state
        latent = model.rssm.imagine_step(latent, agent.value.act(latent.features), noise)
        total += reached * model.reward(latent.features)
        return latent, reached * model.continuation(latent.features), total

    with hold(model, weights):
        start = latent, tf.ones(noise.shape[1:3]), tf.zeros(noise.shape[1:3])
        return tf.foldl(step, noise, start)[2]


def _one(weights):
    """Weights of one function, as one draw."""
    return tf.nest.map_structure(lambda w: w[tf.newaxis], weights)


def auroc(changed, unchanged):
    """The probability that one of the first is above one of the second; ties count half.

    Example:
        >>> float(auroc([2.0, 3.0], [1.0, 2.0]))
        0.875
    """
    return stats.mannwhitneyu(changed, unchanged).statistic / len(changed) / len(unchanged)


def of_run(folder, episodes):
    """Rows of a run: areas of each change and kind of surprise; forecasts of each task."""
    config, agent = load_agent(folder)
    unchanged, forecasts = _act(config, agent, {}, episodes)
    forecasts = [dict(row, size="none", change="none") for row in forecasts]
    areas = []
    for (size, change), physics in CHANGES.items():
        changed, more = _act(config, agent, physics, episodes)
        forecasts += [dict(row, size=size, change=change) for row in more]
        areas += [
            {
                "size": size,
                "change": change,
                "decisions": decisions,
                "surprise": kind,
                "auroc": auroc(changed[kind, decisions], unchanged[kind, decisions]),
            }
            for kind, decisions in changed
        ]
    of = {"task": config.task, "seed": config.seed}
    return [of | row for row in areas], [of | row for row in forecasts]


def _act(config, agent, physics, episodes):
    """Surprises of episodes, by kind and decisions, and rows of forecasts of others."""
    limit = max(DECISIONS) * config.action_repeat
    factors = dataclasses.replace(config.physics, **physics)
    changed = dataclasses.replace(config, physics=factors, time_limit=limit)
    planned = _episodes(changed, agent, agent.policy, episodes)
    steps = [
        expected_steps(agent.model, each, tf.constant([number, config.seed]))
        for number, each in enumerate(planned)
    ]
    surprises = {
        (kind, decisions): [measure(each.first(decisions)) for each in steps]
        for (kind, measure), decisions in itertools.product(KINDS.items(), DECISIONS)
    }
    acted = _episodes(changed, agent, agent.policies.exploiting("policy"), episodes)
    came = np.array([each["reward"].sum() for each in acted])
    imagined = imagine_returns(agent, acted, tf.constant([episodes, config.seed]))
    forecasts = [forecast(returns, came) | {"kind": k} for k, returns in imagined.items()]
    return surprises, forecasts


def _episodes(config, agent, policy, count):
    with contextlib.closing(Evaluator(config, agent, policy)) as evaluator:
        return [episode for _, episode in evaluator.episodes(count)]


def forecast(imagined, came):
    """Mean forecast and mean return, and the share of returns in the interval.

    Of imagined returns [S, N] and those that came [N], over the N episodes.

    Example:
        >>> imagined = np.arange(11.0)[:, np.newaxis]  # 80 % are from 1 to 9
        >>> print(forecast(np.tile(imagined, 2), np.array([2.0, 9.5]))["covered"])
        0.5
    """
    low, high = np.quantile(imagined, [(1 - SURE) / 2, (1 + SURE) / 2], axis=0)
    return {
        "covered": np.mean((low <= came) & (came <= high)),
        "width": np.mean(high - low),
        "forecast": np.mean(imagined),
        "came": np.mean(came),
    }


def summed_up(areas):
    """Means of areas over runs with intervals over seeds, of all tasks and changes too."""
    keys = ["task", "size", "change", "decisions"]
    wide = pd.DataFrame(areas).pivot_table(
        index=[*keys, "seed"], columns="surprise", values="auroc"
    )
    for kind in wide.columns.drop("mean weights"):
        wide[f"{kind} minus mean weights"] = wide[kind] - wide["mean weights"]
    if {"weights", "mean error"} <= {*wide.columns}:
        wide["weights minus mean error"] = wide["weights"] - wide["mean error"]
    each = wide.reset_index().melt([*keys, "seed"], value_name="auroc")
    over = [
        each,
        each.assign(task="all tasks"),
        each.assign(change="all changes"),
        each.assign(task="all tasks", change="all changes"),
    ]
    return _over_seeds(pd.concat(over), [*keys, "surprise"], ["auroc"])


def forecasts_summed_up(rows):
    """Means of forecasts over runs with intervals over seeds, of all tasks too."""
    rows = pd.DataFrame(rows)
    rows = pd.concat([rows, rows.assign(task="all tasks")])
    numbers = ["covered", "width", "forecast", "came"]
    return _over_seeds(rows, ["task", "size", "change", "kind"], numbers)


def _over_seeds(rows, keys, numbers):
    of_seeds = rows.groupby([*keys, "seed"], sort=False)[numbers].mean()
    found = []
    for names, some in of_seeds.groupby(keys, sort=False):
        found.append(dict(zip(keys, names, strict=True)) | {"seeds": len(some)})
        for name, values in some.items():
            found[-1][name] = values.mean()
            if len(values) > 1 and np.ptp(values) > 0:
                interval = stats.bootstrap([values], np.mean, rng=0).confidence_interval
                found[-1] |= {f"{name}_low": interval.low, f"{name}_high": interval.high}
    return pd.DataFrame(found)


def main(arguments=None):
    parser = argparse.ArgumentParser(
        "python -m benchmarks.learning.noticing", description=__doc__.splitlines()[0]
    )
    parser.add_argument("runs", nargs="+", type=pathlib.Path)
    parser.add_argument("--episodes", type=int, default=20, help="of each change")
    parser.add_argument("--out", type=pathlib.Path, default=_OUT, help="folder")
    options = parser.parse_args(arguments)
    areas, forecasts = [], []
    for run in options.runs:
        try:
            found = of_run(run, options.episodes)
        except UserError as error:
            raise SystemExit(f"noticing: {error}") from None
        areas += found[0]
        forecasts += found[1]
        print(run, flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    tables = {"noticing": summed_up(areas), "forecasts": forecasts_summed_up(forecasts)}
    for name, table in tables.items():
        table.to_csv(options.out / f"{name}.csv", index=False, float_format="%.4g")


if __name__ == "__main__":
    main()

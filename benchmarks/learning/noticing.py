"""Whether a run notices that its task has changed, by how surprising its steps are.

python -m benchmarks.learning.noticing RUN ...     # writes noticing.csv of results/noticing

Each run acts in its task and in changed ones. A step surprises by

    draws         -log mean over k of N(z; m_k, s_k^2), over draws k of the weights
    mean weights  -log N(z; m, s^2), as a deterministic twin with these weights has it
    spread        the stddev over draws of m_k, a root mean square over dimensions

where z is the mean of the latent after the step, which the filter sees, and N what was
expected of it one step before. The score is the area under the ROC curve: the probability
that the mean surprise of a changed episode is above that of an unchanged one.
"""

import argparse
import contextlib
import dataclasses
import pathlib

import numpy as np
import pandas as pd
import tensorflow as tf
import tensorflow_probability as tfp
from scipy import stats

from agents.episodes.evaluation import Evaluator
from agents.planet.planning.imagination import expect_next
from agents.study.insight.latents import filter_latents
from agents.study.insight.spread import as_batch
from agents.system.errors import UserError
from agents.system.seeds import fold
from agents.training.loading import load_agent

CHANGES = {
    "mass": {"mass": 1.5},
    "friction": {"friction": 3.0},
    "gain": {"gain": 0.7},
}
DECISIONS = (10, 50)  # from an episode's start, whose surprise is averaged
DRAWS = 20
_OUT = pathlib.Path(__file__).parents[2] / "results/noticing/noticing.csv"


def surprises(model, episode, seed):
    """How surprising each step of an episode is: dict of kind -> [T - 1]."""
    batch = as_batch(episode)
    embedding = model.embed(batch, fold(seed, 0))
    still = tf.zeros([*batch["is_first"].shape, model.rssm.latent_size])
    known = batch["action"], batch["is_first"], still
    latent = filter_latents(model, embedding, *known, model.central_weights())
    before, action = latent.features[:, :-1], batch["action"][:, 1:]
    drawn = model.draw_weights(DRAWS, fold(seed, 1))
    each = expect_next(model, before, action, drawn, DRAWS)
    central = tf.nest.map_structure(lambda w: w[tf.newaxis], model.central_weights())
    alone = expect_next(model, before, action, central, 1)
    densities = [
        tfp.distributions.MultivariateNormalDiag(some.mean, some.stddev).log_prob(
            latent.mean[:, 1:]
        )
        for some in (each, alone)
    ]
    of_draws, of_mean = (tf.reduce_logsumexp(some, 0)[0] for some in densities)
    spread = tf.reduce_mean(tf.math.reduce_variance(each.mean, 0), -1)[0]
    return {
        "draws": np.log(DRAWS) - of_draws.numpy(),
        "mean weights": -of_mean.numpy(),
        "spread": np.sqrt(spread.numpy()),
    }


def auroc(changed, unchanged):
    """The probability that one of the first is above one of the second; ties count half.

    Example:
        >>> float(auroc([2.0, 3.0], [1.0, 2.0]))
        0.875
    """
    return stats.mannwhitneyu(changed, unchanged).statistic / len(changed) / len(unchanged)


def of_run(folder, episodes):
    """Rows of a run: an area for each change, kind of surprise and number of decisions."""
    config, agent = load_agent(folder)
    found = {
        change: _surprises_in(config, agent, physics, episodes)
        for change, physics in {"none": {}, **CHANGES}.items()
    }
    rows = []
    for decisions in DECISIONS:
        for kind in found["none"][0]:
            means = {
                change: [some[kind][:decisions].mean() for some in of_episodes]
                for change, of_episodes in found.items()
            }
            rows += [
                {
                    "task": config.task,
                    "seed": config.seed,
                    "change": change,
                    "decisions": decisions,
                    "surprise": kind,
                    "auroc": auroc(means[change], means["none"]),
                }
                for change in CHANGES
            ]
    return rows


def summed_up(rows):
    """Means over runs with bootstrap intervals over seeds, of all tasks and changes too."""
    wide = pd.DataFrame(rows).pivot_table(
        index=["task", "seed", "change", "decisions"], columns="surprise", values="auroc"
    )
    wide["draws minus mean weights"] = wide["draws"] - wide["mean weights"]
    each = wide.reset_index().melt(
        ["task", "seed", "change", "decisions"], var_name="surprise", value_name="auroc"
    )
    over = [
        each,
        each.assign(task="all tasks"),
        each.assign(change="all changes"),
        each.assign(task="all tasks", change="all changes"),
    ]
    keys = ["task", "change", "decisions", "surprise"]
    of_seeds = pd.concat(over).groupby([*keys, "seed"], sort=False)["auroc"].mean()
    return of_seeds.groupby(keys, sort=False).apply(_with_interval).unstack().reset_index()


def _with_interval(values):
    found = {"seeds": len(values), "auroc": values.mean()}
    if len(values) > 1 and np.ptp(values) > 0:
        interval = stats.bootstrap([values], np.mean, rng=0).confidence_interval
        found |= {"auroc_low": interval.low, "auroc_high": interval.high}
    return pd.Series(found)


def _surprises_in(config, agent, physics, episodes):
    limit = max(DECISIONS) * config.action_repeat
    factors = dataclasses.replace(config.physics, **physics)
    changed = dataclasses.replace(config, physics=factors, time_limit=limit)
    with contextlib.closing(Evaluator(changed, agent)) as evaluator:
        acted = [episode for _, episode in evaluator.episodes(episodes)]
    return [
        surprises(agent.model, episode, tf.constant([number, config.seed]))
        for number, episode in enumerate(acted)
    ]


def main(arguments=None):
    parser = argparse.ArgumentParser(
        "python -m benchmarks.learning.noticing", description=__doc__.splitlines()[0]
    )
    parser.add_argument("runs", nargs="+", type=pathlib.Path)
    parser.add_argument("--episodes", type=int, default=20, help="of each change")
    parser.add_argument("--out", type=pathlib.Path, default=_OUT)
    options = parser.parse_args(arguments)
    rows = []
    for run in options.runs:
        try:
            rows += of_run(run, options.episodes)
        except UserError as error:
            raise SystemExit(f"noticing: {error}") from None
        print(run, flush=True)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    summed_up(rows).to_csv(options.out, index=False, float_format="%.4g")


if __name__ == "__main__":
    main()

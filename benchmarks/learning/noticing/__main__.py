"""Whether a run notices that its task has changed, and foresees its own return.

python -m benchmarks.learning.noticing RUN ...     # writes csv files in results/noticing

Each run acts in its task and in changed ones. The score of a kind of surprise is the area
under the ROC curve: the probability that a changed episode is more surprising than an
unchanged one.
"""

import argparse
import contextlib
import dataclasses
import itertools
import pathlib

import joblib
import numpy as np
import pandas as pd
import tensorflow as tf

from agents.cli.parsing import whole_number
from agents.episodes.evaluation import Evaluator
from agents.study.compare.tables import with_interval
from agents.study.statistics import mean
from agents.system.errors import UserError
from agents.training.loading import load_agent
from benchmarks.learning.noticing.forecasts import forecast, imagine_returns
from benchmarks.learning.noticing.surprises import (
    DIFFERENCES,
    KINDS,
    auroc,
    expected_steps,
)

CHANGES = {  # factors, see `physics` in train.yaml
    ("small", "mass"): {"mass": 1.1},
    ("small", "friction"): {"friction": 1.5},
    ("small", "gain"): {"gain": 0.9},
    ("large", "mass"): {"mass": 1.5},
    ("large", "friction"): {"friction": 3.0},
    ("large", "gain"): {"gain": 0.7},
}
DECISIONS = (10, 50)  # from an episode's start, that are looked at
_ALL = "all tasks"
_OUT = pathlib.Path(__file__).parents[3] / "results/noticing"


def of_run(folder, episodes):
    """Rows of a run: areas of each change and kind of surprise; forecasts of each task."""
    config, agent = load_agent(folder)
    if agent.value is None:
        raise UserError(
            f"{folder} has value=none, so it has no policy whose return it foresees"
        )
    policies = agent.policy, agent.policies.exploiting("policy")
    of = {"task": config.task, "seed": config.seed}
    unchanged, found = _act(config, agent, policies, {}, episodes)
    forecasts = [of | {"size": "none", "change": "none"} | row for row in found]
    areas = []
    for (size, change), physics in CHANGES.items():
        own = of | {"size": size, "change": change}
        changed, found = _act(config, agent, policies, physics, episodes)
        forecasts += [own | row for row in found]
        for (kind, decisions), surprises in changed.items():
            area = auroc(surprises, unchanged[kind, decisions])
            areas.append(own | {"decisions": decisions, "surprise": kind, "auroc": area})
    return areas, forecasts


def _act(config, agent, policies, physics, episodes):
    """Surprises of episodes, by kind and decisions, and rows of forecasts of others."""
    limit = max(DECISIONS) * config.action_repeat
    factors = dataclasses.replace(config.physics, **physics)
    changed = dataclasses.replace(config, physics=factors, time_limit=limit)
    planned, acted = (_episodes(changed, agent, x, episodes) for x in policies)
    steps = [
        expected_steps(agent.model, each, tf.constant([number, config.seed]))
        for number, each in enumerate(planned)
    ]
    surprises = {
        (kind, decisions): [measure(each.first(decisions)) for each in steps]
        for (kind, measure), decisions in itertools.product(KINDS.items(), DECISIONS)
    }
    came = np.array([each["reward"].sum() for each in acted])
    imagined = imagine_returns(agent, acted, tf.constant([episodes, config.seed]))
    forecasts = [forecast(returns, came) | {"kind": k} for k, returns in imagined.items()]
    return surprises, forecasts


def _episodes(config, agent, policy, count):
    with contextlib.closing(Evaluator(config, agent, policy)) as evaluator:
        return [episode for _, episode in evaluator.episodes(count)]


def summed_up(areas):
    """Means of areas over runs with intervals over seeds, of all tasks and changes too."""
    keys = ["size", "change", "decisions"]
    wide = pd.DataFrame(areas).pivot_table(
        index=["task", *keys, "seed"], columns="surprise", values="auroc"
    )
    for kind, other in DIFFERENCES:
        if {kind, other} <= {*wide.columns}:
            wide[f"{kind} minus {other}"] = wide[kind] - wide[other]
    each = wide.reset_index().melt(["task", *keys, "seed"], value_name="auroc")
    each = pd.concat([each, each.assign(change="all changes")])
    return _over_seeds(each, [*keys, "surprise"], ["auroc"])


def forecasts_summed_up(rows):
    """Means of forecasts over runs with intervals over seeds, of all tasks too."""
    rows, keys = pd.DataFrame(rows), ["size", "change"]
    numbers = ["covered", "width", "interval_score", "forecast", "came"]
    index = ["task", *keys, "seed"]
    of_kind = rows.pivot_table(numbers, index, "kind").swaplevel(axis=1)
    apart = of_kind["draws"] - of_kind["mean weights"]
    rows = pd.concat([rows, apart.reset_index().assign(kind="draws minus mean weights")])
    return _over_seeds(rows, [*keys, "kind"], numbers)


def _over_seeds(rows, keys, numbers):
    """A row of each task, and of all tasks, whose seeds are drawn anew in each."""
    found = []
    for names, some in rows.groupby(keys, sort=False):
        of_task = some.groupby(["task", "seed"], sort=False)[numbers].mean()
        parts = {task: own for task, own in of_task.groupby("task", sort=False)}
        for task, own in [*((t, [x]) for t, x in parts.items()), (_ALL, [*parts.values()])]:
            row = {"task": task} | dict(zip(keys, names, strict=True))
            row["seeds"] = min(map(len, own))
            for name in numbers:
                row |= with_interval(name, [x[name].to_numpy() for x in own], mean)
            found.append(row)
    return pd.DataFrame(found)


def main(arguments=None):
    parser = argparse.ArgumentParser(
        "python -m benchmarks.learning.noticing", description=__doc__.splitlines()[0]
    )
    parser.add_argument("runs", nargs="+", type=pathlib.Path)
    parser.add_argument("--episodes", type=whole_number, default=10, help="of each change")
    parser.add_argument("--jobs", type=whole_number, default=1, help="processes")
    parser.add_argument("--out", type=pathlib.Path, default=_OUT, help="folder")
    options = parser.parse_args(arguments)
    each = (joblib.delayed(of_run)(run, options.episodes) for run in options.runs)
    try:
        found = joblib.Parallel(options.jobs, verbose=10)(each)
    except UserError as error:
        raise SystemExit(f"noticing: {error}") from None
    areas, forecasts = (sum(rows, []) for rows in zip(*found, strict=True))
    options.out.mkdir(parents=True, exist_ok=True)
    tables = {"noticing": summed_up(areas), "forecasts": forecasts_summed_up(forecasts)}
    for name, table in tables.items():
        table.to_csv(options.out / f"{name}.csv", index=False, float_format="%.4g")


if __name__ == "__main__":
    main()

"""Scores of the newest checkpoint of a run, for the command line and for scripts."""

import contextlib

import numpy as np

from agents.episodes.evaluation import Evaluator, decision_milliseconds
from agents.episodes.layout import episode_return
from agents.runs.config.overrides import check_environment
from agents.runs.config.schema import as_dict, make_config
from agents.system.files import output_folder, write_csv
from agents.training.loading import load_agent


def score(run, episodes, out=None, physics=None, tell=print):
    """Scores the newest checkpoint of a run and writes `evaluation.csv`; its rows.

    Where the run has a value, its policy is scored beside the planner: both act by the mean
    weights and without noise, from the same starts. The file goes to the folder `out`, or
    that of the run; `tell` is called with each line for a person. Factors of `physics`, a
    dict, take the place of the run's, see `envs.load`.
    """
    folder = output_folder(out or run)
    config, agent = load_agent(run)
    if physics:
        config = _with_physics(config, physics)
    counts = {name: agent.counts[name] for name in ("environment_steps", "train_steps")}
    steps = counts["environment_steps"]
    changed = "".join(f" {name}={factor:g}" for name, factor in (physics or {}).items())
    tell(
        f"{config.task}{changed} after {steps:,} environment steps; episodes of each: "
        f"{episodes}"
    )
    rows = []
    for act in ("plan", "policy") if agent.value else ("plan",):
        policy = agent.policies.exploiting(act)
        scores = _scores(config, agent, policy, episodes)
        rows += [counts | {"act": act} | (physics or {}) | score for score in scores]
        returns = np.array([score["return"] for score in scores])
        tell(
            f"act={act}: mean return {returns.mean():.1f}, "
            f"median {np.median(returns):.1f}, lowest {returns.min():.1f}, "
            f"highest {returns.max():.1f}; "
            f"{decision_milliseconds(policy):.2f} ms a decision"
        )
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "evaluation.csv"
    write_csv(file, rows)
    tell(file)
    return rows


def _with_physics(config, factors):
    values = as_dict(config)
    values["physics"] |= factors
    changed = make_config(values)
    check_environment(changed)
    return changed


def _scores(config, agent, policy, episodes):
    with contextlib.closing(Evaluator(config, agent, policy)) as evaluator:
        results = evaluator.episodes(episodes)
    return [
        {"episode": number, "seed": seed, "return": episode_return(episode)}
        for number, (seed, episode) in enumerate(results)
    ]

"""The command `bayes-rl evaluate RUN`: a line and a file of scores."""

import contextlib
import pathlib

import numpy as np

from agents.agent.loading import load_agent
from agents.episodes.evaluation import Evaluator
from agents.episodes.measures import episode_return
from agents.files import write_csv


def evaluate(run, episodes):
    """Scores the newest checkpoint of a run; prints a line and writes `evaluation.csv`.

    Args:
        run: folder of the run.
        episodes: how many, at least 1.
    """
    config, agent = load_agent(run)
    with contextlib.closing(Evaluator(config, agent)) as evaluator:
        results = evaluator.episodes(episodes)
    rows = [
        {"episode": number, "seed": seed, "return": episode_return(episode)}
        for number, (seed, episode) in enumerate(results)
    ]
    file = pathlib.Path(run) / "evaluation.csv"
    counts = {
        "environment_steps": int(agent.clock.environment_steps.numpy()),
        "train_steps": int(agent.train_step_counter.numpy()),
    }
    write_csv(file, [counts | row for row in rows])
    returns = np.array([row["return"] for row in rows])
    print(
        f"{config.task} after {counts['environment_steps']} environment steps: "
        f"mean return {returns.mean():.1f}, median {np.median(returns):.1f}, "
        f"lowest {returns.min():.1f}, highest {returns.max():.1f} "
        f"over {len(rows)} episodes; see {file}"
    )

"""How many imagined plans a planner needs for a score, on the model of a trained run.

    python -m benchmarks.planners RUN [--episodes 10]

Every planner acts with the same model from the same starts. The last lines say with how
many plans per decision each kind first comes within 3 per cent of the best score of the
cross-entropy method. Prints a table and writes `planners.csv` to the run.
"""

import argparse
import pathlib

import numpy as np
from rich.console import Console
from rich.table import Table

from agents.evaluate import Evaluator
from agents.files import replacing
from agents.loading import load_agent
from agents.planner import CrossEntropy, ImprovedCrossEntropy
from agents.policy import PlanningPolicy
from agents.reports import episode_return

_NEAR = 0.97


def planners(horizon):
    """The planners that are compared, from many evaluations to few."""
    wide = [
        (1000, 100, 10),
        (300, 30, 5),
        (150, 15, 4),
        (100, 10, 3),
        (50, 5, 3),
        (30, 3, 2),
    ]
    narrow = [(100, 10, 4), (60, 6, 3), (30, 5, 3), (20, 4, 2), (10, 3, 2)]
    return [CrossEntropy(horizon, *sizes) for sizes in wide] + [
        ImprovedCrossEntropy(horizon, *sizes) for sizes in narrow
    ]


def compare(run, episodes):
    """Scores every planner on the model of a run.

    Args:
        run: folder of a trained run.
        episodes: evaluation episodes of each planner.

    Returns:
        List of dicts, one a planner.
    """
    config, agent = load_agent(run)
    rows = []
    for planner in planners(config.planner.horizon):
        policy = PlanningPolicy(
            agent.time_step_spec,
            agent.action_spec,
            agent.model,
            planner,
            strategy=agent.policy.strategy,
            noise=None,
            clock=agent.clock,
            seed=[config.seed, 1],
            name="policy",
        )
        results = Evaluator(config, agent, policy).episodes(episodes)
        returns = [episode_return(episode) for _, episode in results]
        row = {
            "planner": type(planner).__name__,
            "candidates": planner.candidates,
            "elites": planner.elites,
            "iterations": planner.iterations,
            "evaluations": planner.evaluations,
            "mean_return": np.mean(returns),
            "standard_error": np.std(returns, ddof=1) / np.sqrt(len(returns)),
        }
        rows.append(row)
        print({name: _show(value) for name, value in row.items()}, flush=True)
    return rows


def fewest_evaluations(rows, kind, score):
    """The fewest evaluations with which planners of a kind reach a score, or None."""
    reached = [
        row["evaluations"]
        for row in rows
        if row["planner"] == kind and row["mean_return"] >= score
    ]
    return min(reached, default=None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run")
    parser.add_argument("--episodes", type=int, default=10)
    options = parser.parse_args()
    rows = compare(options.run, options.episodes)
    with replacing(pathlib.Path(options.run) / "planners.csv") as file:
        _write(file, rows)
    _print(rows)


def _write(file, rows):
    text = "\n".join([",".join(rows[0]), *(",".join(map(_show, r.values())) for r in rows)])
    file.write(f"{text}\n".encode())


def _print(rows):
    table = Table(*rows[0])
    for row in rows:
        table.add_row(*map(_show, row.values()))
    console = Console()
    console.print(table)
    kinds = ["CrossEntropy", "ImprovedCrossEntropy"]
    target = _NEAR * max(row["mean_return"] for row in rows if row["planner"] == kinds[0])
    counts = [fewest_evaluations(rows, kind, target) for kind in kinds]
    for kind, count in zip(kinds, counts, strict=True):
        console.print(f"{kind} reaches {target:.0f} with {count} evaluations a decision")
    if all(counts):
        console.print(f"that is {counts[0] / counts[1]:.1f} times fewer")


def _show(value):
    return f"{value:.1f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()

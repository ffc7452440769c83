"""How many imagined plans a planner needs for a score, on the model of a trained run.

    python -m benchmarks.speed.planners RUN [--episodes 10]

Every planner acts with the same model from the same starts. The last line says with how
many plans per decision, those that the policy proposes among them, each kind first comes
within 3 per cent of the best score of the cross-entropy method. Prints a table and writes
`planners.csv` to the run.
"""

import argparse
import contextlib
import dataclasses
import os
import pathlib
import sys

import numpy as np

from agents.runs.config.overrides import load
from agents.system.errors import UserError
from agents.system.files import write_csv
from agents.system.screen.text import show
from envs.quiet import import_gym

_NEAR = 0.97


def planners(horizon):
    """The planners that are compared, from many evaluations to few."""
    wide = [(1000, 100, 10), (300, 30, 5), (150, 15, 4)]
    wide += [(100, 10, 3), (50, 5, 3), (30, 3, 2)]
    narrow = [(150, 15, 4), (100, 10, 3), (60, 6, 3), (30, 5, 3), (20, 4, 2), (10, 3, 2)]
    return [
        dataclasses.replace(
            load([f"planner={kind}"]).planner,
            horizon=horizon,
            candidates=candidates,
            elites=elites,
            iterations=iterations,
        )
        for kind, sizes in (("cem", wide), ("icem", narrow))
        for candidates, elites, iterations in sizes
    ]


def compare(run, episodes):
    """A row for each planner on the model of a run, by so many evaluation episodes."""
    from agents.episodes.evaluation import Evaluator
    from agents.episodes.layout import episode_return
    from agents.training.loading import load_agent
    from benchmarks.measuring.flops import evaluations

    config, agent = load_agent(run)
    rows = []
    for planner in planners(config.planner.horizon):
        own = dataclasses.replace(agent.policies, planner=planner, compile=False)
        policy = own.exploiting("plan")
        with contextlib.closing(Evaluator(config, agent, policy)) as evaluator:
            results = evaluator.episodes(episodes)
        returns = [episode_return(episode) for _, episode in results]
        row = {
            "planner": type(planner).__name__,
            "candidates": planner.candidates,
            "elites": planner.elites,
            "iterations": planner.iterations,
            "evaluations": evaluations(
                dataclasses.replace(config, planner=planner), own.strategy
            ),
            "mean_return": np.mean(returns),
            "standard_error": np.std(returns, ddof=1) / np.sqrt(len(returns)),
        }
        rows.append(row)
        print(", ".join(map(_show, row.values())), flush=True)
    return rows


def fewest_evaluations(rows, kind, score, grace=0):
    """The fewest evaluations with which planners of a kind reach a score, or None.

    A mean may be `grace` standard errors below.
    """
    reached = [
        row["evaluations"]
        for row in rows
        if row["planner"] == kind
        and row["mean_return"] + grace * row["standard_error"] >= score
    ]
    return min(reached, default=None)


def conclusion(rows):
    """What the scores say about the two kinds, as one sentence."""
    kinds = ["CrossEntropy", "ImprovedCrossEntropy"]
    best = max(row["mean_return"] for row in rows if row["planner"] == kinds[0])
    near = _NEAR if best >= 0 else 2 - _NEAR  # as far below, whatever the sign
    target = near * best
    exact, graced = (
        [fewest_evaluations(rows, kind, target, grace) for kind in kinds]
        for grace in (0, 1)
    )
    text = " and ".join(
        f"{kind} takes {count or 'no tried number of'} evaluations"
        for kind, count in zip(kinds, exact, strict=True)
    )
    text = f"To reach {target:.0f} ({near:.0%} of {kinds[0]}'s best), {text}"
    if not all(exact):
        return text
    times, with_grace = (f"{cem / icem:.1f}" for cem, icem in (exact, graced))
    text += f", {times} times fewer"
    if with_grace == times:
        return text
    return f"{text} ({with_grace} times if a mean may be one standard error lower)"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run")
    parser.add_argument("--episodes", type=int, default=10)
    options = parser.parse_args()
    if options.episodes < 2:
        parser.error(
            f"--episodes must be at least 2 for a standard error, got {options.episodes}"
        )
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import_gym()
    try:
        rows = compare(options.run, options.episodes)
    except UserError as error:
        sys.exit(f"benchmarks.speed.planners: {error}")
    cells = [{name: _show(value) for name, value in row.items()} for row in rows]
    write_csv(pathlib.Path(options.run) / "planners.csv", cells)
    show(cells[0], [row.values() for row in cells])
    print(conclusion(rows))


def _show(value):
    return f"{value:.1f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()

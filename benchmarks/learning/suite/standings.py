"""Where the suite's runs stand after its steps, beside what was published."""

import collections
import dataclasses
import functools

import numpy as np

from agents.study.compare.published import published_scores
from agents.study.frames import minutes

STEPS = 100_000
EARLIER = "reparameterization"  # transition of the runs of an earlier default
TODAY = "laplace"  # of the runs of today's
TWIN = "deterministic"
METHODS = {
    "TD-MPC (own repeats)": "TD-MPC, own repeats",
    "TD-MPC (run by TD-MPC2)": "TD-MPC, run by TD-MPC2",
    "TD-MPC2": "TD-MPC2",
    "TD-MPC2 (run by BMPC)": "TD-MPC2, run by BMPC",
    "MR.Q": "MR.Q",
    "BMPC": "BMPC",
    "DC-MPC": "DC-MPC",
    "DreamerV3": "DreamerV3",
    "DreamerV3 (run by TD-MPC2)": "DreamerV3, run by TD-MPC2",
    "SAC": "SAC",
}  # as published_scores.csv calls them -> as columns do


@dataclasses.dataclass(frozen=True)
class Standing:
    """The runs of a task and transition."""

    task: str
    transition: str
    wanted: int  # seeds that the study is to have
    scores: dict  # seed -> mean return of the evaluation after `STEPS`
    minutes: list  # of each of those runs up to there
    reached: dict  # seed -> environment steps of the runs that are under way
    runs: list  # of `agents.runs.history.History`, all

    @property
    def values(self):
        """The scores, [seeds]."""
        return np.array(list(self.scores.values()))


def standings(runs, wanted):
    """Dict of (task, transition) -> `Standing`, in the order in which they are wanted.

    `runs` are of `agents.runs.history.History`; `wanted` are the words of each run that
    the study is to have.
    """
    counts = collections.Counter(identity(words)[:2] for words in wanted)
    found = collections.defaultdict(list)
    for run in runs:
        found[run.config["task"], run.config["transition"]].append(run)
    return {key: _standing(*key, count, found[key]) for key, count in counts.items()}


def shown(found):
    """Dict of task -> the `Standing` that is shown of it, where a default has scores.

    Of today's default and the earlier one, that with more seeds; of as many, today's.
    `found` is of `standings`.
    """
    chosen = {}
    for kind in (EARLIER, TODAY):
        for (task, transition), each in found.items():
            before = len(chosen[task].scores) if task in chosen else 1
            if transition == kind and len(each.scores) >= before:
                chosen[task] = each
    return {task: chosen[task] for task, _ in found if task in chosen}


def identity(words):
    """(task, transition, seed) of a run.

    Example:
        >>> identity(["task=cheetah_run", "transition=reparameterization", "seed=3"])
        ('cheetah_run', 'reparameterization', '3')
    """
    values = dict(word.split("=", 1) for word in words)
    return values["task"], values["transition"], values["seed"]


def _standing(task, transition, wanted, runs):
    scores, times, reached = {}, [], {}
    for run in sorted(runs, key=lambda run: run.config["seed"]):
        score = score_of(run)
        if score is None:
            reached[run.config["seed"]] = run.metrics[-1]["environment_steps"]
        else:
            scores[run.config["seed"]] = score
            times.append(minutes(run, STEPS))
    return Standing(task, transition, wanted, scores, times, reached, runs)


def score_of(run):
    """Mean return of the first evaluation of a run after `STEPS`; None before it."""
    later = [row for row in run.scores if row["environment_steps"] >= STEPS]
    if not later:
        return None
    first = min(row["environment_steps"] for row in later)
    return float(np.mean([r["return"] for r in later if r["environment_steps"] == first]))


@functools.cache
def published_at_end(task):
    """Dict of method -> published mean after `STEPS`, of the methods that have one."""
    points = published_scores({"task": task, "observation": "state"})
    at_end = points[points["environment_steps"] == STEPS]
    return dict(zip(at_end["method"], at_end["mean"], strict=True))

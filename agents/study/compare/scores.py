"""What groups of runs scored after the same number of environment steps."""

import logging

import numpy as np
import pandas as pd

from agents.study.compare.ends import common_end
from envs.tasks import check_task

log = logging.getLogger(__name__)


def final_evaluations(frames, at=None):
    """The last evaluation of each run before all of its task are compared.

    These are rows of `evaluations`, with `environment_steps` those of the comparison and
    `diverged`, whether the run keeps a score from before.
    """
    evaluations = frames.evaluations.assign(diverged=False)
    parts = []
    for _, runs in frames.runs.groupby("task", sort=False):
        own = evaluations[evaluations["run"].isin(runs.index)]
        if len(own):
            parts.append(_of_task(own, runs.loc[own["run"].unique()], at))
    return pd.concat(parts or [evaluations])


def _of_task(evaluations, runs, at):
    end = common_end("scores", runs, runs["evaluated"], at)
    by_then = evaluations[evaluations["environment_steps"] <= end]
    last = by_then.groupby("run")["environment_steps"].transform("max")
    early = runs.index[runs["diverged"] & (runs["evaluated"] < end)]
    return by_then[by_then["environment_steps"] == last].assign(
        environment_steps=end, diverged=by_then["run"].isin(early)
    )


def seed_scores(final):
    """The score of each seed, the mean of its episodes: a row for each run."""
    keys = ["place", "task", "group", "run", "environment_steps", "diverged"]
    found = means(final.groupby(keys, sort=False)["return"]).reset_index(name="score")
    return found.astype({"place": int, "run": int, "environment_steps": int})


def means(grouped):
    """NumPy's means of what is known: pandas adds up in another order."""
    return grouped.agg(_mean)


def _mean(values):
    known = values.dropna().to_numpy()
    return known.mean() if known.size else np.nan


def seed_curves(frames):
    """The mean return of each evaluation of each run, see `held`."""
    keys = ["place", "run", "environment_steps"]
    points = means(frames.evaluations.groupby(keys)["return"])
    return held(frames, points.reset_index(name="value"))


def held(frames, points):
    """Curves of runs; where one diverged, its last value counts as far as others go.

    Points have `place`, `run`, `environment_steps` and `value`, those of a run by steps;
    the same come back with further ones, in order.
    """
    last = points.groupby("run").tail(1)
    held_to = last["run"].map(frames.runs["held_to"])
    further = last.assign(environment_steps=held_to)[held_to > last["environment_steps"]]
    every = pd.concat([points, further.astype({"environment_steps": int})])
    return every.sort_values(["place", "run", "environment_steps"], ignore_index=True)


def curves_of(points):
    """(steps, values) of each run, as `agents.study.statistics` takes them."""
    return [
        (own["environment_steps"].to_numpy(), own["value"].to_numpy())
        for _, own in points.groupby("run")
    ]


def action_repeat(config):
    """Environment steps that an action is held for, or None where it is not known."""
    try:
        return config.get("action_repeat") or check_task(config["task"]).action_repeat
    except ValueError:  # a task of gym that is not registered here
        return None


def comparable(seeds):
    """The scores of those groups that every task has, on one scale.

    Returns on DeepMind Control are divided by 1000, the highest there is. Tasks whose
    highest return is not known are compared only one at a time, as they are. The unit of
    the scores follows.
    """
    scales = {task: scale(task) for task in seeds["task"].unique()}
    known = all(scales.values())
    if not known:
        if len(scales) > 1:
            unknown = next(task for task in scales if scales[task] is None)
            log.warning(f"no figures over all tasks: the scale of {unknown} is not known")
            return {}, ""
        scales = dict.fromkeys(scales, 1.0)
    scaled = seeds.assign(score=seeds["score"] / seeds["task"].map(scales))
    methods = {
        name: [each["score"].to_numpy() for _, each in own.groupby("place", sort=False)]
        for name, own in scaled.groupby("group", sort=False)
    }
    whole = {name: own for name, own in methods.items() if len(own) == len(scales)}
    return whole, "return / highest possible" if known else "return"


def with_equal_seeds(methods):
    """As many seeds of each task as the task with the fewest has: all tasks weigh alike.

    Example:
        >>> import numpy as np
        >>> with_equal_seeds({"noise": [np.array([0.1, 0.2]), np.array([0.3])]})
        {'noise': [array([0.1]), array([0.3])]}
    """
    alike = {}
    for name, tasks in methods.items():
        fewest = min(map(len, tasks))
        if any(len(seeds) > fewest for seeds in tasks):
            log.warning(
                f"figures over all tasks: {name or 'the only group'} has {fewest} seeds of "
                "one task, so only as many seeds of each other task count"
            )
        alike[name] = [seeds[:fewest] for seeds in tasks]
    return alike


def scale(task):
    """The highest return of an episode, or None where it is not known.

    What an agent learned from, see `agents.runs.grouping.task_of`, does not change it.

    Example:
        >>> scale("cartpole_swingup"), scale("gym:Pendulum-v1"), scale("lqr_lqr_2_1")
        (1000.0, None, None)
        >>> scale("cartpole_swingup from random")
        1000.0
    """
    task = task.partition(" from ")[0]
    if ":" in task or task.startswith("lqr_"):  # lqr ends when it is at rest
        return None
    return {"fake": 20.0, "fake_ending": 15.05}.get(task, 1000.0)

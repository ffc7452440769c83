"""What groups of runs scored after the same number of environment steps."""

import dataclasses
import logging

import numpy as np

from agents.runs.grouping import Group
from agents.study import statistics
from agents.study.compare.ends import common_end, held, last_step
from envs.tasks import check_task

log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Scores:
    """Evaluation of a group after so many environment steps.

    Args:
        group: `agents.runs.grouping.Group`.
        steps: environment steps, see `agents.study.compare.ends`.
        runs: those of the group's runs that were evaluated by then.
        returns: an array for each of `runs`, [episodes].
        diverged: those of `runs` that diverged before, and keep their last score.
    """

    group: Group
    steps: int
    runs: list
    returns: list
    diverged: tuple = ()

    @property
    def seeds(self):
        """The score of each seed, [seeds]."""
        return np.array([np.mean(returns) for returns in self.returns])

    @property
    def action_repeat(self):
        """Environment steps that an action is held for, or None where it is not known."""
        config = self.group.runs[0].config
        try:
            return config.get("action_repeat") or check_task(config["task"]).action_repeat
        except ValueError:  # a task of gym that is not registered here
            return None

    @property
    def episodes(self):
        """All evaluation episodes of all seeds; for their spread, not for intervals."""
        return np.concatenate(self.returns)


def final_scores(groups, at=None):
    """Scores of one task's groups at the same environment steps.

    Args:
        groups: list of `agents.runs.grouping.Group`; runs without an evaluation are left
            out.
        at: the environment steps; None: as `agents.study.compare.ends.common_end` says.

    Returns:
        List of `Scores`, those of groups with any.
    """
    evaluated = [run for group in groups for run in group.runs if run.scores]
    if not evaluated:
        return []
    steps = common_end("scores", evaluated, lambda run: last_step(run.scores), at)
    scores = []
    for group in groups:
        returns = {run.folder: _returns(run, steps) for run in group.runs}
        runs = [run for run in group.runs if len(returns[run.folder])]
        if runs:
            own = [returns[run.folder] for run in runs]
            early = (run for run in runs if run.diverged and last_step(run.scores) < steps)
            scores.append(Scores(group, steps, runs, own, (*early,)))
    return scores


def seed_curves(group):
    """(steps, mean return of the evaluation episodes) of each evaluated seed."""
    found = [(run, *run.score_curve()) for run in group.runs if run.scores]
    return [held(run, steps, np.nanmean(returns, axis=1)) for run, steps, returns in found]


def curve_of(curves):
    """(steps, IQM, lower, upper) over seeds, as far as all of them have come."""
    return statistics.sample_efficiency([curves])


def comparable(scores):
    """The scores of those groups that every task has, on one scale.

    Returns on DeepMind Control are divided by 1000, the highest there is. Tasks whose
    highest return is not known are compared only one at a time, as they are.

    Args:
        scores: dict of task -> list of `Scores`.

    Returns:
        (dict of label -> list with the scores of each task, [seeds]; unit of the scores).
    """
    scores = {task: own for task, own in scores.items() if own}
    scales = {task: scale(task) for task in scores}
    if None in scales.values():
        if len(scores) > 1:
            unknown = next(task for task in scores if scales[task] is None)
            log.warning("no figures over all tasks: the scale of %s is not known", unknown)
            return {}, ""
        scales = dict.fromkeys(scores, 1.0)
    methods = {}
    for task, own in scores.items():
        for each in own:
            methods.setdefault(each.group.label, []).append(each.seeds / scales[task])
    whole = {name: own for name, own in methods.items() if len(own) == len(scores)}
    known = all(scale(task) for task in scores)
    return whole, "return / highest possible" if known else "return"


def with_equal_seeds(methods):
    """As many seeds of each task as the task with the fewest has: all tasks weigh alike.

    Args:
        methods: as from `comparable`.

    Returns:
        The same with the first of those seeds.

    Example:
        >>> with_equal_seeds({"noise": [np.array([0.1, 0.2]), np.array([0.3])]})
        {'noise': [array([0.1]), array([0.3])]}
    """
    alike = {}
    for name, tasks in methods.items():
        fewest = min(map(len, tasks))
        if any(len(seeds) > fewest for seeds in tasks):
            log.warning(
                "figures over all tasks: %s has %d seeds of one task, so only as many "
                "seeds of each other task count",
                name or "the only group",
                fewest,
            )
        alike[name] = [seeds[:fewest] for seeds in tasks]
    return alike


def scale(task):
    """The highest return of an episode, or None where it is not known.

    Example:
        >>> scale("cartpole_swingup"), scale("gym:Pendulum-v1"), scale("lqr_lqr_2_1")
        (1000.0, None, None)
    """
    if task.startswith(("gym:", "python:", "lqr_")):  # lqr ends when it is at rest
        return None
    return {"fake": 20.0, "fake_ending": 15.05}.get(task, 1000.0)


def _returns(run, steps):
    """The last evaluation that a run had after at most so many steps, [episodes]."""
    rows = [row for row in run.scores if row["environment_steps"] <= steps]
    last = max((row["environment_steps"] for row in rows), default=None)
    return np.array([row["return"] for row in rows if row["environment_steps"] == last])

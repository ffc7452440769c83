"""At how many environment steps the runs of a task are compared, and which take part.

That is where the shortest finished run ends, or a number that is asked for. A run that
diverged has ended as well: it keeps its last score from there on, which counts in means and
intervals like any other, and is marked. One that is under way and has not come so far is
left out by name. Where no run is finished, all are compared where the shortest has come.
"""

import dataclasses
import logging

import numpy as np

from agents.system.errors import UserError

log = logging.getLogger(__name__)


def taking_part(groups, at=None):
    """The groups of a task with those of their runs that are compared.

    Args:
        groups: list of `agents.runs.grouping.Group`.
        at: environment steps; None: where the shortest finished run ends.

    Returns:
        List of `Group`; those without runs are left out. Runs end at `at`, if it is given,
        and those that diverged before are held as far as others go.
    """
    runs = [run for group in groups for run in group.runs]
    late = _late(runs, at)
    _warn_of_late(late, at)
    furthest = at or max((reached(run) for run in runs if run not in late), default=0)
    compared = [
        dataclasses.replace(
            group, runs=[_held(run, furthest, at) for run in group.runs if run not in late]
        )
        for group in groups
    ]
    _warn_of_unevaluated([run for group in compared for run in group.runs], at)
    return [group for group in compared if group.runs]


def common_end(what, runs, end_of, at=None):
    """The environment steps at which runs of a task are compared.

    A warning names the shortest run where others go on.

    Args:
        what: is compared, for the warning.
        runs: list of `agents.runs.history.History`, at least one.
        end_of: function of a run: its last environment steps.
        at: the environment steps, where they are given.
    """
    if at is not None:
        return at
    going_on = [run for run in runs if not run.diverged]
    if not going_on:
        return max(map(end_of, runs))
    shortest = min(going_on, key=end_of)
    end, longest = end_of(shortest), max(map(end_of, runs))
    if longest > end:
        log.warning(
            "%s of %s are compared at %s environment steps, where %s ends; others reach %s",
            what,
            shortest.config.get("task", ""),
            f"{end:,}",
            shortest.folder,
            f"{longest:,}",
        )
    return end


def reached(run):
    """The last environment steps of a run's files, 0 where there are none."""
    return max(last_step(run.metrics), last_step(run.scores))


def last_step(rows):
    """The last environment steps of rows, 0 where there are none."""
    return max((row["environment_steps"] for row in rows), default=0)


def held(run, steps, values):
    """A curve of a run; where the run diverged, its last value is kept as far as others go.

    Args:
        run: `agents.runs.history.History`.
        steps: [points].
        values: [points].
    """
    if run.held_to is None or run.held_to <= steps[-1]:
        return steps, values
    return np.append(steps, run.held_to), np.append(values, values[-1])


def check_reached(runs, at):
    """Raises a UserError where no run has come to the environment steps asked for."""
    furthest = max(runs, key=reached)
    if reached(furthest) < at:
        raise UserError(
            f"no run has come to {at:,} environment steps (--at); "
            f"the furthest, {furthest.folder}, has come to {reached(furthest):,}"
        )


def _late(runs, at):
    """Those that have not come to where the others are compared, and did not diverge."""
    going_on = [run for run in runs if not run.diverged]
    if at is not None:
        return [run for run in going_on if reached(run) < at]
    finished = [run for run in going_on if _is_finished(run)]
    if not finished:
        return []
    evaluated = [last_step(run.scores) for run in finished if run.scores]
    end = min(evaluated or map(reached, finished))
    come = [last_step(run.scores) if evaluated else reached(run) for run in going_on]
    return [
        run
        for run, steps in zip(going_on, come, strict=True)
        if steps < end and run not in finished
    ]


def _is_finished(run):
    steps = run.config.get("environment_steps")
    return steps is not None and reached(run) >= steps


def _held(run, furthest, at):
    diverged = run.diverged if at is None or reached(run) < at else None
    run = dataclasses.replace(
        run, diverged=diverged, held_to=furthest if diverged else None
    )
    if at is None:
        return run
    metrics, scores = (
        [row for row in rows if row["environment_steps"] <= at]
        for rows in (run.metrics, run.scores)
    )
    return dataclasses.replace(run, metrics=metrics, scores=scores)


def _warn_of_late(runs, at):
    for run in runs:
        total = run.config.get("environment_steps")
        of = f" of {total:,}" if total else ""
        why = "others are finished" if at is None else f"compared are {at:,} (--at)"
        log.warning(
            "left out: %s has come to %s%s environment steps; %s",
            run.folder,
            f"{reached(run):,}",
            of,
            why,
        )


def _warn_of_unevaluated(runs, at):
    for run in runs:
        if not run.scores and (run.diverged or at is not None):
            when = "before it diverged" if run.diverged else f"in {at:,} environment steps"
            log.warning("%s has no score: no evaluation had finished %s", run.folder, when)

"""At how many environment steps the runs of a task are compared, and which take part.

That is where the shortest finished run ends, or a number that is asked for. A run that
diverged has ended as well: it keeps its last score from there on, which counts in means and
intervals like any other, and is marked. One that is under way and has not come so far is
left out by name. Where no run is finished, all are compared where the shortest has come.
"""

import logging

import numpy as np
import pandas as pd

from agents.system.errors import UserError

log = logging.getLogger(__name__)


def taking_part(frames, at=None):
    """The `Frames` of the runs that are compared, one task after another.

    All end at `at`, if it is given. Runs have two more columns: `diverged`, whether they
    did so before, and `held_to`, the environment steps as far as which the last values of
    those count.
    """
    evaluations, episodes = frames.evaluations, frames.episodes
    if at is not None:
        evaluations, episodes = (
            table[table["environment_steps"] <= at] for table in (evaluations, episodes)
        )
    last = evaluations.groupby("run")["environment_steps"].max()
    runs = frames.runs.assign(diverged=frames.runs["ended"] == "diverged")
    runs["evaluated"] = last.reindex(runs.index, fill_value=0)
    own = [_of_task(each, at) for _, each in runs.groupby("task", sort=False)]
    runs = pd.concat(own)
    evaluations, episodes = (
        table[table["run"].isin(runs.index)] for table in (evaluations, episodes)
    )
    return frames._replace(runs=runs, evaluations=evaluations, episodes=episodes)


def common_end(what, runs, ends, at=None):
    """The environment steps at which runs of a task are compared: `at`, if it is given.

    Else a warning names the shortest run where others go on; it begins with `what`. `ends`
    are the last environment steps of each of the runs, a series of the same index.
    """
    if at is not None:
        return at
    going_on = ends[~runs["diverged"]]
    if going_on.empty:
        return int(ends.max())
    end, longest = int(going_on.min()), int(ends.max())
    if longest > end:
        shortest = runs.loc[going_on.idxmin()]
        log.warning(
            f"{what} of {shortest['task']} are compared at {end:,} environment steps, "
            f"where {shortest['folder']} ends; others reach {longest:,}"
        )
    return end


def check_reached(runs, at):
    """Raises a UserError where no run has come to the environment steps asked for."""
    furthest = runs.loc[runs["reached"].idxmax()]
    if furthest["reached"] < at:
        raise UserError(
            f"no run has come to {at:,} environment steps (--at); "
            f"the furthest, {furthest['folder']}, has come to {furthest['reached']:,}"
        )


def _of_task(runs, at):
    late = _late(runs, at)
    _warn_of_late(late, at)
    runs = runs.drop(late.index)
    furthest = at or runs["reached"].max()
    if at is not None:
        runs["diverged"] &= runs["reached"] < at
    runs["held_to"] = np.where(runs["diverged"], furthest, np.nan)
    for run in runs[runs["evaluated"] == 0].itertuples():
        if run.diverged or at is not None:
            when = "before it diverged" if run.diverged else f"in {at:,} environment steps"
            log.warning(f"{run.folder} has no score: no evaluation had finished {when}")
    return runs


def _late(runs, at):
    """Those that have not come to where the others are compared, and did not diverge."""
    going_on = runs[~runs["diverged"]]
    if at is not None:
        return going_on[going_on["reached"] < at]
    finished = going_on["ended"] == "finished"
    by = "evaluated" if going_on.loc[finished, "evaluated"].any() else "reached"
    ends = going_on.loc[finished & (going_on[by] > 0), by]
    return going_on[(going_on[by] < ends.min()) & ~finished]  # of none it is nan


def _warn_of_late(runs, at):
    for _, run in runs.iterrows():
        total = run.get("environment_steps")
        of = f" of {total:,.0f}" if total and not np.isnan(total) else ""
        why = "others are finished" if at is None else f"compared are {at:,} (--at)"
        come = f"has come to {run['reached']:,}{of} environment steps"
        log.warning(f"left out: {run['folder']} {come}; {why}")

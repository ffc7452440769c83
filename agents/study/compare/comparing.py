"""Groups of runs compared with honest statistics: figures, tables, and their files.

The unit is the seed: a seed's score is the mean of its evaluation episodes, and intervals
come from drawing seeds anew. Needs nothing but the files of the runs.
"""

import contextlib
import logging
import logging.handlers
import math

from agents.runs import grouping
from agents.runs.folder import runs_below
from agents.study.compare import charts, discovery, insights, tables
from agents.study.compare.ends import check_reached, taking_part
from agents.study.compare.published import published_scores
from agents.study.compare.report import FEWEST_SEEDS, markdown, report, show
from agents.study.compare.scores import (
    comparable,
    final_evaluations,
    seed_curves,
    seed_scores,
    with_equal_seeds,
)
from agents.study.figures.drawing import save
from agents.study.frames import read
from agents.system.errors import UserError
from agents.system.files import output_folder, write_text
from agents.system.screen.text import make_console

_MARKDOWN = "comparison.md"
_TOLD = 4  # keys in which runs differ

log = logging.getLogger(__name__)


def compare(folders, out="comparison", console=None, at=None):
    """Compares groups of runs; draws, prints and writes what differs.

    The folders are of runs, or hold runs. They are compared at so many environment steps,
    or where the shortest finished run of a task ends, see `agents.study.compare.ends`.
    Returns the paths of the files in `out`: PNG, csv, and the tables as `comparison.md`.

    Raises:
        UserError: there are no runs, nothing was recorded in them, or `out` is no folder,
            or that of a run; or no run has come to `at`.
    """
    folder = output_folder(out)
    if next(runs_below(folder), None) == folder:  # its scores.csv would be replaced
        raise UserError(
            f"--out must not be the folder of a run, got {folder}; choose another"
        )
    with _noted() as notes:
        every = read(folders)
        if at is not None:
            check_reached(every.runs, at)
        _warn_of_twins(every)
        _warn_of_unlike(every.groups)
        compared = taking_part(every, at)
        parts, drawn = _compare(every, compared, at)
    _warn_of_few(compared)
    shown, told = report(parts, [record.getMessage() for record in notes.buffer])
    files = save(drawn, folder) + tables.write(parts, folder)
    if shown:
        files.append(folder / _MARKDOWN)
        write_text(files[-1], f"{markdown(shown, told)}\n")
    known = [*(f"{name}.csv" for name in parts), *(f"{name}.png" for name in drawn)]
    for file in {folder / name for name in [*known, _MARKDOWN]} - {*files}:
        file.unlink(missing_ok=True)  # of an earlier comparison, of other runs
    show(shown, told, console or make_console())
    return files


def _compare(every, compared, at):
    """(dict of name -> table, dict of name -> figure or None) of the runs compared."""
    final = final_evaluations(compared, at)
    seeds = seed_scores(final)
    points = seed_curves(compared)
    others = {
        task: _published([every.groups[place].runs[0].config for place in own.unique()])
        for task, own in compared.runs.groupby("task", sort=False)["place"]
    }
    methods, unit = comparable(seeds)
    found = discovery.explorations(compared, at)
    alike, pairs = with_equal_seeds(methods), tables.improvement(seeds)
    parts = {
        "scores": tables.scores(compared, final),
        "curves": tables.curves(compared, points),
        "published": tables.published(seeds, others),
        "exploration": tables.exploration(compared, found),
        "improvement": pairs,
        "probes": insights.probes(every.runs),
        "calibration": insights.calibration(every.runs),
        "spread": insights.spread(every.runs),
        "runs": tables.runs(every, seeds, found),
    }
    drawn = {
        "scores": charts.scores(compared, points, others),
        "final_scores": charts.final_scores(compared, seeds),
        "sample_efficiency": charts.sample_efficiency(compared, points, alike, unit),
        "performance_profile": charts.profiles(compared, alike, unit),
        "probability_of_improvement": charts.improvement(pairs),
        "first_reward": charts.first_rewards(compared, found),
        "cost": charts.costs(compared, found),
        "coverage": charts.coverage(compared),
    }
    return parts, drawn


@contextlib.contextmanager
def _noted():
    """Yields a handler whose buffer takes the warnings of this comparison."""
    notes = logging.handlers.BufferingHandler(math.inf)
    notes.setLevel(logging.WARNING)
    room = logging.getLogger("agents.study")
    room.addHandler(notes)
    try:
        yield notes
    finally:
        room.removeHandler(notes)


def _published(configs):
    """What was published of a task; nothing where its groups are not of one kind."""
    kinds = {(each.get("observation"), each.get("action_cost") or 0) for each in configs}
    points = published_scores(configs[0])
    return points if len(kinds) == 1 else points.head(0)


def _warn_of_few(frames):
    for group, own in frames.by_group(frames.runs):
        if len(own) < FEWEST_SEEDS:
            few = f"n = {len(own)} is below {FEWEST_SEEDS}"
            log.warning(f"{_name(group)}: {few}; do not rely on its intervals")


def _warn_of_twins(frames):
    for group, own in frames.by_group(frames.runs):
        twice = sorted(own.loc[own["seed"].duplicated(), "seed"], key=str)
        if twice:
            log.warning(f"{_name(group)}: has seed {twice[0]} more than once")


def _warn_of_unlike(groups):
    """Of what is joined over tasks under one name, and differs in more than the task."""
    joined = {}  # tasks and differing keys -> names
    for name in dict.fromkeys(group.label for group in groups):
        firsts = [group.runs[0].config for group in groups if group.label == name]
        keys = grouping.unlike(firsts)
        if keys:
            told = keys[:_TOLD] + [f"{len(keys) - _TOLD} more"] * (len(keys) > _TOLD)
            tasks = " and ".join(map(grouping.task_of, firsts))
            names = joined.setdefault((tasks, ", ".join(told)), [])
            names.append(name or "the only groups")
    for (tasks, keys), alike in joined.items():
        log.warning(
            f"over {tasks}, groups of one name count as one method, though they differ in "
            f"{keys}: {'; '.join(alike)}"
        )


def _name(group):
    return ", ".join(filter(None, [group.task, group.label]))

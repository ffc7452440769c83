"""Groups of runs compared with honest statistics: figures, tables, and their files.

The unit is the seed: a seed's score is the mean of its evaluation episodes, and intervals
come from drawing seeds anew. Needs nothing but the files of the runs.
"""

import contextlib
import itertools
import logging
import pathlib

from rich.console import Console

from agents.runs import grouping, history
from agents.runs.folder import runs_below
from agents.study.compare import discovery, dots, insights, score_curves, tables
from agents.study.compare.ends import check_reached, taking_part
from agents.study.compare.published import published_scores
from agents.study.compare.report import FEWEST_SEEDS, markdown, report, show
from agents.study.compare.scores import comparable, final_scores, with_equal_seeds
from agents.study.compare.tables import improvements
from agents.study.figures.drawing import save
from agents.system.errors import UserError
from agents.system.files import output_folder, write_text

_MARKDOWN = "comparison.md"
_TOLD = 4  # keys in which runs differ

log = logging.getLogger(__package__)  # of all modules of the comparison


def compare(folders, out="comparison", console=None, at=None):
    """Compares groups of runs; draws, prints and writes what differs.

    Args:
        folders: of runs, or folders that hold runs.
        out: folder of the figures and csv files.
        console: a `rich.console.Console`; None: standard output.
        at: environment steps at which runs are compared; None: where the shortest finished
            run of a task ends, see `agents.study.compare.ends`.

    Returns:
        The paths of the files: PNG, csv, and the tables as `comparison.md`.

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
        runs = _load(folders)
        if at is not None:
            check_reached(runs, at)
        groups = grouping.arrange(runs)
        _warn_of_twins(groups)
        _warn_of_unlike(groups)
        tasks = list(dict.fromkeys(group.task for group in groups))
        own = [taking_part(_of(groups, task), at) for task in tasks]
        compared = list(itertools.chain.from_iterable(own))
        parts, drawn = _compare(groups, compared, at)
    _warn_of_few(compared)
    read = report(parts, notes)
    files = save(drawn, folder) + tables.write(parts, folder)
    files += _write_markdown(read, folder)
    known = [*(f"{name}.csv" for name in parts), *(f"{name}.png" for name in drawn)]
    _remove_earlier([folder / name for name in [*known, _MARKDOWN]], files)
    show(read, console or Console())
    return files


def _compare(groups, compared, at):
    """(dict of name -> rows, dict of name -> figure or None).

    Args:
        groups: of all runs.
        compared: of those that take part.
        at: environment steps, or None.
    """
    tasks = list(dict.fromkeys(group.task for group in compared))
    scores = {task: final_scores(_of(compared, task), at) for task in tasks}
    others = {task: _published(_of(compared, task)) for task in tasks}
    methods, unit = comparable(scores)
    found = {task: discovery.explorations(_of(compared, task), at) for task in tasks}
    alike, pairs = with_equal_seeds(methods), improvements(scores)
    parts = {
        "scores": tables.scores(scores),
        "curves": tables.curves(compared),
        "published": tables.published(scores, others),
        "exploration": tables.exploration(found),
        "improvement": tables.improvement(pairs),
        "probes": insights.probes(groups),
        "calibration": insights.calibration(groups),
        "spread": insights.spread(groups),
        "runs": tables.runs(groups, scores, found),
    }
    drawn = {
        "scores": score_curves.scores(compared, others),
        "final_scores": dots.final_scores(scores),
        "sample_efficiency": score_curves.sample_efficiency(compared, alike, unit),
        "performance_profile": score_curves.profiles(compared, alike, unit),
        "probability_of_improvement": dots.improvement(pairs),
        "first_reward": dots.first_rewards(found),
        "cost": dots.costs(found),
        "coverage": score_curves.coverage(compared),
    }
    return parts, drawn


class _Notes(logging.Handler):
    """Keeps what was warned of, for who reads the tables later."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.texts = []

    def emit(self, record):
        self.texts.append(record.getMessage())


@contextlib.contextmanager
def _noted():
    """Yields a list that takes the warnings of this package."""
    notes = _Notes()
    log.addHandler(notes)
    try:
        yield notes.texts
    finally:
        log.removeHandler(notes)


def _write_markdown(read, folder):
    if not read.tables:
        return []
    write_text(folder / _MARKDOWN, f"{markdown(read)}\n")
    return [folder / _MARKDOWN]


def _remove_earlier(known, files):
    """What an earlier comparison of other runs left beside the files of this one."""
    for file in known:
        if file not in files:
            file.unlink(missing_ok=True)


def _of(groups, task):
    return [group for group in groups if group.task == task]


def _published(groups):
    """What was published of a task; nothing where its groups are not of one kind."""
    configs = [group.runs[0].config for group in groups]
    kinds = {(each.get("observation"), each.get("action_cost") or 0) for each in configs}
    return published_scores(configs[0]) if len(kinds) == 1 else []


def _load(folders):
    found = {}  # a run may be named twice
    for folder in map(pathlib.Path, folders):
        found |= {run.resolve(): run for run in _below(folder)}
    runs, errors = [], []
    for folder in found.values():
        try:
            runs.append(history.load(folder))
        except UserError as error:  # a sweep may just have begun
            errors.append(error)
    _warn_of_diverged(found.values())
    if not runs:
        reason = (
            f" in {len(found)} runs, for one: {errors[0]}" if errors else ": no folders"
        )
        raise UserError(f"nothing to compare{reason}")
    for error in errors:
        log.warning("left out: %s", error)
    return runs


def _below(folder):
    runs = list(runs_below(folder))
    if not runs:
        raise UserError(f"{folder} is not the folder of a run, and no runs are below it")
    return runs


def _warn_of_diverged(folders):
    for folder in folders:
        found = history.read_divergence(folder)
        if found:
            log.warning("%s ended early: %s; it keeps its last score", folder, found)


def _warn_of_few(groups):
    for group in groups:
        if len(group.runs) < FEWEST_SEEDS:
            log.warning(
                "%s: n = %d is below %d; do not rely on its intervals",
                _name(group),
                len(group.runs),
                FEWEST_SEEDS,
            )


def _warn_of_twins(groups):
    for group in groups:
        seeds = [run.config.get("seed") for run in group.runs]
        twice = sorted({seed for seed in seeds if seeds.count(seed) > 1}, key=str)
        if twice:
            log.warning("%s: has seed %s more than once", _name(group), twice[0])


def _warn_of_unlike(groups):
    """Of what is joined over tasks under one name, and differs in more than the task."""
    joined = {}  # tasks and differing keys -> names
    for name in dict.fromkeys(group.label for group in groups):
        firsts = [group.runs[0].config for group in groups if group.label == name]
        keys = grouping.unlike(firsts)
        if keys:
            told = keys[:_TOLD] + [f"{len(keys) - _TOLD} more"] * (len(keys) > _TOLD)
            tasks = " and ".join(config.get("task", "") for config in firsts)
            names = joined.setdefault((tasks, ", ".join(told)), [])
            names.append(name or "the only groups")
    for (tasks, keys), alike in joined.items():
        log.warning(
            "over %s, groups of one name count as one method, though they differ in %s: %s",
            tasks,
            keys,
            "; ".join(alike),
        )


def _name(group):
    return ", ".join(filter(None, [group.task, group.label]))

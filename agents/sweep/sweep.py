"""Several runs: every combination of comma-separated values, side by side."""

import os
import pathlib
import sys

from agents.config import overrides
from agents.errors import UserError
from agents.runs.folder import check_run
from agents.runs.following import is_finished
from agents.sweep import launchers
from agents.sweep.processes import DONE, FAILED, STOPPED, Job, ProcessLauncher
from agents.sweep.table import SweepTable

_GPU = "/dev/nvidia0"


def sweep(words, at_once=None):
    """Trains every combination of the comma-separated values.

    All configs are checked before the first run starts. Runs that are finished are left
    alone, so that the same command does what is missing. A run that fails does not stop
    the others; Ctrl-C stops all.

    Args:
        words: overrides as typed, such as `seed=0,1`, and `hydra/launcher=...`.
        at_once: runs at the same time; None: as many as the machine has cores for.

    Returns:
        Exit status: 0 if all runs ended well, 1 if one failed, 130 after Ctrl-C.

    Raises:
        UserError: a config is not right, or two runs would share a folder.
    """
    launcher_words, words = launchers.split(words)
    if launcher_words and at_once:
        raise UserError(f"--jobs is of this machine; it cannot go with {launcher_words[0]}")
    runs = overrides.expand(words)
    configs = [overrides.load(run) for run in runs]
    _check(runs, configs)
    jobs = [
        Job(tuple(run), pathlib.Path(config.logdir), config.environment_steps, name)
        for run, config, name in zip(runs, configs, _names(runs), strict=True)
    ]
    finished = [
        job for job, config in zip(jobs, configs, strict=True) if is_finished(config)
    ]
    missing = [job for job in jobs if job not in finished]
    if launcher_words:
        results = _hand_over(launcher_words, missing)
    else:
        at_once = at_once or default_at_once(configs)
        with SweepTable(jobs, at_once, finished) as table:
            results = ProcessLauncher(at_once, table).launch(missing)
    return _status(results)


def default_at_once(configs):
    """How many runs share this machine: its cores over the threads of a run.

    One, where a run takes all devices: with another `strategy`, with `threads=0`, or where
    there is a GPU, whose memory a run takes whole.

    Args:
        configs: of the runs, list of `agents.config.schema.Train`.
    """
    whole = any(config.strategy != "default" or not config.threads for config in configs)
    if whole or pathlib.Path(_GPU).exists():
        return 1
    threads = max(config.threads for config in configs)
    return max(1, len(os.sched_getaffinity(0)) // threads)


def run_one(words):
    """Trains one run in a process of its own, as a launcher of Hydra asks for.

    Returns:
        An empty text, or why it failed.
    """
    config = overrides.load(words)
    job = Job(tuple(words), pathlib.Path(config.logdir), config.environment_steps, "")
    state, reason = ProcessLauncher(1).launch([job])[job]
    if state == STOPPED:
        raise KeyboardInterrupt
    return reason


def _hand_over(launcher_words, jobs):
    """Runs jobs by one of Hydra's launchers; returns what `ProcessLauncher` does."""
    print(f"runs that go to {launcher_words[0]}: {len(jobs)}", flush=True)
    if not jobs:
        return {}
    errors = launchers.launch(launcher_words, [list(job.words) for job in jobs], run_one)
    return {
        job: (FAILED if error else DONE, error)
        for job, error in zip(jobs, errors, strict=True)
    }


def _status(results):
    """Says what failed; the exit status of the sweep."""
    failed = {job: reason for job, (state, reason) in results.items() if state == FAILED}
    for job, reason in failed.items():
        print(f"failed: {job.name}: {reason}; see {job.folder}", file=sys.stderr)
    if any(state == STOPPED for state, _ in results.values()):
        print("stopped; the same command goes on", file=sys.stderr)
        return 130
    if failed:
        print("the same command runs what is missing", file=sys.stderr)
    return 1 if failed else 0


def _names(runs):
    """The words of each run that not all have; all words of a single run."""
    common = set.intersection(*map(set, runs)) if len(runs) > 1 else set()
    return [" ".join(word for word in run if word not in common) for run in runs]


def _check(runs, configs):
    folders = {}
    for run, config in zip(runs, configs, strict=True):
        check_run(config)
        other = folders.setdefault(config.logdir, run)
        if other is not run:
            raise UserError(
                f"the runs {' '.join(other)!r} and {' '.join(run)!r} would share "
                f"the folder {config.logdir}; name what differs in it, such as "
                "'logdir=logdir/${task}/${batch_size}/${seed}'"
            )

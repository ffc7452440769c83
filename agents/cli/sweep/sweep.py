"""Several runs: every combination of comma-separated values, side by side."""

import contextlib
import pathlib
import shlex
import sys

from agents.cli.sweep.launching import FAILED, STOPPED, Job, ProcessLauncher, start_here
from agents.cli.sweep.table import SweepTable
from agents.runs.config import overrides
from agents.runs.folder import check_run
from agents.runs.history import is_finished
from agents.system.errors import UserError
from agents.system.processes import cores
from agents.training.distributed.cluster import need_ray

_GPU = "/dev/nvidia0"


def _plan(words):
    """Dict of `Job` -> config of the runs of words such as `seed=0,1`, all checked."""
    runs = overrides.expand(words)
    configs = [overrides.load(run) for run in runs]
    _check(runs, configs)
    return {
        Job(tuple(run), pathlib.Path(config.logdir), config.environment_steps, name): config
        for run, config, name in zip(runs, configs, _names(runs), strict=True)
    }


def sweep(words, at_once=None):
    """Trains every combination of the comma-separated values.

    All configs are checked before the first run starts. Runs that are finished are left
    alone, so that the same command does what is missing. A run that fails does not stop
    the others; Ctrl-C stops all.

    `at_once` runs train at the same time; None: as many as there are cores for, of this
    machine or of the cluster that `address` names. The exit status is 0 if all runs ended
    well, 1 if one failed, 130 after Ctrl-C.
    """
    planned = _plan(words)
    configs = list(planned.values())
    finished = [job for job, config in planned.items() if is_finished(config)]
    with contextlib.ExitStack() as stack:
        if configs[0].address and not configs[0].has_processes:  # those join it themselves
            need_ray()
            from agents.cli.sweep import in_cluster

            joined = in_cluster.joined(configs[0], max(map(_cores, configs)))
            room, start = stack.enter_context(joined)
        else:
            room, start = default_at_once(configs), start_here
        at_once = at_once or room
        table = SweepTable(planned, at_once, finished)
        launcher = ProcessLauncher(at_once, stack.enter_context(table), start)
        return _status(launcher.launch([job for job in planned if job not in finished]))


def print_commands(words):
    """Prints a command for each run that is missing, a line each, for a shell.

    Whoever reads them decides where and when each runs: `xargs`, GNU parallel, or the queue
    of a cluster whose machines see the same files.
    """
    planned = _plan(words)
    missing = [job for job, config in planned.items() if not is_finished(config)]
    for job in missing:
        print(shlex.join(["bayes-rl", "train", *job.words]))
    print(f"{len(missing)} of {len(planned)} runs are missing", file=sys.stderr)


def default_at_once(configs):
    """How many runs share this machine: its cores over those that a run keeps busy.

    Those are the threads of each actor, learner and evaluator, or one for each environment.
    One, where a run takes all devices: with other `devices`, with `threads=0`, or where
    there is a GPU, which one run keeps busy.
    """
    whole = any(config.devices != "default" or not config.threads for config in configs)
    if whole or pathlib.Path(_GPU).exists():
        return 1
    return max(1, cores() // max(map(_cores, configs)))


def _cores(config):
    others = config.actors + config.learners - 1 + config.evaluates_apart
    if config.actors:
        return config.threads * (others + 1)
    return max(config.threads, config.environments) + config.threads * others


def _status(results):
    """Says what failed; the exit status of the sweep."""
    failed = {job: reason for job, (state, reason) in results.items() if state == FAILED}
    for job, reason in failed.items():
        print(f"failed: {job.name}: {reason}; see {job.folder}", file=sys.stderr)
    if any(state == STOPPED for state, _ in results.values()):
        print("stopped; the same command resumes", file=sys.stderr)
        return 130
    if failed:
        print("the same command trains the missing runs", file=sys.stderr)
    return 1 if failed else 0


def _names(runs):
    """The words of each run that not all have; all words of a single run."""
    common = set.intersection(*map(set, runs)) if len(runs) > 1 else set()
    return [" ".join(word for word in run if word not in common) for run in runs]


def _check(runs, configs):
    places = {(config.address, config.has_processes) for config in configs}
    if len(places) > 1 and any(address for address, _ in places):
        raise UserError(
            "a sweep with address= needs the same address for all of its runs, and either "
            "actors or evaluation.apart=true for all of them or for none"
        )
    folders = {}
    for run, config in zip(runs, configs, strict=True):
        check_run(config)
        other = folders.setdefault(config.logdir, run)
        if other is not run:
            raise UserError(
                f"the runs {' '.join(other)!r} and {' '.join(run)!r} would share "
                f"the folder {config.logdir}; put differing keys into logdir, such as "
                "'logdir=logdir/${task}/${batch_size}/${seed}'"
            )

"""The command `bayes-rl migrate RUN...`: runs of earlier versions in today's form."""

import pathlib
import sys

from agents.runs.folder import read_values, runs_below
from agents.runs.migrating import migrate as migrate_run
from agents.system.errors import InUseError, UserError
from envs.quiet import import_gym


def migrate(runs):
    """Brings the config.yaml of runs to today's form; says a line of each run.

    A run that cannot be migrated is told, and stops no other. The exit status is 1 where a
    process has one of them, 2 where one is not right. A `UserError`: a folder has no run.
    """
    status = 0
    for run in [each for folder in runs for each in _runs_in(folder)]:
        try:
            kept = migrate_run(run, settled)
        except UserError as error:
            print(f"bayes-rl: {error}", file=sys.stderr)
            status = max(status, 1 if isinstance(error, InUseError) else 2)
        else:
            migrated = f"is migrated; its config of before is {kept}"
            print(f"{run} {migrated if kept else 'has the form of today'}")
    return status


def _runs_in(folder):
    found = list(runs_below(folder))
    if not found:
        read_values(folder)  # says what is wrong with it
    return found or [pathlib.Path(folder)]


def settled(config):
    """Loads the task of a config, which decides what that leaves open."""
    import_gym()  # TF-Agents would import it with a notice
    from agents.training.checking import settled

    return settled(config)

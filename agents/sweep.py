"""Several runs, one after another, each in a process of its own."""

import subprocess
import sys

from agents import overrides
from agents.runs import check_run
from agents.validation import UserError


def sweep(words):
    """Trains every combination of the comma-separated values, in order.

    All configs are checked before the first run starts. A run that fails does not stop
    those that follow; Ctrl-C stops all.

    Args:
        words: overrides as typed, such as `seed=0,1`.

    Returns:
        Exit status: 0 if all runs ended well, 1 if one failed, 130 after Ctrl-C.

    Raises:
        UserError: a config is not right, or two runs would share a folder.
    """
    jobs = overrides.expand(words)
    _check(jobs)
    failed = []
    for number, job in enumerate(jobs, 1):
        print(f"run {number} of {len(jobs)}: {' '.join(job)}", flush=True)
        status = _run([sys.executable, "-m", "agents", "train", *job])
        if status == 130:
            return 130
        if status:
            failed.append(f"{' '.join(job)} (exit status {status})")
    for line in failed:
        print(f"failed: {line}", file=sys.stderr)
    return 1 if failed else 0


def _run(command):
    process = subprocess.Popen(command)
    interrupted = False
    while True:
        try:
            status = process.wait()
            return 130 if interrupted else status
        except KeyboardInterrupt:
            interrupted = True  # the terminal has told the run too; let it save


def _check(jobs):
    folders = {}
    for job in jobs:
        config = overrides.load(job)
        check_run(config)
        other = folders.setdefault(config.logdir, job)
        if other is not job:
            raise UserError(
                f"the runs {' '.join(other)!r} and {' '.join(job)!r} would share "
                f"the folder {config.logdir}; name what differs in it, such as "
                "'logdir=logdir/${task}/${batch_size}/${seed}'"
            )

"""Where numbers come from: the code, the machine and the libraries of a session."""

import datetime
import importlib.metadata
import os
import pathlib
import platform
import subprocess

from agents.runs import records

_LIBRARIES = ("tensorflow", "tensorflow-probability", "tf-agents", "dm-control", "mujoco")


def provenance():
    """Dict of commit, hardware and versions.

    `commit` ends in `+changes` where the code differs from the commit, and is None where
    the code is not in a git repository.
    """
    return {
        "commit": _commit(),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(
            os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
        ),
        "python": platform.python_version(),
        "libraries": {
            name: _version(name) or _version(f"{name}-cpu") for name in _LIBRARIES
        },
    }


def note_session(folder, counts):
    """Adds a line to `sessions.jsonl` of a run: when, where and with what it went on.

    Args:
        folder: of the run.
        counts: dict of the run's counts at the start of the session.
    """
    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    records.append_session(folder, {"started": started, **counts, **provenance()})


def _version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _commit():
    if _git("ls-files", "--error-unmatch", pathlib.Path(__file__).name) is None:
        return None  # of no repository, or installed below that of another project
    commit = _git("rev-parse", "--short=12", "HEAD")
    changed = commit and _git("status", "--porcelain", "--untracked-files=no")
    return f"{commit}+changes" if changed else commit


def _git(*words):
    folder = pathlib.Path(__file__).parent
    try:
        done = subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True)
    except OSError:  # git is not installed
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _processor():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [
        line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")
    ]
    return names[0] if names else platform.processor()

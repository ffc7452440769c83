"""Runs as processes of this machine, some at a time."""

import collections
import contextlib
import dataclasses
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import agents

LOG = "output.log"
WAITING, RUNNING, DONE, FAILED, STOPPED = "waiting", "running", "done", "failed", "stopped"
_POLL_SECONDS = 0.2
# The very package that this process runs: neither one of its name in the current folder,
# which `python -m agents` would take first, nor another one that is installed.
_HOME = str(pathlib.Path(agents.__file__).parents[1])
_MAIN = (
    "import sys; home = sys.argv.pop(1); home in sys.path or sys.path.insert(0, home); "
    "from agents.__main__ import run; run()"
)


@dataclasses.dataclass(frozen=True)
class Job:
    """One run of a sweep.

    Args:
        words: its overrides, as typed.
        folder: `pathlib.Path`.
        environment_steps: its length.
        name: the words that tell it from the others.
    """

    words: tuple
    folder: pathlib.Path
    environment_steps: int
    name: str

    @property
    def command(self):
        """What a process is started with."""
        return command_of("train", *self.words)


def command_of(*words):
    """The command line of `bayes-rl` with these words."""
    # -P keeps the current folder from its imports
    return [sys.executable, "-P", "-c", _MAIN, _HOME, *words]


class ProcessLauncher:
    """Runs each job in a process whose output goes to `output.log` in the run's folder.

    A job that fails does not stop the others. Ctrl-C, or the end of the terminal, starts
    no more jobs and tells those that run, once each, so that they save; a second Ctrl-C
    kills them, at the cost of the episode in flight.

    Args:
        at_once: jobs that run at the same time, at least 1.
        table: is told what happens, see `agents.sweep.table.SweepTable`; None: nobody is.
    """

    def __init__(self, at_once, table=None):
        self._at_once = at_once
        self._table = table
        self._running = {}  # job -> (process, place in its log where it began)

    def launch(self, jobs):
        """Runs all jobs.

        Args:
            jobs: list of `Job`.

        Returns:
            Dict of job -> (state, its last error line or "").
        """
        waiting, results = collections.deque(jobs), dict.fromkeys(jobs, (STOPPED, ""))
        with stopping() as wishes:
            heard = 0
            while self._running or (waiting and not wishes):
                while waiting and len(self._running) < self._at_once and not wishes:
                    self._start(waiting.popleft(), results)
                self._collect(results, stopping=bool(wishes))
                if len(wishes) > heard:
                    self._stop(kill=heard > 0)
                    heard = len(wishes)
                self._show("refresh")
                time.sleep(_POLL_SECONDS)
        return results

    def _start(self, job, results):
        try:
            job.folder.mkdir(parents=True, exist_ok=True)
            with open(job.folder / LOG, "ab") as log:
                begun = log.tell()
                process = subprocess.Popen(
                    job.command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env=os.environ | {"PYTHONUNBUFFERED": "1"},
                    start_new_session=True,  # Ctrl-C reaches it through this process alone
                )
        except OSError as error:
            self._end(job, FAILED, str(error), results)
            return
        self._running[job] = process, begun
        self._show("change", job, RUNNING)

    def _collect(self, results, stopping):
        for job, (process, begun) in list(self._running.items()):
            status = process.poll()
            if status is None:
                continue
            del self._running[job]
            if status == 0:
                self._end(job, DONE, "", results)
            elif stopping:
                self._end(job, STOPPED, "", results)
            else:
                self._end(job, FAILED, _reason(status, job.folder / LOG, begun), results)

    def _end(self, job, state, reason, results):
        results[job] = state, reason
        self._show("change", job, state, reason)

    def _stop(self, kill):
        for process, _ in self._running.values():
            if kill:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            else:
                process.send_signal(signal.SIGINT)
        self._show("stopping", kill)

    def _show(self, what, *news):
        if self._table is not None:
            getattr(self._table, what)(*news)


def _reason(status, log, begun):
    """Why a process failed, in one line."""
    if status < 0:
        return f"killed by {signal.Signals(-status).name}"
    with open(log, "rb") as file:
        file.seek(begun)
        text = file.read().decode(errors="replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = lines[-1].removeprefix("bayes-rl: ") if lines else "no output"
    return f"{last} (exit status {status})"


@contextlib.contextmanager
def stopping():
    """A list that gets an entry with each Ctrl-C; nothing is raised amid other work."""
    wishes = []
    before = {}
    if threading.current_thread() is not threading.main_thread():  # gets no signals
        yield wishes
        return
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number == signal.SIGINT or signal.getsignal(number) != signal.SIG_IGN:  # nohup
            before[number] = signal.signal(number, lambda *_: wishes.append(True))
    try:
        yield wishes
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

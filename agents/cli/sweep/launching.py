"""Runs as processes of this machine, some at a time."""

import collections
import dataclasses
import pathlib
import signal
import time

from agents.system.processes import LoggedProcess, command_of, stopping

LOG = "output.log"
WAITING, RUNNING, DONE, FAILED, STOPPED = "waiting", "running", "done", "failed", "stopped"
_POLL_SECONDS = 0.2


@dataclasses.dataclass(frozen=True)
class Job:
    """One run of a sweep."""

    words: tuple  # its overrides, as typed
    folder: pathlib.Path
    environment_steps: int  # its length
    name: str  # the words that tell it from the others

    @property
    def command(self):
        """What a process is started with."""
        return command_of("train", *self.words)


def start_here(job):
    """The process of a `Job`, on this machine."""
    job.folder.mkdir(parents=True, exist_ok=True)
    return LoggedProcess(job.command, job.folder / LOG)


class ProcessLauncher:
    """Runs each job in a process whose output goes to `output.log` in the run's folder.

    A job that fails does not stop the others. Ctrl-C, or the end of the terminal, starts
    no more jobs and tells those that run, once each, so that they stop; a second Ctrl-C
    kills them, at the cost of the episode in flight. A `SweepTable` is told what happens.
    """

    def __init__(self, at_once, table, start=start_here):
        self._at_once = at_once
        self._table = table
        self._start_process = start
        self._running = {}  # job -> its process

    def launch(self, jobs):
        """Runs all jobs: dict of `Job` -> (state, its last error line or "")."""
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
                self._table.refresh()
                time.sleep(_POLL_SECONDS)
        return results

    def _start(self, job, results):
        try:
            process = self._start_process(job)
        except OSError as error:
            self._end(job, FAILED, str(error), results)
            return
        self._running[job] = process
        self._table.change(job, RUNNING)

    def _collect(self, results, stopping):
        for job, process in list(self._running.items()):
            status = process.poll()
            if status is None:
                continue
            del self._running[job]
            state = DONE if status == 0 else STOPPED if stopping else FAILED
            self._end(job, state, process.reason if state == FAILED else "", results)

    def _end(self, job, state, reason, results):
        results[job] = state, reason
        self._table.change(job, state, reason)

    def _stop(self, kill):
        for process in self._running.values():
            if kill:
                process.kill()
            else:
                process.send_signal(signal.SIGINT)
        self._table.stopping(kill)

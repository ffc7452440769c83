"""Runs of a sweep in a cluster of Ray, each with its share of cores or a GPU."""

import contextlib
import signal
import time

import ray

from agents.cli.sweep.launching import LOG
from agents.system.processes import LoggedProcess, command_of
from agents.training.distributed import cluster
from agents.training.distributed.remote import LIFE

_POLL_SECONDS = 0.2


@contextlib.contextmanager
def joined(config, cores):
    """Joins the cluster of a run's config, of whose cores each run keeps some busy.

    Yields how many runs it has room for, at least 1, and what starts the `RemoteRun` of an
    `agents.cli.sweep.launching.Job`. A `UserError`: there is no such cluster.
    """
    with cluster.connected(config, processes=0):
        there = ray.cluster_resources()
        room = int(there.get("CPU", 0)) // cores
        gpus = int(there.get("GPU", 0))
        room = min(room, gpus) if gpus else room
        of_ray = ray.remote(
            num_cpus=cores,
            num_gpus=min(gpus, 1),
            max_restarts=-1,
            max_task_retries=-1,
            concurrency_groups={LIFE: 1},
        )
        yield max(room, 1), lambda job: RemoteRun(of_ray(Run), job)


class RemoteRun:
    """A run somewhere in a cluster, with what a sweep asks of a `LoggedProcess`.

    Ray begins it again, on another machine, where its own one dies. `kind` is `Run` as an
    actor of Ray.
    """

    def __init__(self, kind, job):
        self._folder = job.folder.resolve()
        self._run = kind.remote()
        words = [*job.words, f"logdir={self._folder}", "address=null"]
        self._status = self._run.train.remote(words, self._folder)
        self.reason = ""

    def poll(self):
        """The exit status of the run; None while it waits or goes on."""
        if not ray.wait([self._status], timeout=0)[0]:
            return None
        try:
            status, self.reason = ray.get(self._status)
        except ray.exceptions.RayError as error:
            status, self.reason = 1, cluster.first_line(getattr(error, "cause", error))
        self._run = None  # its cores are free
        if status == 0 and not (self._folder / "config.yaml").exists():
            status = 1
            self.reason = f"{self._folder} is not here: all machines must see that folder"
        return status

    def send_signal(self, _):
        """Lets the run end, as Ctrl-C does."""
        self._run.stop.remote()

    def kill(self):
        """Kills it."""
        ray.kill(self._run)


class Run:
    """A run as a process of the machine where Ray has put this actor."""

    def __init__(self):
        self._process, self._is_stopped = None, False

    def train(self, words, folder):
        """Trains to the end; exit status, and why the run has failed."""
        folder.mkdir(parents=True, exist_ok=True)
        # Ray's processes are deaf to Ctrl-C, and what they start would be.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        self._process = LoggedProcess(command_of("train", *words), folder / LOG)
        if self._is_stopped:
            self.stop()
        while self._process.poll() is None:
            time.sleep(_POLL_SECONDS)
        status = self._process.returncode
        return status, self._process.reason if status else ""

    @ray.method(concurrency_group=LIFE)
    def stop(self):
        """Lets the run end, as Ctrl-C does."""
        self._is_stopped = True
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)

"""Runs of a sweep as tasks of a cluster of Ray, each with its share of cores or a GPU."""

import contextlib
import signal
import time

import ray

from agents.cli.sweep.launching import LOG
from agents.system.processes import LoggedProcess, command_of
from agents.training.distributed import cluster

_POLL_SECONDS = 0.2


@contextlib.contextmanager
def joined(config, cores):
    """Joins a cluster for the length of a block.

    Args:
        config: `agents.runs.config.schema.Train` of a run, whose `address` names it.
        cores: that a run keeps busy.

    Yields:
        How many runs it has room for, at least 1, and what starts one: a function of a
        `agents.cli.sweep.launching.Job` that returns a `TaskProcess`.

    Raises:
        UserError: there is no such cluster.
    """
    with cluster.connected(config, processes=0):
        there = ray.cluster_resources()
        room = int(there.get("CPU", 0)) // cores
        gpus = int(there.get("GPU", 0))
        room = min(room, gpus) if gpus else room
        make = ray.remote(num_cpus=cores, num_gpus=min(gpus, 1))(_train)
        yield max(room, 1), lambda job: TaskProcess(make, job)


class TaskProcess:
    """A run somewhere in a cluster, with what a sweep asks of a `LoggedProcess`.

    Ray begins it again, on another machine, where its own one dies.

    Args:
        make: remote function, which trains.
        job: `agents.cli.sweep.launching.Job`.
    """

    def __init__(self, make, job):
        folder = job.folder.resolve()
        self._folder = folder
        self._task = make.remote([*job.words, f"logdir={folder}", "address=null"], folder)
        self.reason = ""

    def poll(self):
        """The exit status of the run; None while it waits or goes on."""
        if not ray.wait([self._task], timeout=0)[0]:
            return None
        try:
            status, self.reason = ray.get(self._task)
        except ray.exceptions.RayError as error:
            status, self.reason = 1, cluster.first_line(getattr(error, "cause", error))
        if status == 0 and not (self._folder / "config.yaml").exists():
            status = 1
            self.reason = f"{self._folder} is not here: all machines must see that folder"
        return status

    def send_signal(self, _):
        """Lets the run save and end."""
        ray.cancel(self._task)

    def kill(self):
        """Kills it."""
        ray.cancel(self._task, force=True)


def _train(words, folder):
    """Exit status of a run, and why it has failed; in a process of the cluster."""
    folder.mkdir(parents=True, exist_ok=True)
    process = LoggedProcess(command_of("train", *words), folder / LOG)
    try:
        while process.poll() is None:
            time.sleep(_POLL_SECONDS)
    except KeyboardInterrupt:  # Ray's word for: cancelled
        process.send_signal(signal.SIGINT)
        process.wait()
        raise
    return process.returncode, process.reason if process.returncode else ""

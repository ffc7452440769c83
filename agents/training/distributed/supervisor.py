"""The process that a person starts: it starts the others and brings back what dies."""

import contextlib
import dataclasses
import pathlib
import signal
import subprocess
import time

from agents.runs import history
from agents.runs.folder import Run, check_run, learner_name, open_run
from agents.runs.history import Follower
from agents.system.errors import InUseError
from agents.system.locking import lock_folder
from agents.system.processes import (
    LoggedProcess,
    command_of,
    free_addresses,
    stopping,
)
from agents.system.screen.progress import Progress
from agents.training.distributed.heartbeat import read_beat
from agents.training.distributed.loopback import Loopback

_POLL = 0.2  # seconds
_SILENCE = 10.0  # without a beat after which a process is spoken of
_DEATH = 20.0  # and after which it is killed
_START = 60.0  # likewise before its first one
_LONG_WAIT = 15.0  # after which a wait is spoken of
_MOST_BACKOFF = 10.0
_STEADY = 60.0  # a process that lived so long has failed by chance
_PATIENCE = 10.0  # for an earlier process of the run, which may still be ending


def supervise(config, words):
    """Trains a run by a server, learners and actors on this machine.

    Args:
        config: `agents.runs.config.schema.Train`, with actors.
        words: of the config, as typed.

    Returns:
        Exit status: 0, 1 where the model diverged, 2 where a process found what was typed
        to be wrong, or 130 after Ctrl-C.

    Raises:
        UserError: as `agents.runs.folder.open_run`; an `InUseError`, where another process
            supervises the run.
    """
    with (
        _alone(config),
        contextlib.closing(Loopback()) as loopback,
        Progress(config.environment_steps) as progress,
        stopping() as wishes,
    ):
        supervisor = Supervisor(config, words, loopback, progress)
        progress.start(supervisor.banner, supervisor.environment_steps)
        try:
            while (status := supervisor.look()) is None and not wishes:
                time.sleep(_POLL)
        finally:
            supervisor.stop()
        if status is None:
            progress.note("stopped; saved. The same command resumes the run.")
            return 130
        if status == 0:
            progress.note(f"done; curves: bayes-rl plot {config.logdir}")
    return status


@contextlib.contextmanager
def _alone(config):
    """Writes the run's config; keeps others from supervising the run before it learns."""
    check_run(config)
    roles = Run(pathlib.Path(config.logdir)).roles
    roles.mkdir(parents=True, exist_ok=True)
    with _patiently(lock_folder, roles):
        _patiently(open_run, config).close()
        yield


def _patiently(take, what):
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return take(what)
        except InUseError:
            if time.monotonic() > until:
                raise
            time.sleep(_POLL)


@dataclasses.dataclass
class _Role:
    """A process of the run."""

    name: str
    command: list
    process: LoggedProcess | None = None
    started: float = 0.0
    failures: int = 0
    start_at: float = 0.0
    beat: object = None  # the newest, and when its count was new
    heard: float = 0.0
    told: str = ""  # what was said of it last
    is_done: bool = False

    @property
    def learns(self):
        return self.name.startswith("learner")

    def send(self, number):
        """Sends a signal to its process, if there is one."""
        if self.process is not None:
            self.process.send_signal(number)


class Supervisor:
    """Starts the processes of a run and watches them.

    Args:
        config: `agents.runs.config.schema.Train`.
        words: of the config, as typed.
        loopback: `agents.training.distributed.loopback.Loopback`.
        progress: `agents.system.screen.progress.Progress`.

    Attributes:
        banner: what a person is told first, dict of name -> text.
        environment_steps: that earlier sessions of the run have done.
    """

    def __init__(self, config, words, loopback, progress):
        self._loopback = loopback
        self._progress = progress
        self._run = Run(pathlib.Path(config.logdir))
        self._follower = Follower(self._run.folder)
        self._follower.update()
        self._shown = self._follower.newest.get("episodes", 0)
        self.environment_steps = self._follower.newest.get("environment_steps", 0)
        server, *learners = free_addresses(1 + config.learners)
        self._roles = [
            _Role(name, command_of(role, "--server", server, *options, *words))
            for name, role, options in _parts(config, learners)
        ]
        self._run.roles.mkdir(parents=True, exist_ok=True)
        open_to_all = "which this system leaves open to all that reach this machine"
        where = "in a network of its own" if loopback.is_private else open_to_all
        self.banner = {
            "run": config.logdir,
            "processes": f"server, {config.learners} x learner, {config.actors} x actor",
            "server": f"{server}, {where}",
        }

    def look(self):
        """Starts what is due, and says what happens.

        Returns:
            Exit status of the run where it has ended, else None.
        """
        for role in self._roles:
            if role.is_done:
                continue
            if role.process is None:
                self._start_if_due(role)
            elif (status := role.process.poll()) is not None:
                ended = self._ended(role, status)
                if ended is not None:
                    return ended
            else:
                self._listen(role)
        self._show()
        return None

    def stop(self):
        """Ends all processes: the learner saves, the others have nothing to lose."""
        for role in self._roles:
            role.send(signal.SIGCONT)
            role.send(signal.SIGINT)
        until = time.monotonic() + 15.0
        for role in self._roles:
            if role.process is not None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    role.process.wait(max(0.1, until - time.monotonic()))
                role.process.kill()
                role.process.wait()

    def _start_if_due(self, role):
        if time.monotonic() < role.start_at:
            return
        log = self._run.roles / f"{role.name}.log"
        role.process = LoggedProcess(role.command, log, preexec_fn=self._loopback.enter)
        role.started = role.heard = time.monotonic()
        role.beat = None

    def _ended(self, role, status):
        """The run's exit status, where it ends with this process, else None."""
        reason, role.process = role.process.reason, None
        if role.learns and (status == 0 or self._diverged(role, status)):
            role.is_done = True  # so will be the first of them, whose status is the run's
            if status:
                self._progress.note(f"{role.name}: {reason}")
            return status if role.name == learner_name(0) else None
        if status == 2:  # no other process of this command would do better
            self._progress.note(f"{role.name}: {reason}")
            return status
        self._start_later(role)
        self._progress.note(f"{role.name} ended: {reason}; it is restarted")
        if role.learns:
            self._end_other_learners(role)
        return None

    def _start_later(self, role):
        lived = time.monotonic() - role.started
        role.failures = 1 if lived > _STEADY else role.failures + 1
        wait = min(2.0 ** (role.failures - 2), _MOST_BACKOFF) if role.failures > 1 else 0.0
        role.start_at = time.monotonic() + wait

    def _end_other_learners(self, ended):
        """Learners compute as one: all go on from the last checkpoint, or none does."""
        for role in self._roles:
            if role.learns and role is not ended:
                role.is_done = False
                if role.process is not None:
                    role.process.kill()
                    role.process.wait()
                    role.process = None
                    role.start_at = ended.start_at

    def _diverged(self, role, status):
        first = role.name == learner_name(0)
        folder = self._run.folder if first else self._run.folder / role.name
        return status == 1 and history.read_divergence(folder) is not None

    def _listen(self, role):
        beat, now = read_beat(self._run.roles, role.name), time.monotonic()
        if beat is not None and beat.process == role.process.pid:
            if role.beat is None or beat.count != role.beat.count:
                role.heard = now
            role.beat = beat
        silence = now - role.heard
        if silence > (_DEATH if role.beat else _START):
            self._progress.note(f"{role.name}: no sign of life for {silence:.0f} s; killed")
            role.process.kill()
        elif role.beat and silence > _SILENCE:
            self._say(role, f"no sign of life for {_SILENCE:.0f} s")
        elif role.beat and role.beat.since > _LONG_WAIT and _waits(role.beat):
            self._say(role, f"{role.beat.state} for {_LONG_WAIT:.0f} s")
        else:
            role.told = ""

    def _say(self, role, what):
        if what != role.told:
            self._progress.note(f"{role.name}: {what}")
            role.told = what

    def _show(self):
        self._progress.states(
            {
                role.name: role.beat.state if role.beat else "starting"
                for role in self._roles
            }
        )
        if self._follower.update():
            for row in self._follower.added:
                if row["episodes"] > self._shown:
                    self._shown = row["episodes"]
                    self._progress.episode(row)


def _parts(config, learners):
    """Name, role and options of each process of a run; `learners` are addresses."""
    yield "server", "server", []
    for number in range(config.learners):
        among = ["--number", str(number), "--learners", ",".join(learners)]
        yield learner_name(number), "learner", among if config.learners > 1 else []
    for number in range(config.actors):
        yield f"actor_{number}", "actor", ["--number", str(number)]


def _waits(beat):
    return beat.state.startswith("waiting")

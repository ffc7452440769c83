"""The process that a person starts: it starts the others and brings back what dies."""

import contextlib
import ctypes
import dataclasses
import os
import signal
import socket
import subprocess
import time

from agents.distributed.heartbeat import read_beat
from agents.distributed.loopback import Loopback
from agents.errors import UserError
from agents.runs import divergence
from agents.runs.folder import open_run
from agents.runs.following import Follower
from agents.screen.progress import Progress
from agents.sweep.processes import command_of, stopping

_POLL = 0.2  # seconds
_SILENCE = 10.0  # without a beat after which a process is spoken of
_DEATH = 20.0  # and after which it is killed
_START = 60.0  # likewise before its first one
_LONG_WAIT = 15.0  # after which a wait is spoken of
_MOST_BACKOFF = 10.0
_STEADY = 60.0  # a process that lived so long has failed by chance
_KILL_CHILD = 1  # of linux/prctl.h: PR_SET_PDEATHSIG
_LIBC = ctypes.CDLL(None)


def supervise(config, words):
    """Trains a run by a server, a learner and actors on this machine.

    Args:
        config: `agents.config.schema.Train`, with actors.
        words: of the config, as typed.

    Returns:
        Exit status: 0, 1 where the model diverged, 2 where a process found what was typed
        to be wrong, or 130 after Ctrl-C.
    """
    _wait_for_the_folder(config)
    with (
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
            progress.note("stopped; saved. The same command goes on there.")
            return 130
        if status == 0:
            progress.note(f"done; curves: bayes-rl plot {config.logdir}")
    return status


def _wait_for_the_folder(config, patience=10.0):
    """Writes the run's config; an earlier learner of it may still be ending."""
    until = time.monotonic() + patience
    while True:
        try:
            open_run(config).close()
            return
        except UserError:
            if time.monotonic() > until:
                raise
            time.sleep(_POLL)


@dataclasses.dataclass
class _Role:
    """A process of the run."""

    name: str
    command: list
    process: subprocess.Popen | None = None
    started: float = 0.0
    failures: int = 0
    start_at: float = 0.0
    beat: object = None  # the newest, and when its count was new
    heard: float = 0.0
    told: str = ""  # what was said of it last


class Supervisor:
    """Starts the processes of a run and watches them.

    Args:
        config: `agents.config.schema.Train`.
        words: of the config, as typed.
        loopback: `agents.distributed.loopback.Loopback`.
        progress: `agents.screen.progress.Progress`.

    Attributes:
        banner: what a person is told first, dict of name -> text.
        environment_steps: that earlier sessions of the run have done.
    """

    def __init__(self, config, words, loopback, progress):
        self._loopback = loopback
        self._progress = progress
        self._folder = open_run(config)
        self._folder.close()
        self._follower = Follower(self._folder.folder)
        self._follower.update()
        self._shown = self._follower.newest.get("episodes", 0)
        self.environment_steps = self._follower.newest.get("environment_steps", 0)
        address = f"127.0.0.1:{_free_port()}"
        names = ["server", "learner", *(f"actor_{n}" for n in range(config.actors))]
        self._roles = [_Role(name, _command(name, address, words)) for name in names]
        self._folder.roles.mkdir(exist_ok=True)
        open_to_all = "which this system leaves open to all that reach this machine"
        where = "in a network of its own" if loopback.is_private else open_to_all
        self.banner = {
            "run": config.logdir,
            "processes": f"1 server, 1 learner, {config.actors} actors",
            "server": f"{address}, {where}",
        }

    def look(self):
        """Starts what is due, and says what happens.

        Returns:
            Exit status of the run where it has ended, else None.
        """
        for role in self._roles:
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
            if role.process is not None:
                role.process.send_signal(signal.SIGCONT)
                role.process.send_signal(signal.SIGINT)
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
        with open(self._log(role), "ab") as log:
            role.process = subprocess.Popen(
                role.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=os.environ | {"PYTHONUNBUFFERED": "1"},
                start_new_session=True,  # Ctrl-C reaches it through this process alone
                preexec_fn=self._prepare,
            )
        role.started = role.heard = time.monotonic()
        role.beat = None

    def _prepare(self):
        """In the new process: it shares the run's network, and dies with this process."""
        self._loopback.enter()
        _LIBC.prctl(_KILL_CHILD, signal.SIGKILL)

    def _ended(self, role, status):
        role.process = None
        if role.name == "learner" and (status == 0 or self._diverged(status)):
            return status
        if status == 2:  # no other process of this command would do better
            self._progress.note(f"{role.name}: {_last_line(self._log(role))}")
            return status
        lived = time.monotonic() - role.started
        role.failures = 1 if lived > _STEADY else role.failures + 1
        wait = min(2.0 ** (role.failures - 2), _MOST_BACKOFF) if role.failures > 1 else 0.0
        role.start_at = time.monotonic() + wait
        how = (
            f"was killed by {signal.Signals(-status).name}"
            if status < 0
            else (f"ended with status {status}: {_last_line(self._log(role))}")
        )
        self._progress.note(f"{role.name} {how}; it is started again")
        return None

    def _diverged(self, status):
        return status == 1 and divergence.read(self._folder.folder) is not None

    def _listen(self, role):
        beat, now = read_beat(self._folder.roles, role.name), time.monotonic()
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

    def _log(self, role):
        return self._folder.roles / f"{role.name}.log"


def _command(name, address, words):
    role, _, number = name.partition("_")
    numbered = ["--number", number] if number else []
    return command_of(role, "--server", address, *numbered, *words)


def _waits(beat):
    return beat.state.startswith("waiting")


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _last_line(log):
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip().removeprefix("bayes-rl: ") if lines else "no output"

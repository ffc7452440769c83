"""Processes of `bayes-rl` that other processes of it start."""

import contextlib
import ctypes
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

# The very package that this process runs: neither one of its name in the current folder,
# which `python -m agents` would take first, nor another one that is installed.
_HOME = str(pathlib.Path(__file__).parents[2])
_MAIN = (
    "import sys; home = sys.argv.pop(1); home in sys.path or sys.path.insert(0, home); "
    "from agents.system.processes import end_as_started; end_as_started(); "
    "from agents.__main__ import run; run()"
)
_STARTED_BY = "BAYES_RL_STARTED_BY"  # of the environment: number of a process

_KILL_CHILD = 1  # of linux/prctl.h: PR_SET_PDEATHSIG
_LIBC = ctypes.CDLL(None)
_WATCH_SECONDS = 0.5
_NOTES = "In call to configurable"  # gin's, below the error that it belongs to


def cores():
    """How many cores this process may use; all of them where macOS does not tell."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def command_of(*words):
    """The command line of `bayes-rl` with these words."""
    # -P keeps the current folder from its imports
    return [sys.executable, "-P", "-c", _MAIN, _HOME, *words]


class LoggedProcess(subprocess.Popen):
    """A process that reads nothing and whose output goes to the end of a log.

    One of `bayes-rl` dies with this process, or with the thread that started it: a killed
    sweep leaves no run that keeps its folder from the same command. An `OSError`: it cannot
    be started, or the log not be written.
    """

    def __init__(self, command, log):
        self._log = log
        with open(log, "ab") as file:
            self._begun = file.tell()
            super().__init__(
                command,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                env=os.environ | {"PYTHONUNBUFFERED": "1", _STARTED_BY: str(os.getpid())},
                start_new_session=True,  # Ctrl-C reaches it through this process alone
            )

    def kill(self):
        """Kills it, and what it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    @property
    def reason(self):
        """Why it has failed, in one line: the last of its output, or what killed it."""
        if self.returncode < 0:
            return f"killed by {signal.Signals(-self.returncode).name}"
        with open(self._log, "rb") as file:
            file.seek(self._begun)
            text = file.read().decode(errors="replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        told = [line for line in lines if not line.startswith(_NOTES)]
        last = told[-1].removeprefix("bayes-rl: ") if told else "no output"
        return f"{last} (exit status {self.returncode})"


def free_addresses(count):
    """So many addresses of this machine, `127.0.0.1:PORT`, at which nobody listens."""
    with contextlib.ExitStack() as probes:
        sockets = [probes.enter_context(socket.socket()) for _ in range(count)]
        for probe in sockets:
            probe.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{probe.getsockname()[1]}" for probe in sockets]


def end_as_started():
    """Lets the calling process die with the one that it is a `LoggedProcess` of, if any."""
    parent = os.environ.pop(_STARTED_BY, None)  # what it starts itself has another one
    if parent:
        die_with_parent(int(parent))


def die_with_parent(parent=None):
    """Lets the calling process be killed when the one that started it dies, or has died.

    Linux does that; elsewhere a thread looks twice in a second. None: the present parent.
    """
    parent = parent or os.getppid()
    if sys.platform == "linux":
        _LIBC.prctl(_KILL_CHILD, signal.SIGKILL)
        _die_without(parent)
    else:
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent):
    while True:
        _die_without(parent)
        time.sleep(_WATCH_SECONDS)


def _die_without(parent):
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


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

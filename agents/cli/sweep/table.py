"""Progress of a sweep: a live table on a terminal, plain lines elsewhere."""

import time

from rich.console import Group
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from agents.cli.sweep.launching import DONE, FAILED, LOG, RUNNING, STOPPED, WAITING
from agents.runs.history import Follower
from agents.system.screen.progress import Pace, in_words
from agents.system.screen.text import make_console, number

_REPORT_SECONDS = 60.0  # between reports of what runs, off a terminal
_STYLES = {WAITING: "dim", RUNNING: "cyan", DONE: "green", FAILED: "red", STOPPED: "yellow"}
_COLUMNS = ("episodes", "environment steps", "return", "evaluation", "left")


class SweepTable:
    """Shows how the runs of a sweep go on, from their folders.

    Some of the jobs, see `agents.cli.sweep.launching.Job`, earlier sessions have finished.
    """

    def __init__(self, jobs, at_once, finished=(), console=None):
        self._console = console or make_console()
        self._at_once = at_once
        self._lines = {job: _Line(job) for job in jobs}
        self._live = None
        self._reported = time.monotonic()
        for job in finished:
            self._lines[job].state, self._lines[job].reason = DONE, "before"

    def __enter__(self):
        self._print(f"{self._summary()}; {self._at_once} at once")
        if self._console.is_terminal:
            self._live = Live(
                get_renderable=self._render, console=self._console, refresh_per_second=2
            )
            self._live.start()
        return self

    def __exit__(self, *_):
        if self._live is not None:
            self._live.stop()
            self._live = None
        else:
            self._print(self._summary())

    def change(self, job, state, reason=""):
        """Takes in that a job is in another state."""
        line = self._lines[job]
        line.change(state, reason)
        if self._live is None:
            log = f", output in {job.folder / LOG}" if state == RUNNING else ""
            self._print(f"{job.name}: {line.in_words()}{log}")

    def refresh(self):
        """Reads the folders of the jobs that run; to be called now and then."""
        running = [line for line in self._lines.values() if line.state == RUNNING]
        for line in running:
            line.update()
        if self._live is None and time.monotonic() - self._reported > _REPORT_SECONDS:
            self._reported = time.monotonic()
            for line in running:
                self._print(f"{line.job.name}: {line.report()}")
            self._print(self._summary())

    def stopping(self, killed):
        """Says what Ctrl-C does."""
        if killed:
            self._print("killing the runs; each loses the episode in flight")
        else:
            self._print("stopping the runs. Ctrl-C again kills them.")

    def _summary(self):
        states = [line.state for line in self._lines.values()]
        parts = [f"{states.count(DONE)} of {len(states)} runs done"]
        others = (RUNNING, WAITING, FAILED, STOPPED)
        parts += [f"{states.count(each)} {each}" for each in others if each in states]
        if left := self._left():
            parts.append(f"about {left} left")
        return ", ".join(parts)

    def _left(self):
        """Time that all runs will take together, at the mean pace of those that run."""
        lines = self._lines.values()
        paces = [line.pace.seconds_per_step for line in lines]
        paces = [pace for pace in paces if pace]
        steps = sum(line.steps_left for line in lines if line.state in (WAITING, RUNNING))
        if not paces or not steps:
            return None
        return in_words(steps * sum(paces) / len(paces) / self._at_once)

    def _render(self):
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
        table.add_column("run", no_wrap=True)
        for column in _COLUMNS:
            table.add_column(column, justify="right", no_wrap=True)
        table.add_column("state", no_wrap=True)  # reasons are told whole at the end
        for line in self._visible():
            table.add_row(Text(line.job.name), *line.cells(), line.text())
        return Group(table, Text(self._summary(), style="bold"))

    def _visible(self):
        """All lines where they fit, else those where something happens first."""
        lines = list(self._lines.values())
        room = max(1, self._console.height - 4)
        if len(lines) <= room:
            return lines
        order = (RUNNING, FAILED, STOPPED, WAITING, DONE)
        first = sorted(lines, key=lambda line: order.index(line.state))[:room]
        return [line for line in lines if line in first]

    def _print(self, text):
        self._console.print(escape(text), highlight=False, soft_wrap=self._live is None)


class _Line:
    """What is known of one job."""

    def __init__(self, job):
        self.job, self.state, self.reason = job, WAITING, ""
        self.pace = Pace(job.environment_steps)
        self._follower = Follower(job.folder)
        self._follower.update()

    def change(self, state, reason):
        self.update()
        self.state, self.reason = state, reason
        if state == RUNNING:
            self.pace.start(self._steps)

    def update(self):
        if self._follower.update():
            self.pace.update(self._steps)

    @property
    def _steps(self):
        return self._follower.newest.get("environment_steps", 0)

    @property
    def steps_left(self):
        return max(0, self.job.environment_steps - self._steps)

    def cells(self):
        newest = self._follower.newest
        steps = f"{self._steps:,} / {self.job.environment_steps:,}"
        left = self.pace.left() if self.state == RUNNING else ""
        values = (newest.get(key) for key in ("collect/return", "evaluate/return"))
        returns = ["" if value is None else number(value) for value in values]
        return [str(newest.get("episodes", "")), steps, *returns, left]

    def report(self):
        cells = zip(_COLUMNS, self.cells(), strict=True)
        return ", ".join(f"{name} {cell}" for name, cell in cells if cell)

    def in_words(self):
        return f"{self.state}: {self.reason}" if self.reason else self.state

    def text(self):
        return Text(self.in_words(), style=_STYLES[self.state], overflow="ellipsis")

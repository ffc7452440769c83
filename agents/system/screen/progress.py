"""What a person watches: a bar and a small table on a terminal or in a notebook.

Elsewhere there are plain lines.
"""

import io
import time

from rich.console import Group
from rich.constrain import Constrain
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, ProgressColumn, TextColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from agents.system.screen.text import make_console, number

_SHOWN = {
    "collect/return": "return",
    "evaluate/return": "evaluation return",
    "train/loss": "loss",
    "train/observation_loss": "observation loss",
    "train/image_loss": "image loss",
    "train/reward_loss": "reward loss",
    "train/continuation_loss": "continuation loss",
    "train/latent_kl": "latent KL (nats)",
    "train/weight_kl": "weight KL (nats)",
    "speed/train_steps": "train steps / s",
}
_ON_A_LINE = (
    "collect/return",
    "evaluate/return",
    "train/loss",
    "train/latent_kl",
    "train/weight_kl",
    "speed/train_steps",
)

_NOTEBOOK_WIDTH = 100  # characters
_NOTEBOOK_PAUSE = 0.25  # seconds between two pictures
_FORMAT = "<pre style='line-height:normal'>{code}</pre>"


class Progress:
    """Shows how a run of so many environment steps goes on.

    Example:
        >>> console = make_console(force_terminal=False, width=200)
        >>> with Progress(2000, console) as progress:
        ...     progress.start({"task": "cartpole_swingup"})
        ...     progress.working("training", 3, 100)
        ...     row = {"episodes": 1, "environment_steps": 1000, "collect/return": 12.25}
        ...     progress.episode(row)  # doctest: +ELLIPSIS
        task  cartpole_swingup
        episode 1 | 1,000 of 2,000 environment steps | return 12.2 | ... left
    """

    def __init__(self, total_steps, console=None):
        self._console = console or make_console()
        self._in_notebook = self._console.is_jupyter
        if self._in_notebook:
            self._console = make_console(force_jupyter=False, force_terminal=False)
        self._total = total_steps
        self._clock = Pace(total_steps)
        self._latest = {}  # name -> (value, episode)
        self._live = None
        self._bar = Bar(
            TextColumn("{task.description}", style="bold"),
            BarColumn(bar_width=None, complete_style="cyan"),
            TextColumn("{task.fields[count]}"),
            _TimeLeft(self._clock),
            console=self._console,
            expand=True,
        )
        self._run = self._bar.add_task("run", total=total_steps, count="")
        self._work = self._bar.add_task("", total=1, count="", visible=False)

    def __enter__(self):
        if self._console.is_terminal:
            self._live = Live(
                get_renderable=self._render, console=self._console, refresh_per_second=4
            )
            self._live.start()
        elif self._in_notebook:
            self._live = NotebookLive(self._render)
            self._live.start()
        return self

    def __exit__(self, *_):
        if self._live is not None:
            self._bar.update(self._work, visible=False)
            self._live.stop()
            self._live = None

    def start(self, info, environment_steps=0):
        """Prints the banner, name -> text or number, and starts the clock.

        The environment steps are those that earlier sessions of the run have done.
        """
        width = max(map(len, info), default=0)
        for name, value in info.items():
            shown = f"{value:,}" if isinstance(value, int) else str(value)
            self._console.print(
                f"[bold]{escape(name):<{width}}[/]  {escape(shown)}", **_PLAIN
            )
        self._clock.start(environment_steps)
        self._count(environment_steps)

    def episode(self, row):
        """Shows the row of metrics of a finished episode."""
        self._clock.update(row["environment_steps"])
        self._count(row["environment_steps"])
        self._bar.update(self._work, visible=False)
        for name in _SHOWN:
            if row.get(name) is not None:
                self._latest[name] = float(row[name]), row["episodes"]
        self._refresh()
        if self._live is None:
            self._console.print(escape(self._line(row)), **_PLAIN)

    def note(self, text):
        """Prints a line that stays; on a terminal it is wrapped between words."""
        settings = _PLAIN | {"soft_wrap": self._live is None}
        self._console.print(escape(text), **settings)

    def working(self, what, done, total):
        """Shows how far the present work is, on a terminal only; cheap at each step."""
        if self._live is not None:
            self._bar.update(
                self._work,
                description=what,
                completed=done,
                total=total,
                count=f"{done:,} / {total:,}",
                visible=True,
            )
            self._refresh()

    def _refresh(self):
        if self._in_notebook and self._live is not None:
            self._live.refresh()

    def _count(self, steps):
        count = f"{steps:,} / {self._total:,} environment steps"
        self._bar.update(self._run, completed=min(steps, self._total), count=count)

    def _line(self, row):
        parts = [
            f"episode {row['episodes']}",
            f"{row['environment_steps']:,} of {self._total:,} environment steps",
        ]
        for name in _ON_A_LINE:
            if row.get(name) is not None:
                parts.append(f"{_SHOWN[name]} {number(row[name])}")
        return " | ".join([*parts, f"{self._clock.left()} left"])

    def _render(self):
        # In the last column the ^C that a terminal shows would move everything by a line.
        return Constrain(self._content(), max(1, self._console.width - 4))

    def _content(self):
        if not self._latest:
            return self._bar
        table = Table.grid(padding=(0, 3))
        for name, title in _SHOWN.items():
            if name in self._latest:
                value, episode = self._latest[name]
                table.add_row(
                    f"  {title}",
                    Text(number(value), justify="right"),
                    f"episode {episode}",
                )
        return Group(table, self._bar)


_PLAIN = {"highlight": False, "soft_wrap": True}


class _TimeLeft(ProgressColumn):
    def __init__(self, clock):
        super().__init__()
        self._clock = clock

    def render(self, task):
        return Text(f"{self._clock.left()} left" if task.description == "run" else "")


class NotebookLive:
    """As `rich.live.Live`, below a notebook's cell; needs IPython, which notebooks have.

    `get_renderable` returns what Rich shows now.
    """

    def __init__(self, get_renderable, show=None):
        self._get = get_renderable
        self._show = show
        self._shown = None
        self._at = 0.0

    def start(self):
        """Shows it for the first time."""
        if self._show is None:
            from IPython.display import display

            self._show = display
        self._shown = self._show(self._picture(), raw=True, display_id=True)

    def refresh(self):
        """Shows it again, unless it was a moment ago; cheap at each step."""
        now = time.monotonic()
        if now - self._at >= _NOTEBOOK_PAUSE:
            self._at = now
            self._shown.update(self._picture(), raw=True)

    def stop(self):
        """Shows it for the last time."""
        self._at = 0.0
        self.refresh()

    def _picture(self):
        wide = {"record": True, "width": _NOTEBOOK_WIDTH}
        console = make_console(file=io.StringIO(), force_jupyter=False, **wide)
        console.print(self._get())
        html = console.export_html(inline_styles=True, code_format=_FORMAT)
        return {"text/html": html, "text/plain": console.file.getvalue()}


class Pace:
    """Predicts the time left of a run of so many environment steps, from whole episodes.

    Example:
        >>> pace = Pace(2000)
        >>> pace.start(1000)
        >>> pace.left()
        '?'
    """

    def __init__(self, total):
        self._total = total
        self.start(0)

    def start(self, steps):
        """Starts the session of a run that has done so many environment steps."""
        self._begun = self._last = time.monotonic()
        self._first = self._steps = steps

    def update(self, steps):
        """Takes in that an episode has ended after so many environment steps."""
        self._last, self._steps = time.monotonic(), steps

    @property
    def seconds_per_step(self):
        """Of an environment step, learning and all; None before the first episode."""
        done = self._steps - self._first
        return (self._last - self._begun) / done if done > 0 else None

    def left(self):
        """The time left, in words."""
        if self.seconds_per_step is None:
            return "?"
        since = time.monotonic() - self._last
        return in_words(self.seconds_per_step * (self._total - self._steps) - since)


def in_words(seconds):
    """A time, rounded.

    Example:
        >>> in_words(3700), in_words(130.2), in_words(7)
        ('1 h 01 min', '2 min 10 s', '7 s')
    """
    seconds = max(0, round(seconds))
    hours, minutes = seconds // 3600, seconds // 60 % 60
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {seconds % 60:02d} s" if minutes else f"{seconds} s"

"""Tests of agents.system.screen.progress."""

import io

from rich.console import Console
from rich.text import Text

from agents.system.screen import progress as module
from agents.system.screen.progress import NotebookLive, Progress

ROW = {
    "episodes": 3,
    "environment_steps": 3000,
    "collect/return": 123.456,
    "train/loss": 1.2345,
    "train/latent_kl": float("nan"),
    "train/weight_kl": 24_123.0,
    "evaluate/return": None,
    "speed/train_steps": 85.31,
}


def show(terminal, use, width=100):
    file = io.StringIO()
    console = Console(file=file, force_terminal=terminal, width=width, color_system=None)
    with Progress(10_000, console) as progress:
        use(progress)
    return file.getvalue()


def test_an_episode_is_one_plain_line_off_a_terminal():
    lines = show(False, lambda progress: progress.episode(ROW)).splitlines()
    (line,) = lines
    assert line.startswith(
        "episode 3 | 3,000 of 10,000 environment steps | return 123.5 | loss 1.23 | "
        "latent KL (nats) nan | weight KL (nats) 24,123 | train steps / s 85.3 | "
    )
    assert line.endswith(" left")
    assert "\x1b" not in line


def test_banner_and_notes_are_printed_as_given():
    def use(progress):
        progress.start({"task": "fake", "parameters": 66_000, "run": "logdir/[x]"}, 2000)
        progress.note("resumed at 2,000 environment steps [/bold]")

    assert show(False, use).splitlines() == [
        "task        fake",
        "parameters  66,000",
        "run         logdir/[x]",
        "resumed at 2,000 environment steps [/bold]",
    ]


def test_a_task_with_colons_is_no_emoji(capsys):
    progress = Progress(1000)
    progress.start({"task": "python:eye:Eye"})
    progress.note("python:robot:make")
    assert "python:eye:Eye" in (told := capsys.readouterr().out)
    assert "python:robot:make" in told


def test_long_lines_are_not_broken():
    text = "word " * 100
    assert show(False, lambda progress: progress.note(text)).count("\n") == 1


def test_work_within_an_episode_prints_nothing_off_a_terminal():
    assert not show(False, lambda progress: progress.working("training", 1, 2))


def test_terminal_shows_bar_and_table():
    def use(progress):
        progress.start({"task": "fake"})
        progress.episode(ROW)
        progress.working("training", 50, 200)
        progress._live.refresh()

    output = show(True, use)
    for text in ("3,000 / 10,000 environment steps", "50 / 200", "123.5", "24,123", "left"):
        assert text in output


def test_an_evaluation_stays_in_the_table():
    def use(progress):
        progress.episode(ROW | {"evaluate/return": 700.0})
        progress.episode(ROW | {"episodes": 4, "environment_steps": 4000})

    shown = show(True, use).split("evaluation return")[-1]
    assert shown.split("\n")[0].split() == ["700.0", "episode", "3"]


def test_time_left_counts_this_session_only(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    file = io.StringIO()
    progress = Progress(10_000, Console(file=file, width=200))
    progress.start({}, environment_steps=2000)
    now[0] += 60
    progress.episode(ROW | {"environment_steps": 4000})
    assert file.getvalue().endswith("| 3 min 00 s left\n")
    now[0] += 50
    assert progress._clock.left() == "2 min 10 s"


def test_one_place_is_shown_first_and_last_and_not_at_every_step(monkeypatch):
    shown, now, left = [], [0.0], iter("abcd")

    class Handle:
        def update(self, picture, raw):
            shown.append(picture)

    def display(picture, raw, display_id):
        shown.append(picture)
        return Handle()

    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    live = NotebookLive(lambda: Text(next(left), style="bold"), display)
    live.start()
    now[0] = 10.0
    live.refresh()
    live.refresh()  # a moment later
    live.stop()
    assert [picture["text/plain"] for picture in shown] == ["a\n", "b\n", "c\n"]
    assert shown[0]["text/html"].startswith("<pre")
    assert "font-weight: bold" in shown[0]["text/html"]

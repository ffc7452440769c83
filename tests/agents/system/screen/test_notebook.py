"""Tests of agents.system.screen.notebook."""

from rich.text import Text

from agents.system.screen import notebook


def test_one_place_is_shown_first_and_last_and_not_at_every_step(monkeypatch):
    shown, now, left = [], [0.0], iter("abcd")

    class Handle:
        def update(self, picture, raw):
            shown.append(picture)

    def display(picture, raw, display_id):
        shown.append(picture)
        return Handle()

    monkeypatch.setattr(notebook.time, "monotonic", lambda: now[0])
    live = notebook.NotebookLive(lambda: Text(next(left), style="bold"), display)
    live.start()
    now[0] = 10.0
    live.refresh()
    live.refresh()  # a moment later
    live.stop()
    assert [picture["text/plain"] for picture in shown] == ["a\n", "b\n", "c\n"]
    assert shown[0]["text/html"].startswith("<pre")
    assert "font-weight: bold" in shown[0]["text/html"]

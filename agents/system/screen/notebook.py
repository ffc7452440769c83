"""What changes in one place below a notebook's cell, as `rich.live.Live` on a terminal."""

import io
import time

from rich.console import Console

_WIDTH = 100  # characters
_PAUSE = 0.25  # seconds between two pictures
_FORMAT = "<pre style='line-height:normal'>{code}</pre>"


class NotebookLive:
    """Shows something that changes; needs IPython alone, which every notebook has.

    Args:
        get_renderable: function of what Rich shows now.
        show: as `IPython.display.display`; None: that.
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
        if now - self._at >= _PAUSE:
            self._at = now
            self._shown.update(self._picture(), raw=True)

    def stop(self):
        """Shows it for the last time."""
        self._at = 0.0
        self.refresh()

    def _picture(self):
        console = Console(
            file=io.StringIO(), record=True, width=_WIDTH, force_jupyter=False
        )
        console.print(self._get())
        html = console.export_html(inline_styles=True, code_format=_FORMAT)
        return {"text/html": html, "text/plain": console.file.getvalue()}

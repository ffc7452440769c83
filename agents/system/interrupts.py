"""Ctrl-C that is not lost.

Python raises KeyboardInterrupt wherever it happens to be. After a long call into
TensorFlow that is often the callback of a weak reference, where every exception is printed
and dropped, and the run would go on. So the wish is remembered, and long loops ask for it.
"""

import contextlib
import signal
import sys
import threading
import time

_wish = threading.Event()  # of the process, as signals are


@contextlib.contextmanager
def kept():
    """Remembers Ctrl-C until the end of the block; to be entered by the main thread."""
    _wish.clear()
    handler = signal.signal(signal.SIGINT, _interrupt)
    hook = sys.unraisablehook
    sys.unraisablehook = lambda dropped: (
        dropped.exc_type is KeyboardInterrupt or hook(dropped)
    )
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        sys.unraisablehook = hook
        _wish.clear()


def check():
    """Raises the KeyboardInterrupt that was dropped, if there was one."""
    if _wish.is_set():
        raise KeyboardInterrupt


def pause(seconds=0.05):
    """Lets others work, and raises the KeyboardInterrupt that was dropped."""
    check()
    time.sleep(seconds)


def _interrupt(*_):
    _wish.set()
    raise KeyboardInterrupt

"""What code inside of a `with` block sees: all values that were entered, innermost first.

Threads and tasks of asyncio see what they have entered themselves. So does a generator that
yields inside of a block: its caller and other generators would otherwise go on in it. The
generators of `contextlib.contextmanager`, which yield to the block that they are for, are
part of the function with that block.
"""

import contextlib
import contextvars
import inspect
import sys
import typing

_GENERATORS = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR


class _Entry(typing.NamedTuple):
    value: object
    within: frozenset  # generators with entries that ran, and called what has entered


class Scopes:
    """Values that `with` blocks enter and leave, in any order."""

    def __init__(self, name):
        self._entries = contextvars.ContextVar(name, default=())  # innermost first
        # By the identity of frames, in no thread: a generator may go on in another one.
        self._of_generators = {}

    @contextlib.contextmanager
    def entered(self, value):
        """Lets a value be seen while the context lasts."""
        within = frozenset(self._running()) if self._of_generators else frozenset()
        entry, owner = _Entry(value, within), _generator_of(sys._getframe())
        self._set(owner, (entry, *self._get(owner)))
        try:
            yield
        finally:
            self._set(owner, tuple(e for e in self._get(owner) if e is not entry))

    def innermost_first(self):
        """Tuple of the values that the code which asks sees."""
        entries = self._entries.get()
        if self._of_generators:
            entries = self._with_generators(list(entries))
        # Each weight of each call of a layer asks.
        return tuple([entry.value for entry in entries]) if entries else ()

    def _get(self, owner):
        return self._entries.get() if owner is None else self._of_generators.get(owner, ())

    def _set(self, owner, entries):
        if owner is None:
            self._entries.set(entries)
        elif entries:
            self._of_generators[owner] = entries
        else:
            self._of_generators.pop(owner, None)

    def _with_generators(self, entries):
        found = []
        for running in self._running():
            found += [e for e in entries if running in e.within]
            found += self._of_generators[running]
            entries = [e for e in entries if running not in e.within]
        return found + entries

    def _running(self):
        """Generators with entries that run in this thread, the innermost first."""
        frame = sys._getframe(1)
        while frame is not None:
            if id(frame) in self._of_generators:
                yield id(frame)
            frame = frame.f_back


def _generator_of(frame):
    """Identity of the generator whose `with` block is entered; None in a function."""
    while True:
        while _package(frame) == "contextlib":
            frame = frame.f_back
        is_generator = frame.f_code.co_flags & _GENERATORS
        # A fixture of pytest yields to its test.
        if not is_generator or _package(frame.f_back) == "_pytest":
            return None
        if _package(frame.f_back) != "contextlib":
            return id(frame)
        frame = frame.f_back


def _package(frame):
    return "" if frame is None else frame.f_globals.get("__name__", "").partition(".")[0]

"""TensorFlow and NumPy, imported when they are first used.

Strategies and planners are settings of a run too: their keys are read, and wrong ones
refused, without the seconds that TensorFlow takes.
"""

import importlib
import typing


class _Module:
    """Has what a module has, and imports it as soon as it is asked for anything."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        return getattr(importlib.import_module(self._name), name)


if typing.TYPE_CHECKING:
    import numpy as np
    import tensorflow as tf
else:
    np = _Module("numpy")
    tf = _Module("tensorflow")

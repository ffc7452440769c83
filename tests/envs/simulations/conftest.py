"""Environments that users bring."""

import sys
import types

import pytest

import envs


@pytest.fixture
def load(monkeypatch):
    """Loads what a function makes, through the door, as a task of its own."""

    def make(factory, *arguments, **settings):
        module = types.ModuleType("own_module")
        module.make = factory
        monkeypatch.setitem(sys.modules, "own_module", module)
        return envs.load("python:own_module:make", *arguments, **settings)

    return make

"""Tests of agents.system.interrupts."""

import os
import signal
import weakref

import pytest

from agents.system import interrupts


class Thing:
    pass


def press_ctrl_c(_=None):
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(100):
        pass  # Python handles signals between instructions


def test_ctrl_c_is_raised_at_once():
    with interrupts.kept(), pytest.raises(KeyboardInterrupt):
        press_ctrl_c()


def test_ctrl_c_that_python_drops_is_raised_by_the_next_check(capfd):
    with interrupts.kept():
        thing = Thing()
        reference = weakref.ref(thing, press_ctrl_c)
        del thing
        assert reference() is None
        with pytest.raises(KeyboardInterrupt):
            interrupts.check()
    assert capfd.readouterr().err == ""


def test_check_is_silent_without_ctrl_c_and_after_the_block():
    interrupts.check()
    with interrupts.kept():
        interrupts.check()
        with pytest.raises(KeyboardInterrupt):
            press_ctrl_c()
    interrupts.check()


def test_handler_is_put_back():
    before = signal.getsignal(signal.SIGINT)
    with interrupts.kept():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before

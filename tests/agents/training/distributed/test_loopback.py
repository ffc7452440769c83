"""Tests of agents.training.distributed.loopback."""

import contextlib
import socket
import subprocess
import sys

import pytest

from agents.training.distributed import loopback
from agents.training.distributed.loopback import Loopback

CONNECT = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 2)"
LISTEN = """
import socket
with socket.socket() as server:
    server.bind(("0.0.0.0", 0)); server.listen()
    print(server.getsockname()[1], flush=True); server.accept()
"""


@pytest.fixture
def private():
    with contextlib.closing(Loopback()) as network:
        if not network.is_private:
            pytest.skip("this system allows no network of one's own")
        yield network


def start(code, *words, inside=None):
    enter = inside.enter if inside else None
    command = [sys.executable, "-c", code, *words]
    return subprocess.Popen(
        command, preexec_fn=enter, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )


def test_only_processes_inside_reach_each_other(private):
    server = start(LISTEN, inside=private)
    port = server.stdout.readline().decode().strip()
    assert start(CONNECT, port).wait() == 1
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", int(port)), 2)
    assert start(CONNECT, port, inside=private).wait() == 0
    assert server.wait(5) == 0


def test_inside_nobody_outside_is_reached(private):
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = str(server.getsockname()[1])
        assert start(CONNECT, port).wait() == 0
        assert start(CONNECT, port, inside=private).wait() == 1


def test_where_the_system_forbids_it_nothing_changes(monkeypatch):
    monkeypatch.setattr(loopback, "_HOLDER", "raise SystemExit(1)")
    with contextlib.closing(Loopback()) as network:
        assert not network.is_private
        network.enter()

"""Tests of agents.training.distributed.cluster."""

import os
import pathlib
import subprocess
import sys
import tempfile
import threading

import psutil
import pytest
import ray

from agents.runs.records import read_metrics, read_scores
from agents.system.errors import UserError
from agents.system.processes import free_addresses
from agents.training.distributed import cluster

JOIN = """
import sys
from ray._private import ray_constants
ray_constants.ENABLE_RAY_CLUSTER = False  # else 127.0.0.1 becomes another address
from agents.runs.config.overrides import load
from agents.system.errors import UserError
from agents.training.distributed.cluster import connected
try:
    with connected(load(["task=fake", "actors=1", "address=" + sys.argv[1]]), 1):
        print("let in")
except UserError as error:
    print(error)
"""
ENDS = (
    "it must be auto, HOST:PORT or ray://HOST:PORT of a cluster of Ray, with its token in "
    "RAY_AUTH_TOKEN or ~/.ray/auth_token"
)


def join(address, home, token=None):
    """What another process says that would join."""
    own = {name: value for name, value in os.environ.items() if "RAY_AUTH" not in name}
    own |= {"HOME": str(home), "RAY_gcs_rpc_server_connect_timeout_s": "3"}
    own |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token} if token else {}
    result = subprocess.run(
        [sys.executable, "-c", JOIN, address],
        cwd=pathlib.Path(__file__).parents[4],
        env=own,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    (line,) = result.stdout.splitlines()
    return line


@pytest.mark.slow
def test_everything_listens_on_this_machine_alone(here):
    family = psutil.Process().children(recursive=True)
    found = {
        connection.laddr.ip
        for process in family
        if process.status() != psutil.STATUS_ZOMBIE
        for connection in process.net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
    }
    assert found
    assert found <= {"127.0.0.1", "::ffff:127.0.0.1"}


@pytest.mark.slow
@pytest.mark.parametrize("token", [None, "0" * 64])
def test_who_lacks_the_token_is_refused(here, token, tmp_path):
    address = ray.get_runtime_context().gcs_address
    line = join(address, tmp_path, token)
    assert line.startswith(f"address={address} cannot be joined: ")
    assert line.endswith(ENDS)


@pytest.mark.slow
def test_who_has_the_token_is_let_in(here, tmp_path):
    address = ray.get_runtime_context().gcs_address
    assert join(address, tmp_path, os.environ["RAY_AUTH_TOKEN"]) == "let in"


def test_where_there_is_no_cluster_there_is_a_line(tmp_path):
    (address,) = free_addresses(1)
    assert join(address, tmp_path, "0" * 64) == (
        f"address={address} cannot be joined: [Errno 111] Connection refused; {ENDS}"
    )


def test_files_of_killed_runs_are_removed(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    left = tmp_path / f"bayes-rl-ray-{process.pid}-abc"
    mine = tmp_path / f"bayes-rl-ray-{os.getpid()}-abc"
    left.mkdir()
    mine.mkdir()
    monkeypatch.setattr(os.path, "exists", lambda path: False)  # no /proc, as on macOS
    cluster._remove_left()
    assert list(tmp_path.iterdir()) == [mine]


def test_other_threads_leave_signals_alone():
    found = []

    def start():
        try:
            with cluster._own_signals():
                found.append("started")
        except ValueError as error:  # signal only works in main thread
            found.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert found == ["started"]


def test_what_is_set_meanwhile_stays_in_the_environment(monkeypatch):
    monkeypatch.setenv("BEFORE", "1")
    monkeypatch.delenv("MEANWHILE", raising=False)
    with cluster._environment({"BEFORE": "2", "OWN": "3"}):
        assert (os.environ["BEFORE"], os.environ["OWN"]) == ("2", "3")
        monkeypatch.setenv("MEANWHILE", "4")
    assert (os.environ["BEFORE"], os.environ["MEANWHILE"]) == ("1", "4")
    assert "OWN" not in os.environ


def test_an_error_is_told_by_its_first_line():
    assert cluster.first_line(ValueError("\n no host.\nTraceback")) == "no host"
    assert cluster.first_line(ValueError()) == "ValueError"


def test_without_ray_it_is_said_how_to_get_it(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"pip install 'bayes_rl\[distributed\]'"):
        cluster.need_ray()


TWO = """
import os, secrets, subprocess, sys
os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
from ray.cluster_utils import Cluster
small = {"object_store_memory": 200 * 2**20, "include_dashboard": False}
head = {"num_cpus": 1, **small, "ray_client_server_port": int(sys.argv[2])}
cluster = Cluster(True, head_node_args=head)
cluster.add_node(num_cpus=3, object_store_memory=200 * 2**20)
address = cluster.address if sys.argv[1] == "inside" else f"ray://127.0.0.1:{sys.argv[2]}"
words = ["experiment=debug", "value=none", "environment_steps=120", "actors=2"]
words += [f"address={address}", f"logdir={sys.argv[3]}"]
print(subprocess.run([sys.executable, "-m", "agents", "train", *words]).returncode)
cluster.shutdown()
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("where", ["inside", "outside"])
def test_a_run_over_two_raylets(where, tmp_path):
    port = free_addresses(1)[0].rpartition(":")[2]
    root = pathlib.Path(__file__).parents[4]
    result = subprocess.run(
        [sys.executable, "-c", TWO, where, port, str(tmp_path / "run")],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
    )
    assert result.stdout.splitlines()[-1] == "0", result.stderr
    assert len(read_metrics(tmp_path / "run")) == 6
    assert {row["episodes"] for row in read_scores(tmp_path / "run")} == {2, 4, 6}

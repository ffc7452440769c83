"""Ray, which runs the other processes of a run: started here, or a cluster's."""

import contextlib
import importlib.util
import os
import pathlib
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import threading

import psutil

from agents.system.errors import GoneError, UserError
from envs.quiet import without_stderr

GOES_ON = "the same command goes on from the last checkpoint"
_PATIENCE = 10.0  # seconds, for a cluster to answer
_STORE = 256 * 2**20  # bytes, of episodes and weights on their way
_HEADLESS = 8  # seconds that processes go on when Ray's head has died, which is final here
# Python reads it when it starts. Without it two helpers of Ray outlive a killed run by a
# minute, in which they try to tell its head of it.
_SITE = """\
import ctypes, sys
if sys.platform == "linux" and any(
    word.endswith(("/agent.py", "/agent/main.py")) for word in sys.orig_argv
):
    ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL
"""
_PREFIX = "bayes-rl-ray-"  # of the folder of Ray's files, followed by the process
# Notices and statistics of Ray are nobody's here, and would tear the progress bar.
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "1",
}
_SILENT = {"log_to_driver": False, "logging_level": "CRITICAL", "configure_logging": False}


def need_ray():
    """Raises a `UserError` where Ray is not installed; takes no time where it is."""
    if importlib.util.find_spec("ray") is None:
        raise UserError(
            "ray is not installed; a run of several processes needs it: "
            "pip install 'bayes_rl[distributed]'"
        )


@contextlib.contextmanager
def connected(config, processes):
    """Ray for the length of a block; one that was started here ends with it.

    It has cores for so many processes, or is the cluster at the `address` of the config.

    Raises:
        UserError: there is no such cluster, or Ray does not start.
    """
    need_ray()
    os.environ.update({name: os.environ.get(name, value) for name, value in _QUIET.items()})
    with contextlib.ExitStack() as stack:
        if config.address:
            _join(config.address)
        else:
            _start(processes, stack)
        import ray

        stack.callback(ray.shutdown)
        _hear()
        yield


def _join(address):
    import ray

    with _own_signals(), without_stderr():
        try:
            _knock(address)
            ray.init(address, **_SILENT, runtime_env={"env_vars": _for_workers()})
        except Exception as error:  # of many kinds: no such host, no token, other versions
            raise UserError(
                f"address={address} cannot be joined: {first_line(error)}; it must be "
                "auto, HOST:PORT or ray://HOST:PORT of a cluster of Ray, with its token in "
                "RAY_AUTH_TOKEN or ~/.ray/auth_token"
            ) from None


def _knock(address):
    """Raises an `OSError` where nobody listens, for which Ray would end the process."""
    from ray._private import services

    if "://" not in address:
        address = services.canonicalize_bootstrap_address(address)
    host, _, port = address.rpartition("/")[2].rpartition(":")
    socket.create_connection((host, int(port)), _PATIENCE).close()


def _start(processes, stack):
    """Ray of this run alone: on this machine, bound to it, with a token of its own."""
    _remove_left()
    folder = own_folder()
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    own = {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "RAY_gcs_rpc_server_reconnect_timeout_s": str(_HEADLESS),
    }
    pathlib.Path(folder, "sitecustomize.py").write_text(_SITE)
    stack.enter_context(_environment(own | _for_workers(folder)))
    import ray
    from ray._private import ray_constants
    from ray._raylet import AuthenticationTokenLoader, Config

    Config.initialize("")  # it may have read the environment before
    AuthenticationTokenLoader.instance().reset_cache()
    # Else Ray replaces 127.0.0.1 by an address that other machines reach.
    ray_constants.ENABLE_RAY_CLUSTER = False
    with _own_signals():
        try:
            ray.init(
                "local",
                **_SILENT,
                num_cpus=processes,
                include_dashboard=False,
                object_store_memory=_STORE,
                _node_ip_address="127.0.0.1",
                _temp_dir=folder,
            )
        except Exception as error:
            raise UserError(f"Ray does not start here: {first_line(error)}") from None


def check():
    """Raises a `GoneError` where Ray itself has died on this machine."""
    from ray._private import worker

    node = worker._global_node  # None for who looks into a cluster from outside
    dead = {kind for kind, _ in node.dead_processes()} if node else set()
    if gone := dead & {"gcs_server", "raylet"}:
        raise GoneError(f"Ray's {min(gone)} has died; {GOES_ON}")


def _hear():
    """Lets Ray, which prints much in colours, say no more than that it has died."""
    from ray._private import worker

    def say(data, **_):
        line = first_line("\n".join(data["lines"])).partition(". ")[0]
        if line.startswith("Raylet"):
            print(f"Ray: {line}; {GOES_ON}", file=sys.stderr, flush=True)

    worker.print_to_stdstream = say


def _for_workers(*first):
    """Environment of other processes: they import what this one does, as quietly."""
    names = "TF_CPP_MIN_LOG_LEVEL", "PYGAME_HIDE_SUPPORT_PROMPT", "MUJOCO_GL", "XLA_FLAGS"
    found = {name: os.environ[name] for name in names if name in os.environ}
    paths = [*first, *(path or os.getcwd() for path in sys.path)]
    return found | {"PYTHONPATH": os.pathsep.join(paths)}


@contextlib.contextmanager
def _environment(values):
    """Sets variables of the environment until the end of the block, and no others."""
    before = {name: os.environ[name] for name in values if name in os.environ}
    os.environ.update(values)
    try:
        yield
    finally:
        for name in values:
            os.environ.pop(name, None)
        os.environ.update(before)


@contextlib.contextmanager
def _own_signals():
    """Gives back the handler that Ray replaces in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)


def own_folder():
    """A new temporary folder of this process; the next run removes it if nobody else."""
    return tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-")


def _remove_left():
    """Removes files of Ray whose process was killed."""
    for folder in pathlib.Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        process = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if process.isdecimal() and not psutil.pid_exists(int(process)):
            shutil.rmtree(folder, ignore_errors=True)


def first_line(error):
    """What an error says, in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else type(error).__name__

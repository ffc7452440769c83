"""Runs the code of pages, several at a time, and keeps what it printed in docs/outputs.

python -m docs.running [PAGE ...] [--jobs N]

A page is run where its code has changed, or anything that it may use.
"""

import argparse
import concurrent.futures
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from docs import keeping

START = "logdir/start"  # runs that `make runs` trains, to start from
SECONDS = 180  # that a page may take on one core; a test machine may be busy with others
_PATIENCE = 5  # times as long is waited for a cell
_FIRST = "from docs import running; running.stop_at_failures(get_ipython())"


def prepare():
    """Sets what holds for all that builds the site: for this process and for kernels."""
    scripts = str(pathlib.Path(sys.executable).parent)
    os.environ["PYTHONPATH"] = str(keeping.ROOT)
    os.environ["PATH"] = os.pathsep.join([scripts, os.environ["PATH"]])
    os.environ["COLUMNS"] = "92"
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["PYTHONWARNINGS"] = "ignore::SyntaxWarning"  # of a library's first import
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # nor is it compiled in every process
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # the same site on every machine


def stop_at_failures(shell):
    """Lets `!command` in a shell of IPython raise where it fails, as code does."""
    system = shell.system

    def checked(command):
        system(command)
        status = shell.user_ns["_exit_code"]
        if status:
            raise ChildProcessError(f"{command} ended with exit status {status}")

    shell.system = checked


def execute(page):
    """Runs a page in a new folder, and keeps its outputs where it raises nothing.

    Returns the seconds it took by the clock, and those of processors, which others on the
    machine do not lengthen; the text of an error or None.
    """
    from jupyter_client.manager import AsyncKernelManager
    from jupyter_core.utils import run_sync
    from nbclient import NotebookClient
    from nbclient.exceptions import CellControlSignal, DeadKernelError

    started, belongs, notebook = _seconds(), keeping.key(page), keeping.read(page)
    patience = _PATIENCE * SECONDS
    limits = {"timeout": patience, "startup_timeout": patience, "record_timing": False}
    error = None
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        # Ports of several kernels that start at a time may be the same; files are not.
        sockets = {"transport": "ipc", "ip": f"{other}/kernel"}
        kernel = AsyncKernelManager(kernel_name="python3", **sockets)
        place = {"metadata": {"path": folder}}
        copy_runs(page, folder)
        try:
            first = [f"--IPKernelApp.exec_lines={_FIRST}"]
            settings = limits | {"resources": place, "extra_arguments": first}
            NotebookClient(notebook, km=kernel, **settings).execute()
            keeping.keep(page, belongs, notebook, folder)
        except (CellControlSignal, DeadKernelError) as raised:
            error = str(raised)
        finally:
            run_sync(kernel.shutdown_kernel)(now=True)
    taken = [after - before for after, before in zip(_seconds(), started, strict=True)]
    return *taken, error


def make_runs(pages):
    """Trains runs to start from where some of these pages work with them."""
    if any(map(keeping.runs, pages)):
        subprocess.run(["make", "runs"], cwd=keeping.ROOT, check=True)


def copy_runs(page, folder):
    """Copies the trained runs that a page works with to the folder where it runs."""
    for name in keeping.runs(page):
        shutil.copytree(keeping.ROOT / START / name, pathlib.Path(folder, START, name))


def _seconds():
    """By the clock, and of processors that ended kernels and their commands had."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic(), used.ru_utime + used.ru_stime


def run(pages, jobs):
    """Runs those pages whose outputs are not kept, so many jobs at a time, and says so.

    Returns how many failed.
    """
    failed = 0
    missing = [page for page in pages if not keeping.is_kept(page)]
    make_runs(missing)
    with concurrent.futures.ProcessPoolExecutor(jobs) as workers:
        running = {workers.submit(execute, page): page for page in missing}
        for done in concurrent.futures.as_completed(running):
            seconds, processor, error = done.result()
            took = f"run in {seconds:.0f} s, {processor:.0f} s of processors"
            name = running[done].relative_to(keeping.ROOT)
            print(f"{name}: {error or f'{took}; commit its outputs'}", flush=True)
            failed += bool(error)
    return failed


def main(arguments=None):
    """Runs pages and returns an exit status."""
    parser = argparse.ArgumentParser("python -m docs.running")
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args(arguments)
    prepare()
    keeping.forget(keeping.with_code())
    pages = [page.resolve() for page in options.pages] or keeping.with_code()
    try:
        return 1 if run(pages, options.jobs) else 0
    except ValueError as error:  # of what a page says that it uses
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())

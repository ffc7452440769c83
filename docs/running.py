"""Runs the code of the pages, several at a time, and keeps what it printed for Sphinx.

python -m docs.running [PAGE ...] [--jobs N]

A page is run again where its code has changed, or anything that it may use.
"""

import argparse
import concurrent.futures
import functools
import hashlib
import os
import pathlib
import resource
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).parents[1]
SECONDS = 180  # that a page may take on one core; a test machine may be busy with others
_CODE = "bayes_rl", "agents", "envs", "configs", "examples", "benchmarks", "docs"
_KINDS = dict.fromkeys(_CODE, (".py", ".yaml", ".csv"))
_KINDS["results"] = (".py", ".yaml", ".csv", ".gz", ".md")
_PATIENCE = 5  # times as long is waited for a cell
_FIRST = "from docs import running; running.stop_at_failures(get_ipython())"


def prepare():
    """Sets what holds for all that builds the site: for this process and for kernels."""
    scripts = str(pathlib.Path(sys.executable).parent)
    os.environ["PYTHONPATH"] = str(ROOT)
    os.environ["PATH"] = os.pathsep.join([scripts, os.environ["PATH"]])
    os.environ["COLUMNS"] = "92"
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["PYTHONWARNINGS"] = "ignore::SyntaxWarning"  # of a library's first import
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # nor is it compiled in every process
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # the same site on every machine


@functools.cache
def cache_folder():
    """Where outputs are kept that belong to the code and the results as they are now."""
    found = hashlib.sha256()
    for file in sorted({*ROOT.glob("requirements*.txt"), *_used()}):
        found.update(f"{file.relative_to(ROOT)}\n".encode() + file.read_bytes())
    return ROOT / "docs" / "_build" / "cache" / found.hexdigest()[:16]


def _used():
    """Files that the code of pages may use; the page itself is compared apart."""
    for folder, kinds in _KINDS.items():
        for file in (ROOT / folder).rglob("*.*"):
            if file.suffix in kinds and "_build" not in file.parts:
                yield file


def with_code():
    """The pages that have code to run."""
    pages = sorted((ROOT / "docs").glob("*/*.md"))
    return [page for page in pages if "\n```{code-cell}" in page.read_text()]


def stop_at_failures(shell):
    """Lets `!command` raise where the command fails, as code does.

    Args:
        shell: of IPython, in the kernel of a page.
    """
    system = shell.system

    def checked(command):
        system(command)
        status = shell.user_ns["_exit_code"]
        if status:
            raise ChildProcessError(f"{command} ended with exit status {status}")

    shell.system = checked


def execute(page):
    """Runs a page in a new folder.

    Args:
        page: `pathlib.Path`.

    Returns:
        The notebook with its outputs; the seconds it took by the clock, and those of
        processors, which others on the machine do not lengthen; the text of an error or
        None.
    """
    from jupyter_client.manager import AsyncKernelManager
    from jupyter_core.utils import run_sync
    from nbclient import NotebookClient
    from nbclient.exceptions import CellControlSignal, DeadKernelError

    started, notebook = _seconds(), read(page)
    patience = _PATIENCE * SECONDS
    limits = {"timeout": patience, "startup_timeout": patience, "record_timing": False}
    error = None
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        # Ports of several kernels that start at a time may be the same; files are not.
        sockets = {"transport": "ipc", "ip": f"{other}/kernel"}
        kernel = AsyncKernelManager(kernel_name="python3", **sockets)
        place = {"metadata": {"path": folder}}
        try:
            first = [f"--IPKernelApp.exec_lines={_FIRST}"]
            settings = limits | {"resources": place, "extra_arguments": first}
            NotebookClient(notebook, km=kernel, **settings).execute()
        except (CellControlSignal, DeadKernelError) as raised:
            error = str(raised)
        finally:
            run_sync(kernel.shutdown_kernel)(now=True)
    taken = [after - before for after, before in zip(_seconds(), started, strict=True)]
    return notebook, *taken, error


def _seconds():
    """By the clock, and of processors that ended kernels and their commands had."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic(), used.ru_utime + used.ru_stime


def read(page):
    """The notebook of a page, as MyST-NB reads it."""
    from myst_nb.core.read import read_myst_markdown_notebook

    return read_myst_markdown_notebook(page.read_text(), add_source_map=True, path=page)


def run(pages, jobs):
    """Runs those pages whose outputs are not kept yet; says how long each took.

    Args:
        pages: list of `pathlib.Path`.
        jobs: pages at the same time.

    Returns:
        How many failed.
    """
    from jupyter_cache import get_cache

    cache, failed = get_cache(cache_folder()), 0
    missing = [page for page in pages if not _is_kept(cache, page)]
    with concurrent.futures.ProcessPoolExecutor(jobs) as workers:
        running = {workers.submit(execute, page): page for page in missing}
        for done in concurrent.futures.as_completed(running):
            notebook, seconds, processor, error = done.result()
            name = running[done].relative_to(ROOT)
            took = f"run in {seconds:.0f} s, {processor:.0f} s of processors"
            print(f"{name}: {error or took}", flush=True)
            failed += bool(error)
            if not error:
                _keep(cache, running[done], notebook, seconds)
    return failed


def _is_kept(cache, page):
    try:
        return bool(cache.match_cache_notebook(read(page)))
    except KeyError:
        return False


def _keep(cache, page, notebook, seconds):
    from jupyter_cache.base import CacheBundleIn

    bundle = CacheBundleIn(notebook, str(page), data={"execution_seconds": seconds})
    cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


def main(arguments=None):
    """Runs pages and returns an exit status."""
    parser = argparse.ArgumentParser("python -m docs.running")
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args(arguments)
    prepare()
    pages = [page.resolve() for page in options.pages] or with_code()
    return 1 if run(pages, options.jobs) else 0


if __name__ == "__main__":
    sys.exit(main())

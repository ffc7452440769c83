"""The command line: bayes-rl train, evaluate, probe and the other commands.

Whatever is typed is checked before TensorFlow is imported, which takes seconds.
"""

import atexit
import contextlib
import importlib
import logging
import os
import sys
import threading

try:
    from agents.cli.parsing import parse
    from agents.system import interrupts
    from agents.system.errors import GoneError, InUseError, UserError
    from agents.system.files import output_folder, refusal
    from envs import EnvironmentFailedError
except ModuleNotFoundError as error:
    raise SystemExit(
        f"bayes-rl: {error.name} is not installed; agents need it: "
        "pip install 'bayes_rl[agents]'"
    ) from error


_PATIENCE = 1.0  # seconds that a thread is given to end


def main(argv=None):
    """Runs the command line.

    Args:
        argv: words after the program's name; None takes those of the process.

    Returns:
        Exit status: 0, 1 after a run that failed or that another process has, 2 after a
        mistake in what was typed, 130 after Ctrl-C.
    """
    _be_quiet()
    _be_plain_in_notebooks()
    argv = sys.argv[1:] if argv is None else list(argv)
    try:
        with interrupts.kept():
            options = parse(argv)
            return _do(options) or 0
    except (EnvironmentFailedError, GoneError, InUseError) as error:
        print(f"bayes-rl: {error}", file=sys.stderr)
        return 1
    except UserError as error:
        print(f"bayes-rl: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if not (line := refusal(error)):
            raise
        print(f"bayes-rl: {line}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except SystemExit as exit_:  # of argparse, after --help and --version
        return exit_.code or 0


def run():
    """The process of the command line: ends as soon as `main` has.

    All files are closed by then. To free TensorFlow's graphs and compiled functions one by
    one, as Python does at its own end, takes seconds and gives the system nothing that the
    end of the process does not.
    """
    status = main()
    for thread in threading.enumerate():  # of an environment that writes in one, say
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join(_PATIENCE)
    atexit._run_exitfuncs()  # of libraries that remove their temporary files
    lost = _flush()
    os._exit(status or lost)


def _flush():
    """Exit status: 1 where what was printed could not be written."""
    try:
        for stream in filter(None, (sys.stdout, sys.stderr)):  # None where it was closed
            with contextlib.suppress(BrokenPipeError):  # who read it has gone
                stream.flush()
    except OSError as error:
        os.write(2, f"bayes-rl: cannot print: {error.strerror}\n".encode())
        return 1
    return 0


def _do(options):
    """Calls the function that has the name of the command, in the module of that name.

    Those that ask the agent of a run have `run` among their words; such runs are checked
    before TensorFlow is imported, and that it can be written to where the results will be.
    """
    words = {key: value for key, value in vars(options).items() if key != "name"}
    if "run" in words:
        _prepare(filter(None, (words["run"], words.get("twin"))))
        output_folder(words.get("out") or words["run"])
    module = importlib.import_module(f"agents.cli.{options.name}")
    return getattr(module, options.name)(**words)


def _prepare(runs):
    from agents.runs.folder import load_config
    from envs.quiet import import_gym

    for run in runs:
        load_config(run)
    import_gym()  # TF-Agents would import it with a notice


def _be_quiet():
    """Keeps the notices of libraries from the screen; their errors are raised anyway."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    # A library that logs would else put WARNING:name: before what is told from then on.
    logging.basicConfig(format="%(message)s")


def _be_plain_in_notebooks():
    """`!bayes-rl` in a cell gets a terminal, but no cursor moves in what the cell shows."""
    if "JPY_PARENT_PID" in os.environ:
        os.environ.setdefault("TTY_COMPATIBLE", "0")  # Rich asks for it


if __name__ == "__main__":
    run()

"""The command line: bayes-rl train, evaluate, probe and the other commands.

Whatever is typed is checked before TensorFlow is imported, which takes seconds.
"""

import atexit
import contextlib
import importlib
import os
import sys

try:
    from agents import interrupts
    from agents.commands.parser import parse
    from agents.errors import UserError
except ModuleNotFoundError as error:
    raise SystemExit(
        f"bayes-rl: {error.name} is not installed, which agents need beside the layers; "
        "pip install 'bayes_rl[agents]'"
    ) from error


def main(argv=None):
    """Runs the command line.

    Args:
        argv: words after the program's name; None takes those of the process.

    Returns:
        Exit status: 0, 1 after a run that failed, 2 after a mistake in what was
        typed, 130 after Ctrl-C.
    """
    _be_quiet()
    argv = sys.argv[1:] if argv is None else list(argv)
    try:
        with interrupts.kept():
            options = parse(argv)
            return _COMMANDS.get(options.name, _act)(options) or 0
    except UserError as error:
        print(f"bayes-rl: {error}", file=sys.stderr)
        return 2
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
    atexit._run_exitfuncs()  # of libraries that remove their temporary files
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):  # who read it has gone
            stream.flush()
    os._exit(status)


def _train(options):
    from agents.commands.train import train

    return train(options)


def _plot(options):
    from agents.runs.folder import load_config

    for run in options.runs:
        load_config(run)
    from agents.figures.curves import plot

    for file in plot(options.runs, options.out):
        print(file)


def _compare(options):
    from agents.compare import compare

    for file in compare(options.runs, options.out):
        print(file)


def _act(options):
    """A command that asks the agent of a run: the function of its name, in its module.

    The runs are checked before TensorFlow is imported.
    """
    from agents.runs.folder import load_config
    from envs.quiet import import_gym

    arguments = {key: value for key, value in vars(options).items() if key != "name"}
    for run in filter(None, (options.run, arguments.get("twin"))):
        load_config(run)
    import_gym()  # TF-Agents would import it with a notice
    module = importlib.import_module(f"agents.commands.{options.name}")
    return getattr(module, options.name)(**arguments)


_COMMANDS = {"train": _train, "plot": _plot, "compare": _compare}  # others: _act


def _be_quiet():
    """Keeps the notices of libraries from the screen; their errors are raised anyway."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")


if __name__ == "__main__":
    run()

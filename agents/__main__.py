"""The command line: bayes-rl train, evaluate, probe, calibrate, plot, compare and video.

Whatever is typed is checked before TensorFlow is imported, which takes seconds.
"""

import os
import sys

from agents import interrupts, launchers, overrides
from agents.config import as_dict
from agents.parser import parse
from agents.runs import check_run, load_config, open_run
from agents.validation import UserError
from envs.quiet import import_gym


def main(argv=None):
    """Runs the command line.

    Args:
        argv: words after the program's name; None takes those of the process.

    Returns:
        Exit status: 0, 1 after a failed run of a sweep, 2 after a mistake in what was
        typed, 130 after Ctrl-C.
    """
    _be_quiet()
    argv = sys.argv[1:] if argv is None else list(argv)
    try:
        with interrupts.kept():
            options = parse(argv)
            return _COMMANDS[options.name](options) or 0
    except UserError as error:
        print(f"bayes-rl: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except SystemExit as exit_:  # of argparse, after --help and --version
        return exit_.code or 0


def _train(options):
    if options.jobs and not options.multirun:
        raise UserError("--jobs is the number of runs at the same time; it needs -m")
    if options.print_config:
        return _print_configs(options)
    if options.multirun:
        from agents.sweep import sweep

        return sweep(options.overrides, options.jobs)
    config = overrides.load(options.overrides)
    check_run(config)
    _prepare()
    from agents.train import check, train

    check(config)
    with open_run(config) as run:
        return train(config, run)


def _print_configs(options):
    import yaml

    jobs = [options.overrides]
    if options.multirun:
        jobs = overrides.expand(launchers.split(options.overrides)[1])
    configs = [as_dict(overrides.load(job)) for job in jobs]
    print(yaml.safe_dump_all(configs, sort_keys=False), end="")


def _evaluate(options):
    _prepare(options.run)
    from agents.evaluate import evaluate

    return evaluate(options.run, options.episodes)


def _probe(options):
    _prepare(options.run)
    from agents.probing import probe

    return probe(options.run, options.episodes)


def _calibrate(options):
    _prepare(*filter(None, (options.run, options.twin)))
    from agents.calibrating import calibrate

    return calibrate(options.run, options.twin, options.episodes)


def _plot(options):
    for run in options.runs:
        load_config(run)
    from agents.plots import plot

    for file in plot(options.runs, options.out):
        print(file)


def _compare(options):
    from agents.compare import compare

    for file in compare(options.runs, options.out):
        print(file)


def _video(options):
    _prepare(options.run)
    from agents.filming import video

    return video(options.run)


_COMMANDS = {
    "train": _train,
    "evaluate": _evaluate,
    "probe": _probe,
    "calibrate": _calibrate,
    "plot": _plot,
    "compare": _compare,
    "video": _video,
}


def _prepare(*runs):
    """Checks runs, and imports gym before TF-Agents does, which would print a notice."""
    for run in runs:
        load_config(run)
    import_gym()


def _be_quiet():
    """Keeps the notices of libraries from the screen; their errors are raised anyway."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")


if __name__ == "__main__":
    sys.exit(main())

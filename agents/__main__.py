"""The command line: bayes-rl train, evaluate, probe, calibrate, plot, compare and video.

Whatever is typed is checked before TensorFlow is imported, which takes seconds.
"""

import argparse
import importlib.metadata
import os
import sys

from agents import interrupts
from agents.validation import UserError, nearest

_EXAMPLES = """examples:
  bayes-rl train                                   the default, on a laptop
  bayes-rl train experiment=debug                  everything once, within a minute
  bayes-rl train task=walker_walk seed=1 planner.horizon=8
  bayes-rl train -m explore=noise,information_gain seed=0,1      several runs
  bayes-rl train experiment=paper --print-config   the config, without a run

The same command resumes a run, or all runs of -m."""


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
            options = _parse(argv)
            return options.command(options) or 0
    except UserError as error:
        print(f"bayes-rl: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except SystemExit as exit_:  # of argparse, after --help and --version
        return exit_.code or 0


def _train(options):
    if options.multirun and not options.print_config:
        from agents.sweep import sweep

        return sweep(options.overrides, options.jobs)
    from agents import launchers, overrides
    from agents.runs import check_run, open_run

    if options.jobs and not options.multirun:
        raise UserError("--jobs is the number of runs at the same time; it needs -m")
    jobs = [options.overrides]
    if options.multirun:
        jobs = overrides.expand(launchers.split(options.overrides)[1])
    configs = [overrides.load(job) for job in jobs]
    if options.print_config:
        return _print_configs(configs)
    check_run(configs[0])
    _import_gym_quietly()
    from agents.train import check, train

    check(configs[0])
    with open_run(configs[0]) as run:
        return train(configs[0], run)


def _print_configs(configs):
    import yaml

    from agents.config import as_dict

    print(yaml.safe_dump_all(map(as_dict, configs), sort_keys=False), end="")


def _evaluate(options):
    from agents.runs import load_config

    load_config(options.run)
    _import_gym_quietly()
    from agents.evaluate import evaluate

    return evaluate(options.run, options.episodes)


def _probe(options):
    from agents.runs import load_config

    load_config(options.run)
    _import_gym_quietly()
    from agents.probing import probe

    return probe(options.run, options.episodes)


def _calibrate(options):
    from agents.runs import load_config

    for run in filter(None, (options.run, options.other)):
        load_config(run)
    _import_gym_quietly()
    from agents.calibrating import calibrate

    return calibrate(options.run, options.other, options.episodes)


def _plot(options):
    from agents.runs import load_config

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
    from agents.runs import load_config

    load_config(options.run)
    _import_gym_quietly()
    from agents.filming import video

    return video(options.run)


class _Parser(argparse.ArgumentParser):
    """A parser that says in one line what is wrong."""

    def error(self, message):
        raise UserError(f"{message} (see {self.prog} --help)")


def _parse(argv):
    parser, commands = _make_parser()
    words = [word for word in argv if not word.startswith("-")]
    if words and words[0] not in commands.choices:
        names = list(commands.choices)
        hint = nearest(words[0], names) or f"; there are {', '.join(names)}"
        raise UserError(f"there is no command {words[0]!r}{hint}")
    options, rest = parser.parse_known_args(argv)
    if "command" not in options:
        parser.print_help()
        raise SystemExit(2)
    for word in rest:
        if options.command is not _train or word.startswith("-"):
            known = [*commands.choices[options.name]._option_string_actions]
            what = "option" if word.startswith("-") else "argument"
            raise UserError(
                f"{options.name} has no {what} {word!r}{nearest(word, known)}"
                f" (see bayes-rl {options.name} --help)"
            )
    options.overrides = rest
    return options


def _make_parser():
    parser = _Parser(
        prog="bayes-rl",
        description="Model-based reinforcement learning with Bayesian layers.",
        epilog="bayes-rl COMMAND --help says more.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="name", parser_class=_Parser
    )

    def add(name, function, text, **settings):
        command = commands.add_parser(
            name, help=text, description=text, allow_abbrev=False, **settings
        )
        command.set_defaults(command=function)
        return command

    _add_train(add)
    command = add("evaluate", _evaluate, "Score the newest checkpoint, without exploring.")
    command.add_argument("run", metavar="RUN", help="folder of a run")
    command.add_argument(
        "--episodes", type=_count, default=10, metavar="N", help="episodes (default: 10)"
    )
    command = add("probe", _probe, "Measure how well latents tell velocities.")
    command.add_argument("run", metavar="RUN", help="folder of a run")
    command.add_argument(
        "--episodes",
        type=_count,
        default=20,
        metavar="N",
        help="episodes of the policy, and as many of random actions (default: 20)",
    )
    command = add("calibrate", _calibrate, "Measure how honest open-loop forecasts are.")
    command.add_argument("run", metavar="RUN", help="folder of a run")
    command.add_argument(
        "other",
        metavar="OTHER",
        nargs="?",
        help="folder of a run to compare with, such as a deterministic one",
    )
    command.add_argument(
        "--episodes",
        type=_count,
        default=10,
        metavar="N",
        help="episodes of each policy, and as many of random actions (default: 10)",
    )
    command = add("plot", _plot, "Draw the curves of runs.")
    command.add_argument("runs", metavar="RUN", nargs="+", help="folder of a run")
    command.add_argument(
        "--out",
        metavar="FOLDER",
        help="for figures (default: figures/ of the run, or beside several runs)",
    )
    command = add("compare", _compare, "Compare groups of runs, with intervals over seeds.")
    command.add_argument(
        "runs", metavar="RUN", nargs="+", help="folder of a run, or one that holds runs"
    )
    command.add_argument(
        "--out",
        metavar="FOLDER",
        default="comparison",
        help="for figures and csv files (default: comparison)",
    )
    command = add("video", _video, "Film an episode of the newest checkpoint.")
    command.add_argument("run", metavar="RUN", help="folder of a run")
    return parser, commands


def _add_train(add):
    command = add(
        "train",
        _train,
        "Train an agent, or resume its run.",
        usage="bayes-rl train [-m [--jobs N]] [--print-config] [key=value ...] "
        "[group=choice ...]",
        formatter_class=_LateHelp,
        epilog="see _LateHelp",
    )
    command.add_argument(
        "-m",
        "--multirun",
        action="store_true",
        help="run every combination of comma-separated values, or what is missing of them",
    )
    command.add_argument(
        "--jobs",
        type=_count,
        metavar="N",
        help="with -m: runs at the same time (default: cores / threads)",
    )
    command.add_argument(
        "--print-config", action="store_true", help="print the whole config and do nothing"
    )


class _LateHelp(argparse.RawDescriptionHelpFormatter):
    """Reads the YAML files only when help is asked for."""

    def add_text(self, text):
        super().add_text(_train_help() if text == "see _LateHelp" else text)


def _train_help():
    from agents import overrides

    lines = [_EXAMPLES, "", "groups and presets:"]
    for group, choices in overrides.groups().items():
        for choice in choices:
            text = (overrides.FOLDER / group / f"{choice}.yaml").read_text().splitlines()
            comments = (line for line in text if line.startswith("# "))
            about = next(line[2:] for line in comments if "@package" not in line)
            lines.append(f"  {f'{group}={choice}':32} {about}")
    for file in ("train", "world_model/small", "planner/icem", "explore/noise"):
        text = (overrides.FOLDER / f"{file}.yaml").read_text()
        lines += ["", f"configs/{file}.yaml:", *(f"  {line}" for line in text.splitlines())]
    return "\n".join(lines).replace("%", "%%")


def _count(text):
    try:
        count = int(text)
    except ValueError:
        count = 0
    if count < 1:
        raise argparse.ArgumentTypeError(
            f"must be a whole number of at least 1, got {text!r}"
        )
    return count


def _version():
    try:
        return f"bayes-rl {importlib.metadata.version('bayes-rl')}"
    except importlib.metadata.PackageNotFoundError:
        return "bayes-rl (not installed)"


def _be_quiet():
    """Keeps the notices of libraries from the screen; their errors are raised anyway."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")


def _import_gym_quietly():
    """TF-Agents imports gym, which prints a notice unless it was imported like this."""
    from envs.quiet import import_gym

    import_gym()


if __name__ == "__main__":
    sys.exit(main())

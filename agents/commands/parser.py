"""The words of the command line: which commands there are, and their options.

Nothing here imports TensorFlow, which takes seconds, or says what a command does.
"""

import argparse
import importlib.metadata

from agents.commands.arguments import address, addresses, whole_number
from agents.commands.help import train_help
from agents.errors import UserError, nearest

ROLES = ("server", "learner", "actor")
_OF_A_CONFIG = ("train", "cluster", *ROLES)


def parse(argv):
    """Reads the words of a command line.

    Args:
        argv: list of words after the program's name.

    Returns:
        An `argparse.Namespace` of the options of the command, with its `name`; those of
        train and of roles have `overrides`, the words that are of the config.

    Raises:
        UserError: there is no such command or option. One line.
        SystemExit: all was said, as by --help.
    """
    parser, commands = _make_parser()
    if not argv:
        parser.print_help()
        raise SystemExit(2)
    _check_first(argv, parser, commands)
    options, rest = parser.parse_known_args(argv)
    for word in rest:
        if options.name not in _OF_A_CONFIG or word.startswith("-"):
            _refuse(word, rest, options.name, commands[options.name].option_names)
    if options.name in _OF_A_CONFIG:
        options.overrides = rest
    return options


class _Parser(argparse.ArgumentParser):
    """A parser that says in one line what is wrong.

    Args:
        late_help: function of the end of its help, called when help is asked for.
        **settings: of `argparse.ArgumentParser`.

    Attributes:
        option_names: list such as `["-h", "--help"]`.
    """

    def __init__(self, late_help=str, **settings):
        self.option_names = []
        self._late_help = late_help
        super().__init__(allow_abbrev=False, **settings)

    def add_argument(self, *names, **settings):
        self.option_names += [name for name in names if name.startswith("-")]
        return super().add_argument(*names, **settings)

    def format_help(self):
        return super().format_help() + self._late_help()

    def error(self, message):
        raise UserError(f"{message} (see {self.prog} --help)")


def _make_parser():
    """(parser, dict of each command's name -> its parser)."""
    parser = _Parser(
        prog="bayes-rl",
        description="Model-based reinforcement learning with Bayesian layers.",
        epilog="bayes-rl COMMAND --help says more.",
    )
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="name")
    _add_train(commands)
    _add_evaluate(commands)
    _add_probe(commands)
    _add_calibrate(commands)
    _add_plot(commands)
    _add_compare(commands)
    _add_video(commands)
    _add_export(commands)
    _add_roles(commands)
    _add_cluster(commands)
    return parser, commands.choices


def _add_train(commands):
    command = _add(
        commands,
        "train",
        "Train an agent, or resume its run.",
        usage="bayes-rl train [-m [--jobs N | --print-commands]] [--print-config] "
        "[key=value ...] [group=choice ...]",
        late_help=lambda: f"\n{train_help()}",
    )
    command.add_argument(
        "-m",
        "--multirun",
        action="store_true",
        help="run every combination of comma-separated values, or what is missing of them",
    )
    command.add_argument(
        "--jobs",
        type=whole_number,
        metavar="N",
        help="with -m: runs at the same time (default: cores / threads)",
    )
    command.add_argument(
        "--print-commands",
        action="store_true",
        help="with -m: print a command for each run that is missing, and do nothing",
    )
    command.add_argument(
        "--print-config", action="store_true", help="print the whole config and do nothing"
    )


def _add_evaluate(commands):
    command = _add(commands, "evaluate", "Score the newest checkpoint, without exploring.")
    _add_run(command)
    _add_episodes(command, 10, "episodes")


def _add_probe(commands):
    about = "Measure how well latents tell velocities and positions."
    command = _add(commands, "probe", about)
    _add_run(command)
    _add_episodes(command, 20, "episodes of the policy, and as many of random actions")


def _add_calibrate(commands):
    about = "Measure how honest open-loop forecasts are."
    command = _add(commands, "calibrate", about)
    _add_run(command)
    command.add_argument(
        "twin",
        metavar="TWIN",
        nargs="?",
        help="folder of a run to compare with, such as a deterministic one",
    )
    _add_episodes(command, 20, "episodes of each policy, and as many of random actions")


def _add_plot(commands):
    command = _add(commands, "plot", "Draw the curves of runs.")
    command.add_argument("runs", metavar="RUN", nargs="+", help="folder of a run")
    command.add_argument(
        "--out",
        metavar="FOLDER",
        help="for figures (default: figures/ of the run, or beside several runs)",
    )


def _add_compare(commands):
    about = "Compare groups of runs, with intervals over seeds."
    command = _add(commands, "compare", about)
    command.add_argument(
        "runs", metavar="RUN", nargs="+", help="folder of a run, or one that holds runs"
    )
    command.add_argument(
        "--out",
        metavar="FOLDER",
        default="comparison",
        help="for figures and csv files (default: comparison)",
    )


def _add_video(commands):
    about = "Film an episode of the newest checkpoint, and what its model predicts."
    command = _add(commands, "video", about)
    _add_run(command)


def _add_export(commands):
    about = "Write the policy of the newest checkpoint as a SavedModel."
    command = _add(commands, "export", about)
    _add_run(command)
    command.add_argument(
        "--out", metavar="FOLDER", help="to write (default: policy/ of the run)"
    )


def _add_roles(commands):
    abouts = {
        "server": "Keep the replay of a run with actors; one process, on any machine.",
        "learner": "Learn what actors collect; one process of a run, on any machine.",
        "actor": "Collect for a learner; one process of a run, on any machine.",
    }
    own = {
        "server": "",
        "learner": "[--number K --learners HOST:PORT,...] ",
        "actor": "--number K ",
    }
    for role in ROLES:
        usage = f"bayes-rl {role} --server HOST:PORT {own[role]}actors=N [key=value ...]"
        command = _add(commands, role, abouts[role], usage=usage)
        command.add_argument(
            "--server",
            required=True,
            type=address,
            metavar="HOST:PORT",
            help="of the replay server, the same for all",
        )
        if role != "server":
            command.add_argument(
                "--number",
                required=role == "actor",
                default=0,
                type=int,
                metavar="K",
                help=f"of this {role}, 0 to {role}s - 1",
            )
        if role == "learner":
            command.add_argument(
                "--learners",
                type=addresses,
                default=(),
                metavar="HOST:PORT,...",
                help="of all learners, for strategy=multi_worker",
            )


def _add_cluster(commands):
    command = _add(
        commands,
        "cluster",
        "Print a job script for a run of many processes.",
        usage="bayes-rl cluster slurm --actors N [--gpus N] [--cores N] [key=value ...]",
    )
    command.add_argument("system", choices=("slurm",), help="that runs the job")
    command.add_argument(
        "--actors", type=whole_number, required=True, metavar="N", help="that collect"
    )
    command.add_argument(
        "--gpus", type=int, default=0, metavar="N", help="of a learner (default: 0)"
    )
    command.add_argument(
        "--cores", type=whole_number, default=1, metavar="N", help="a process (default: 1)"
    )


def _add(commands, name, about, **settings):
    return commands.add_parser(name, help=about, description=about, **settings)


def _add_run(command):
    command.add_argument("run", metavar="RUN", help="folder of a run")


def _add_episodes(command, default, about):
    command.add_argument(
        "--episodes",
        type=whole_number,
        default=default,
        metavar="N",
        help=f"{about} (default: {default})",
    )


def _version():
    try:
        return f"bayes-rl {importlib.metadata.version('bayes-rl')}"
    except importlib.metadata.PackageNotFoundError:
        return "bayes-rl (not installed)"


def _check_first(argv, parser, commands):
    """Refuses a first word that is neither a command nor an option of the program."""
    first = argv[0]
    if first.startswith("-") and first not in parser.option_names:
        name = next((word for word in argv if word in commands), "COMMAND")
        raise UserError(f"options come after the command: bayes-rl {name} {first} ...")
    if not first.startswith("-") and first not in commands:
        hint = nearest(first, commands) or f"; there are {', '.join(commands)}"
        raise UserError(f"there is no command {first!r}{hint}")


def _refuse(word, rest, name, known):
    """Says what would be right in place of a word that a command does not know."""
    what = "option" if word.startswith("-") else "argument"
    hint = _as_key(word, rest) if name == "train" else ""
    hint = hint or nearest(word, known, least=0.7)  # all options share their dashes
    raise UserError(f"{name} has no {what} {word!r}{hint} (see bayes-rl {name} --help)")


def _as_key(word, rest):
    """`; write seed=1` for `--seed 1` or `--seed=1`; nothing where there is no such key."""
    from agents.config.overrides import all_keys

    option, equals, value = word.partition("=")
    key = option.lstrip("-").replace("-", "_")
    if key not in all_keys():
        return ""
    following = rest[rest.index(word) + 1 :][:1]
    if not equals and following and not following[0].startswith("-"):
        value = following[0] if "=" not in following[0] else ""
    return f"; write {key}={value or 'VALUE'}"

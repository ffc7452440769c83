"""Reads the words of a command line, and refuses those that no command knows."""

import argparse
import importlib.metadata

from agents.cli.parsing.options import add_commands
from agents.system.errors import UserError, nearest

_OF_A_CONFIG = ("train", "learn")


def parse(argv):
    """Reads the words of a command line after the program's name.

    The `argparse.Namespace` of the options has the `name` of the command, and for train the
    words of the config, `overrides`.

    Raises:
        UserError: there is no such command or option. One line.
        SystemExit: all was said, as by --help.
    """
    parser = _Parser(
        prog="bayes-rl",
        description="Model-based reinforcement learning with Bayesian layers.",
        epilog="bayes-rl COMMAND --help describes a command.",
    )
    parser.add_argument("--version", action="version", version=_version())
    added = parser.add_subparsers(title="commands", metavar="COMMAND", dest="name")
    add_commands(added)
    commands = added.choices  # name -> its parser
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

    `late_help` makes the end of its help, once help is asked for.
    """

    def __init__(self, late_help=str, **settings):
        self.option_names = []  # such as -h and --help
        self._late_help = late_help
        super().__init__(allow_abbrev=False, **settings)

    def add_argument(self, *names, **settings):
        self.option_names += [name for name in names if name.startswith("-")]
        return super().add_argument(*names, **settings)

    def format_help(self):
        return super().format_help() + self._late_help()

    def error(self, message):
        raise UserError(f"{message} (see {self.prog} --help)")


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
    hint = _as_key(word, rest) if name in _OF_A_CONFIG else ""
    hint = hint or nearest(word, known, least=0.7)  # all options share their dashes
    raise UserError(f"{name} has no {what} {word!r}{hint} (see bayes-rl {name} --help)")


def _as_key(word, rest):
    """`; write seed=1` for `--seed 1` or `--seed=1`; nothing where there is no such key."""
    from agents.runs.config.overrides import all_keys

    option, equals, value = word.partition("=")
    key = option.lstrip("-").replace("-", "_")
    if key not in all_keys():
        return ""
    following = rest[rest.index(word) + 1 :][:1]
    if not equals and following and not following[0].startswith("-"):
        value = following[0] if "=" not in following[0] else ""
    return f"; write {key}={value or 'VALUE'}"

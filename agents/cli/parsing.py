"""Words of a command line: what each command takes, and which words no command knows.

Nothing here imports TensorFlow, or says what a command does.
"""

import argparse
import importlib.metadata
import shutil
import textwrap

from agents.runs.config import choices
from agents.system.errors import UserError, nearest

_OF_A_CONFIG = ("train", "learn")
_EXAMPLES = """examples:
  bayes-rl train                                   the default, on a laptop
  bayes-rl train experiment=debug                  nearly all code, in a minute
  bayes-rl train task=walker_walk seed=1 planner.horizon=8       other values
  bayes-rl train -m explore=noise,information_gain seed=0,1      several runs
  bayes-rl train experiment=paper --print-config   the config, without a run

The same command resumes a run; with -m, all runs that have not finished."""
_LEARN = """examples:
  bayes-rl learn logdir/cartpole_swingup/noise/0       episodes of a run, scored in its task
  bayes-rl learn logs                                  npz files, no environment
  bayes-rl learn logs task=cartpole_swingup            npz files, scored in a task
  bayes-rl learn logs -m seed=0,1,2                    several runs

Keys and choices are those of bayes-rl train --help. An npz file has observations [N, D],
actions [N, A] and rewards [N], and may have terminals and timeouts [N], next_observations,
action_low and action_high [A]."""


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
    _add_commands(added)
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


def _add_commands(commands):
    """Adds a `_Parser` for each command to what `add_subparsers` returned."""

    def add(name, about, *options, **settings):
        command = commands.add_parser(name, help=about, description=about, **settings)
        for words, of_option in options:
            command.add_argument(*words, **of_option)

    usage = (
        "[-m [--jobs N | --print-commands]] [--print-config] "
        "[key=value ...] [group=choice ...]"
    )
    run = _option("run", "folder of a run", metavar="RUN")
    about = "folder of a run, or a folder of runs"
    runs = _option("runs", about, metavar="RUN", nargs="+")
    files = _out("the figures and csv files (default: the run)")
    add(
        "train",
        "Train an agent, or resume its run.",
        *_multirun(),
        usage=f"bayes-rl train {usage}",
        late_help=lambda: f"\n{train_help()}",
    )
    about = "folder of a run, an npz file, a folder of npz files, or minari:NAME"
    add(
        "learn",
        "Train an agent from logged episodes alone, or resume its run.",
        _option("data", about, metavar="DATA"),
        *_multirun(),
        usage=f"bayes-rl learn DATA {usage}",
        late_help=lambda: f"\n{_LEARN}",
    )
    add(
        "evaluate",
        "Score the newest checkpoint, without exploration.",
        run,
        _episodes(10, "number of episodes"),
        _out("evaluation.csv (default: the run)"),
        _physics(),
    )
    about = "number of episodes of the policy, and of random actions"
    add(
        "probe",
        "Measure how well the latent encodes velocities and positions.",
        *(run, _episodes(20, about), files),
    )
    twin = "folder of a second run to compare with, such as a deterministic one"
    add(
        "calibrate",
        "Measure the coverage of prediction intervals, and recalibrate them.",
        run,
        _option("twin", twin, metavar="TWIN", nargs="?"),
        _episodes(20, "number of episodes of each policy, and of random actions"),
        files,
    )
    add(
        "plot",
        "Draw curves of one or several runs.",
        _option("runs", "folder of a run", metavar="RUN", nargs="+"),
        _out("the figures (default: figures/ in the run, or beside several runs)"),
    )
    at = (
        "environment steps at which runs are compared (default: the end of the shortest "
        "finished run); a run that diverged keeps its last score; a run that has not "
        "reached this step is left out and named"
    )
    add(
        "compare",
        "Compare groups of runs, with intervals over seeds.",
        runs,
        _out("the figures and csv files (default: comparison)", default="comparison"),
        _option("--at", at, type=whole_number, metavar="STEPS"),
    )
    add(
        "video",
        "Film an episode of the newest checkpoint, and the predictions of its model.",
        *(run, _out("the films (default: videos/ in the run)")),
    )
    add(
        "export",
        "Save the policy of the newest checkpoint as a SavedModel.",
        *(run, _out("the SavedModel (default: policy/ in the run)")),
    )
    add(
        "migrate",
        "Bring the config.yaml of runs of earlier versions to today's form.",
        runs,
    )


def _option(name, about, **settings):
    return [name], settings | {"help": about}


def _multirun():
    about = "train every combination of comma-separated values, except finished runs"
    yield ["-m", "--multirun"], {"action": "store_true", "help": about}
    about = "with -m: number of runs at a time (default: cores / cores of a run)"
    yield _option("--jobs", about, type=whole_number, metavar="N")
    about = "with -m: print a command for each missing run, and train nothing"
    yield _option("--print-commands", about, action="store_true")
    about = "print the whole config, and train nothing"
    yield _option("--print-config", about, action="store_true")


def _out(about, default=None):
    return _option("--out", f"folder of {about}", metavar="FOLDER", default=default)


def _physics():
    about = "change the task, such as mass=1.5 friction=2 gain=0.7 (default: the run's own)"
    changes = {"type": _factor, "nargs": "+", "metavar": "NAME=FACTOR", "default": ()}
    return _option("--physics", about, **changes)


def whole_number(text):
    """A whole number of at least 1.

    Example:
        >>> whole_number("3")
        3
    """
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(
            f"must be a whole number of at least 1, got {text!r}"
        )
    return number


def _factor(word):
    name, _, factor = word.partition("=")
    try:
        return name, float(factor)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be a name and a factor, such as mass=1.5, got {word!r}"
        ) from None


def _episodes(default, about):
    about = f"{about} (default: {default})"
    return _option("--episodes", about, type=whole_number, default=default, metavar="N")


def train_help():
    """Every choice and every key with its unit, read from the YAML files."""
    lines = [_EXAMPLES]
    for group, names in choices.groups().items():
        lines += ["", *_choices(group, names), *_units(group, names)]
    shown = ((group, choices.defaults()[group]) for group in ("world_model", "explore"))
    for file in (("train",), *shown):
        title = f"configs/{'/'.join(file)}.yaml:"
        lines += ["", title, *(f"  {line}".rstrip() for line in choices.read(*file))]
    return "\n".join(lines) + "\n"


def _choices(group, names):
    """Lines: what each choice is, and the keys that come with it."""
    rows = []
    for name in names:
        rows.append((f"{group}={name}", choices.about(group, name)))
        keys = choices.settings(group, name)
        if keys:
            rows.append(("", " ".join(f"{key}={value}" for key, value in keys.items())))
    has_keys = ", with the values of its keys" * (len(rows) > len(names))
    return [f"{group}=CHOICE{has_keys}:", *_columns(rows)]


def _units(group, names):
    """Lines: what the keys mean that come with a choice."""
    keys = sorted({key for name in names for key in choices.settings(group, name)})
    rows = []
    for key in keys:
        texts = choices.units(group, key) or [""]
        rows += zip([f"{group}.{key}", *[""] * len(texts)], texts, strict=False)
    return rows and ["", f"{group}.KEY=VALUE, if the choice has the key:", *_columns(rows)]


def _columns(rows):
    """Lines of two columns, the first as wide as it has to be, the second wrapped."""
    width = max(len(first) for first, _ in rows)
    room = max(30, shutil.get_terminal_size().columns - width - 4)
    lines = []
    for first, second in rows:
        parts = textwrap.wrap(second, room, break_on_hyphens=False) or [""]
        lines += [f"  {first:{width}}  {parts[0]}".rstrip()]
        lines += [f"  {'':{width}}  {part}" for part in parts[1:]]
    return lines

"""The commands, their options, and the long end of `bayes-rl train --help`."""

import argparse
import shutil
import textwrap

from agents.runs.config import choices

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


def whole_number(text, least=1):
    """A whole number of at least `least`.

    Example:
        >>> whole_number("3")
        3
    """
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise argparse.ArgumentTypeError(
            f"must be a whole number of at least {least}, got {text!r}"
        )
    return number


def add_commands(commands):
    """Adds a parser for each command.

    Args:
        commands: what `add_subparsers` of a parser returns that knows `late_help`.
    """
    _add_train(commands)
    _add_learn(commands)
    _add_evaluate(commands)
    _add_probe(commands)
    _add_calibrate(commands)
    _add_plot(commands)
    _add_compare(commands)
    _add_video(commands)
    _add_export(commands)
    _add_migrate(commands)


def _add_train(commands):
    command = _add(
        commands,
        "train",
        "Train an agent, or resume its run.",
        usage="bayes-rl train [-m [--jobs N | --print-commands]] [--print-config] "
        "[key=value ...] [group=choice ...]",
        late_help=lambda: f"\n{train_help()}",
    )
    _add_multirun(command)


def _add_learn(commands):
    command = _add(
        commands,
        "learn",
        "Train an agent from logged episodes alone, or resume its run.",
        usage="bayes-rl learn DATA [-m [--jobs N | --print-commands]] [--print-config] "
        "[key=value ...] [group=choice ...]",
        late_help=lambda: f"\n{_LEARN}",
    )
    about = "folder of a run, npz file, folder of such, or minari:NAME"
    command.add_argument("data", metavar="DATA", help=about)
    _add_multirun(command)


def _add_multirun(command):
    command.add_argument(
        "-m",
        "--multirun",
        action="store_true",
        help="train every combination of comma-separated values, except finished runs",
    )
    command.add_argument(
        "--jobs",
        type=whole_number,
        metavar="N",
        help="with -m: number of runs at a time (default: cores / cores of a run)",
    )
    command.add_argument(
        "--print-commands",
        action="store_true",
        help="with -m: print a command for each missing run, and train nothing",
    )
    command.add_argument(
        "--print-config",
        action="store_true",
        help="print the whole config, and train nothing",
    )


def _add_evaluate(commands):
    command = _add(
        commands, "evaluate", "Score the newest checkpoint, without exploration."
    )
    _add_run(command)
    _add_episodes(command, 10, "number of episodes")
    _add_out(command, "evaluation.csv (default: the run)")


def _add_probe(commands):
    about = "Measure how well the latent encodes velocities and positions."
    command = _add(commands, "probe", about)
    _add_run(command)
    _add_episodes(command, 20, "number of episodes of the policy, and of random actions")
    _add_out(command, "the figures and csv files (default: the run)")


def _add_calibrate(commands):
    about = "Measure the coverage of prediction intervals, and recalibrate them."
    command = _add(commands, "calibrate", about)
    _add_run(command)
    command.add_argument(
        "twin",
        metavar="TWIN",
        nargs="?",
        help="folder of a second run to compare with, such as a deterministic one",
    )
    _add_episodes(command, 20, "number of episodes of each policy, and of random actions")
    _add_out(command, "the figures and csv files (default: the run)")


def _add_plot(commands):
    command = _add(commands, "plot", "Draw curves of one or several runs.")
    command.add_argument("runs", metavar="RUN", nargs="+", help="folder of a run")
    about = "the figures (default: figures/ in the run, or beside several runs)"
    _add_out(command, about)


def _add_compare(commands):
    about = "Compare groups of runs, with intervals over seeds."
    command = _add(commands, "compare", about)
    _add_runs(command)
    about = "the figures and csv files (default: comparison)"
    _add_out(command, about, default="comparison")
    command.add_argument(
        "--at",
        type=whole_number,
        metavar="STEPS",
        help="environment steps at which runs are compared (default: where the shortest "
        "finished run ends; a run that diverged keeps its last score from there on, one "
        "that is under way and not so far is left out by name)",
    )


def _add_video(commands):
    about = "Film an episode of the newest checkpoint, and the predictions of its model."
    command = _add(commands, "video", about)
    _add_run(command)
    _add_out(command, "the films (default: videos/ in the run)")


def _add_export(commands):
    about = "Save the policy of the newest checkpoint as a SavedModel."
    command = _add(commands, "export", about)
    _add_run(command)
    _add_out(command, "the SavedModel (default: policy/ in the run)")


def _add_migrate(commands):
    about = "Bring the config.yaml of runs of earlier versions to today's form."
    command = _add(commands, "migrate", about)
    _add_runs(command)


def _add(commands, name, about, **settings):
    return commands.add_parser(name, help=about, description=about, **settings)


def _add_run(command):
    command.add_argument("run", metavar="RUN", help="folder of a run")


def _add_runs(command):
    command.add_argument(
        "runs",
        metavar="RUN",
        nargs="+",
        help="folder of a run, or a folder that holds runs",
    )


def _add_out(command, about, default=None):
    command.add_argument(
        "--out", metavar="FOLDER", default=default, help=f"folder of {about}"
    )


def _add_episodes(command, default, about):
    command.add_argument(
        "--episodes",
        type=whole_number,
        default=default,
        metavar="N",
        help=f"{about} (default: {default})",
    )


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
    title = f"{group}=CHOICE" + (
        ", with the values of its keys" if len(rows) > len(names) else ""
    )
    return [f"{title}:", *_columns(rows)]


def _units(group, names):
    """Lines: what the keys mean that come with a choice."""
    keys = sorted({key for name in names for key in choices.settings(group, name)})
    if not keys:
        return []
    rows = []
    for key in keys:
        texts = choices.units(group, key) or [""]
        rows += zip([f"{group}.{key}", *[""] * len(texts)], texts, strict=False)
    return ["", f"{group}.KEY=VALUE, if the choice has the key:", *_columns(rows)]


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

"""A run is a folder: its config, the places of its parts, and who may write to it."""

import dataclasses
import os
import pathlib
import re
import shlex
import typing

import yaml

from agents.runs.config.resolving import fill, open_keys
from agents.runs.config.schema import as_dict, flatten, make_config
from agents.runs.earlier import is_earlier, parse
from agents.system.errors import UserError
from agents.system.files import write_text
from agents.system.locking import LOCK, lock_folder

_LENGTH = "environment_steps"
# What may differ from one machine, or one session, of a run to another.
LOCAL = "logdir", "threads", "address", "evaluation.apart"
# What may change when a run goes on: how fast it computes, how often it is measured and
# saved. An episode starts by its number, whichever environment runs it, and what is learned
# from a batch is the same but for rounding and the random numbers of each device.
CHANGEABLE = ("environments", "actors", "devices", "compile")
CHANGEABLE += ("evaluation.every_steps", "evaluation.episodes", "video_every_steps")
CHANGEABLE += ("probe_every_steps", "checkpoint_every_steps", "logger")


@dataclasses.dataclass(frozen=True)
class Run:
    """The places in the folder of a run."""

    folder: pathlib.Path
    # open file that keeps other processes out
    lock: typing.IO | None = dataclasses.field(default=None, compare=False, repr=False)
    whole: typing.Self | None = None  # the run, where this is the part of a later learner
    # words for each value of `CHANGEABLE` that this session changes
    changed: tuple = dataclasses.field(default=(), compare=False)

    @property
    def first(self):
        """The run as its first learner writes it; all others go on from there."""
        return self.whole or self

    @property
    def config_file(self):
        return self.folder / "config.yaml"

    @property
    def checkpoints(self):
        return self.folder / "checkpoints"

    @property
    def episodes(self):
        return self.first.folder / "episodes"

    @property
    def videos(self):
        return self.folder / "videos"

    def close(self):
        """Lets other processes in; the death of this process does the same."""
        if self.lock is not None:
            self.lock.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def open_run(config):
    """Starts or resumes the run in `config.logdir` and keeps other processes out of it.

    The config is written when the run starts, and again when it is made longer or changes
    one of `CHANGEABLE`.

    Args:
        config: `agents.runs.config.schema.Train`, as `agents.training.checking.check`
            returns it: it leaves nothing open.

    Returns:
        A `Run`; a context manager.

    Raises:
        UserError: the config is not valid; the folder holds a run with other values, is in
            use, or is no folder.
        ValueError: the config leaves a key open.
    """
    make_config(as_dict(config))  # one whose parts were replaced was not checked
    if left := open_keys(as_dict(config)):
        raise ValueError(
            f"{', '.join(left)} must be set before a run is saved; "
            "agents.training.checking.check sets what a config leaves open"
        )
    check_run(config)
    run = Run(pathlib.Path(config.logdir))
    try:
        run.folder.mkdir(parents=True, exist_ok=True)
        lock = lock_folder(run.folder)
    except OSError as error:
        raise UserError(f"cannot write to logdir {run.folder}: {error.strerror}") from None
    run = dataclasses.replace(run, lock=lock)
    try:
        if run.config_file.exists():
            changed = tuple(_changes(run, as_dict(config)).values())
            run = dataclasses.replace(run, changed=changed)
        if not run.config_file.exists() or _differs(config, load_config(run.folder)):
            write_text(run.config_file, as_text(config))
    except BaseException:
        run.close()
        raise
    return run


def as_text(config):
    """What the config.yaml of a run says."""
    return yaml.safe_dump(as_dict(config), sort_keys=False)


def as_begun(config):
    """The config with what it leaves open as its run has it, where that was begun."""
    run = Run(pathlib.Path(config.logdir))
    return fill(config, load_config(run.folder)) if run.config_file.exists() else config


def _differs(config, saved):
    """Whether more than what is of this machine does."""
    values, before = flatten(as_dict(config)), flatten(as_dict(saved))
    return any(values[name] != before[name] for name in values if name not in LOCAL)


def check_run(config):
    """Refuses a config whose folder cannot be its run. Writes nothing.

    Raises:
        UserError: the folder holds a run with other values, or one that cannot go on, or is
            no folder.
    """
    from agents.runs.records import read_metrics, read_scores

    run = Run(pathlib.Path(config.logdir))
    parent = run.folder
    while not os.path.lexists(parent):
        parent = parent.parent
    if not parent.is_dir():
        raise UserError(f"logdir {run.folder} cannot be a folder: {parent} is a file")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise UserError(f"cannot write to logdir {run.folder}: Permission denied")
    can_go_on = _has_files(run.checkpoints) or _has_files(run.episodes)
    if run.config_file.exists():
        changes = _changes(run, as_dict(config)).items()
        if fixed := [words for name, words in changes if name not in CHANGEABLE]:
            raise UserError(
                f"{run.folder} holds a run with other values ({', '.join(fixed)}); "
                "set them back to resume it, or start a new run with another logdir"
            )
        if not can_go_on and (read_scores(run.folder) or read_metrics(run.folder)):
            raise UserError(
                f"{run.folder} has the metrics of a run, but its checkpoints and episodes "
                "are missing; put them back to resume it, or start a new run with another "
                "logdir"
            )
    elif can_go_on:
        raise UserError(
            f"{run.folder} has episodes or checkpoints, but config.yaml is missing; "
            "put it back to resume the run, or start a new run with another logdir"
        )


def _has_files(folder):
    return any(path.is_file() and path.name != LOCK for path in folder.rglob("*"))


def load_config(folder):
    """The config of the run in a folder, an `agents.runs.config.schema.Train`.

    Raises:
        UserError: the folder is not that of a run, or its config.yaml is damaged, or of an
            earlier version.
    """
    return checked(folder, read_config(folder))


def checked(folder, values):
    """The config that values of the config.yaml in a folder make; errors name the file."""
    try:
        return make_config(values)
    except UserError as error:
        file = Run(pathlib.Path(folder)).config_file
        raise UserError(f"{file} is not valid: {error}") from None


def read_config(folder):
    """The nested plain values of the config of the run in a folder, unchecked."""
    values = read_values(folder)
    if is_earlier(values):
        raise UserError(
            f"{Run(pathlib.Path(folder)).config_file} is of an earlier version; "
            f"bring it to today's form: bayes-rl migrate {shlex.quote(str(folder))}"
        )
    return values


def read_values(folder):
    """As `read_config`, of a run of any version, in the words of then."""
    run = Run(pathlib.Path(folder))
    if not run.folder.is_dir():
        what = "it is a file" if run.folder.exists() else "there is no such folder"
        raise UserError(f"{run.folder} is not the folder of a run: {what}")
    if not run.config_file.is_file():
        below = next(runs_below(run.folder), None)
        hint = f"; there are runs below it, such as {below}" if below else ""
        raise UserError(
            f"{run.folder} is not the folder of a run: it has no config.yaml{hint}"
        )
    try:
        text = run.config_file.read_bytes()
    except OSError as error:
        raise UserError(f"cannot read {run.config_file}: {error.strerror}") from None
    values, damage = parse(text)
    if damage:
        raise UserError(
            f"{run.config_file} is damaged: {damage}; put a copy back, or, to begin anew, "
            "remove the folder or use another logdir"
        )
    return values


def runs_below(folder):
    """Yields the path of each run in a folder: itself, or those at any depth below it.

    Neither hidden folders, such as `.venv`, nor those of runs are searched.
    """
    for place, folders, _ in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if _is_run(Run(pathlib.Path(place))):
            folders.clear()
            yield pathlib.Path(place)


def _is_run(run):
    """Whether a config.yaml, damaged or not, is of a run; many programs have such files."""
    from agents.runs.records import METRICS

    try:
        text = run.config_file.read_bytes()
    except OSError:
        return False
    return bool(re.search(rb"(?m)^task:", text)) or (run.folder / METRICS).exists()


def _changes(run, values):
    """What a run has otherwise than these values: dict of name -> words."""
    before, now = flatten(as_dict(load_config(run.folder))), flatten(values)
    left = [name for name in open_keys(values) if name in before]  # as the run has them
    return {
        name: f"{name}: {_show(before, name)} -> {_show(now, name)}"
        for name in dict.fromkeys([*now, *before])
        if name not in (*LOCAL, *left)
        and (name not in before or name not in now or before[name] != now[name])
        and not (name == _LENGTH and _is_longer(before, now))
    }


def _is_longer(before, now):
    """Whether a run is to go on for longer; one of logged episodes has no more of them."""
    steps = before.get(_LENGTH)
    return now.get("data") is None and isinstance(steps, int) and now[_LENGTH] > steps


def _show(values, name):
    return "null" if (value := values.get(name, "not set")) is None else value

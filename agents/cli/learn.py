"""The command `bayes-rl learn DATA`: trains from logged episodes alone."""

import contextlib

from agents.cli.train import train
from agents.episodes.layout import seen_in
from agents.runs.config.overrides import expand, load
from agents.system.errors import UserError
from envs.quiet import import_gym
from envs.tasks import LOGGED

# What follows from it that nothing is collected; and of arrays, which say no more.
_ALWAYS = {"explore": "greedy"}
_OF_ARRAYS = {"task": LOGGED, "action_repeat": 1}


def learn(data, overrides, multirun, jobs, print_config, print_commands):
    """Trains a run, or with -m several, from logged episodes; nothing is collected.

    It is `agents.cli.train.train` with the keys that the episodes decide before what is
    typed: data as of `agents.training.logged.reading.find`. Prints what it found in them.

    Raises:
        UserError: an episode is not right, or not of the task. One line.
    """
    words, found = _settle(data, overrides)
    if not (print_config or print_commands):
        print(f"{data}: {found}", flush=True)
    return train([*words, *overrides], multirun, jobs, print_config, print_commands)


def _settle(data, overrides):
    """The words that the episodes decide, and the survey of these."""
    from agents.training.logged.reading import find

    typed = dict(word.partition("=")[::2] for word in overrides)
    for name in typed.keys() & {"data", "environment_steps"}:
        raise UserError(
            f"{name} cannot be set: {data} determines it; to learn longer, set "
            "updates_per_step"
        )
    settings = {"data": data} | _ALWAYS | (find(data).settings or _OF_ARRAYS)
    if typed.get("task", settings["task"]) == LOGGED:
        settings["evaluation.every_steps"] = 0  # in which task?
    config = load(expand([*_words(settings, typed), *overrides])[0])
    found = _look(config)
    settings["environment_steps"] = found.environment_steps
    images = [x for x in seen_in(found.example).values() if x.ndim > 2]
    if config.task == LOGGED and images:
        is_alone = found.example["observation"].ndim > 2
        kind = "pixels" if is_alone else "auto"
        settings |= {"observation": kind, "image.size": images[0].shape[1]}
    return _words(settings, typed), found


def _look(config):
    import_gym()  # TF-Agents would import it with a notice
    from agents.training.building import resolved
    from agents.training.logged.experience import check_logged, environment_of

    with contextlib.closing(environment_of(config, config.logdir)) as environment:
        return check_logged(resolved(config, environment), environment)


def _words(settings, typed):
    return [f"{k}={_quoted(value)}" for k, value in settings.items() if k not in typed]


def _quoted(value):
    """A value as the parser of words reads it."""
    if not isinstance(value, str):
        return str(value).lower() if isinstance(value, bool) else value
    escaped = value.replace("'", "\\'")
    return value if value.replace("_", "").isalnum() else f"'{escaped}'"

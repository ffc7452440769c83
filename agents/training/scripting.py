"""Runs in a script or a notebook: `agents.train`, `agents.evaluate`, `agents.Trained`.

They do what the commands do, by the same functions, in this process.
"""

import contextlib
import dataclasses
import os
import pathlib
import shlex
import threading
from collections.abc import Callable, Iterable

import envs
from agents.runs.config.overrides import load as load_words
from agents.runs.config.schema import Train
from agents.runs.folder import load_config
from agents.runs.history import read_divergence
from agents.runs.records import read_metrics, read_scores
from agents.system import interrupts
from agents.system.errors import UserError
from agents.training import running, scoring
from agents.training.loading import LoadedAgent, load_parts

_STOPPED = 130  # exit status after Ctrl-C


def train(config=(), environment=None, after_episode=()):
    """Trains a run, or goes on with it, as `bayes-rl train` does.

        run = agents.train("seed=1 environment_steps=4000", environment=make)
        run.metrics["collect/return"].plot()

    Args:
        config: words as typed after `bayes-rl train`, in a text or a list; or an
            `agents.runs.config.schema.Train`.
        environment: function without arguments, or class, that makes an environment of
            dm_env, gym or gymnasium: the task. None: that of the config.
        after_episode: function, or several, each called with the metrics of every episode,
            a dict, once it is on disk. Where one returns False, the run stops there, and
            the same call goes on with it.

    Returns:
        `Trained`.

    Raises:
        UserError: as the command says in a line, a `ValueError`.
        envs.EnvironmentFailedError: the environment cannot go on.
        KeyboardInterrupt: the run was stopped; the same call goes on with it.
    """
    config = _config_of(config, environment)
    if config.has_processes:
        raise UserError(
            "agents.train runs in this process: actors must be 0 and evaluation.apart not "
            f"true, got actors={config.actors} evaluation.apart={config.evaluation.apart}; "
            "bayes-rl train starts other processes"
        )
    each = (after_episode,) if isinstance(after_episode, Callable) else (*after_episode,)
    with _interrupts():
        if running.train(config, each) == _STOPPED:
            raise KeyboardInterrupt
    return Trained(pathlib.Path(config.logdir))


def evaluate(run, episodes=10, out=None, environment=None, physics=None):
    """Scores a run as `bayes-rl evaluate` does, which writes `evaluation.csv`.

    Args:
        run: folder of the run, or `Trained`.
        episodes: how many, at least 1.
        out: folder to write to; None: the run.
        environment: as of `train`, where the run was trained so in another session.
        physics: dict of factors that change the task: `mass`, `friction` and `gain`, see
            `envs.load`; None: the run's own.

    Returns:
        A `pandas.DataFrame`, a row for each episode: `environment_steps` and `train_steps`
        of the checkpoint, `act` (`plan`, or `policy` where the run has a value), `episode`,
        `seed` of its start, and `return`.

    Raises:
        UserError: as the command says in a line, a `ValueError`.
    """
    if isinstance(episodes, bool) or not isinstance(episodes, int) or episodes < 1:
        raise UserError(f"episodes must be a whole number of at least 1, got {episodes!r}")
    _give(run, environment)
    with _interrupts():
        rows = scoring.score(run, episodes, out, physics, tell=lambda line: None)
    return _table(rows)


def load(run, explore=False, environment=None):
    """The agent of a run, as of its newest readable checkpoint.

        agent = agents.load("logdir/cartpole_swingup/disagreement_if_rare/0")
        action = agent.act(observation)

    Args:
        run: folder of the run, or `Trained`; a training that goes on there is not
            disturbed.
        explore: whether it acts as it does when it collects episodes, by its strategy and
            with noise, but by averages of what it learned (`averaging`). Else by its mean
            weights.
        environment: as of `evaluate`.

    Returns:
        `agents.training.loading.LoadedAgent`.

    Raises:
        UserError: the folder holds no run or no checkpoint.
    """
    _give(run, environment)
    _, agent, environment = load_parts(run)
    policy = agent.collect_policy if explore else agent.policy
    return LoadedAgent(policy, agent.clock, environment)


@dataclasses.dataclass(frozen=True)
class Trained:
    """A run and what was recorded of it; it stands wherever its folder may.

    Args:
        folder: `pathlib.Path`.
    """

    folder: pathlib.Path

    def __fspath__(self):
        return os.fspath(self.folder)

    def __str__(self):
        return str(self.folder)

    @property
    def config(self):
        """What was used, `agents.runs.config.schema.Train`."""
        return load_config(self.folder)

    @property
    def metrics(self):
        """`pandas.DataFrame`, a row an episode; the site lists the columns."""
        return _table(read_metrics(self.folder))

    @property
    def scores(self):
        """`pandas.DataFrame`, a row an evaluation episode of `scores.csv`."""
        return _table(read_scores(self.folder))

    @property
    def diverged(self):
        """`agents.runs.history.Divergence` where the model did; else None."""
        return read_divergence(self.folder)


def _config_of(config, environment):
    task = None if environment is None else _given(environment)
    if isinstance(config, Train):
        return dataclasses.replace(config, task=task) if task else config
    words = shlex.split(config) if isinstance(config, str) else config
    if not isinstance(words, Iterable) or not all(isinstance(word, str) for word in words):
        raise UserError(
            "config must be words such as ['seed=1', 'planner.horizon=8'], or an "
            f"agents.runs.config.schema.Train, got {config!r}"
        )
    words = list(words)
    if task and any(word.startswith("task=") for word in words):
        raise UserError("environment= is the task: leave task=... out of the words")
    return load_words([*words, f"task={task}"] if task else words)


def _give(run, environment):
    if environment is not None:
        _given(environment, load_config(run).task)


def _given(environment, task=None):
    try:
        return envs.give(environment, task)
    except ValueError as error:
        raise UserError(str(error)) from None


def _table(rows):
    import pandas as pd  # which neither training nor acting needs

    return pd.DataFrame(rows)


def _interrupts():
    """Ctrl-C is kept in the main thread, which alone hears it."""
    is_main = threading.current_thread() is threading.main_thread()
    return interrupts.kept() if is_main else contextlib.nullcontext()

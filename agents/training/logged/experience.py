"""What a run from logged episodes has in place of an environment and of collecting."""

import pathlib

import numpy as np
from tf_agents.specs import array_spec
from tf_agents.trajectories import time_step as ts

from agents.episodes.environments import COLLECTION, load_environments
from agents.episodes.experience import Experience
from agents.episodes.layout import agent_steps, cost, environment_steps, seen_in, seen_keys
from agents.episodes.store import EpisodeStore, readable_episodes
from agents.runs.folder import Run
from agents.system.errors import UserError
from agents.training.logged.reading import find, survey
from envs.actions import make_actions
from envs.tasks import LOGGED

# What was counted where an episode was collected.
_OF_ANOTHER_RUN = ("train_steps", "failed_episodes")


class LoggedSpecs:
    """Stands in for the environment of logged episodes: its specs, but nobody can act.

    It is made of one of the episodes, or of its first row.
    """

    def __init__(self, episode, action_repeat, episode_length):
        self.action_repeat = action_repeat or 1
        self.episode_length = episode_length
        self.entries, self.images = {}, {}
        size = episode["action"].shape[1]
        self.actions = make_actions(np.full([size], -1.0), np.full([size], 1.0))
        self._action = array_spec.BoundedArraySpec([size], np.float32, -1.0, 1.0, "action")
        self._seen = {
            name: array_spec.ArraySpec(episode[name].shape[1:], episode[name].dtype, name)
            for name in (*seen_keys(episode), "position", "velocity")
        }

    def action_spec(self):
        return self._action

    def time_step_spec(self):
        return ts.time_step_spec(self._seen)

    def close(self):
        """Frees nothing."""


def environment_of(config, folder):
    """The environment of a run's task; where it has none, the specs of what was logged.

    The folder, of the run, need not be there yet.

    Raises:
        UserError: the task does not offer what the config asks for.
    """
    if config.task != LOGGED:
        return load_environments(config, 1, COLLECTION)
    episodes = Run(pathlib.Path(folder)).episodes
    for episode in readable_episodes(episodes) if episodes.is_dir() else ():
        return LoggedSpecs(episode, config.action_repeat, agent_steps(episode))
    found = survey(config.data, config.action_repeat or 1, None, ())
    return LoggedSpecs(found.example, config.action_repeat, found.longest)


def _action_bounds(config, environment):
    """The bounds that `.arrays.episodes_of` takes, of the task; None where it has none."""
    if config.task == LOGGED:
        return None
    if environment.actions.categories:  # logged as one-hot vectors, which stay as they are
        return (-1.0,), (1.0,), f"as task={config.task} says"
    low, high = environment.actions.low, environment.actions.high
    return tuple(low.tolist()), tuple(high.tolist()), f"as task={config.task} says"


def check_logged(config, environment):
    """The `Survey` of logged episodes, which have to be of the task, and those of the run.

    Raises:
        UserError: they have other shapes than the task, or too few rows for a sequence.
    """
    bounds = _action_bounds(config, environment)
    categories = environment.actions.categories
    found = survey(config.data, environment.action_repeat, bounds, categories)
    specs = seen_in(environment.time_step_spec().observation)
    specs["action"] = environment.action_spec()
    for name, spec in specs.items():
        if name not in found.example:
            raise UserError(
                f"{config.data} lacks {name}, which task={config.task} observes"
            )
        given = found.example[name].shape[1:]
        if given != tuple(spec.shape):
            raise UserError(
                f"{config.data}: {name} has rows of shape {given}; task={config.task} has "
                f"{tuple(spec.shape)}"
            )
    rows = found.agent_steps + len(found.returns)
    if rows < config.sequence_length:
        raise UserError(
            f"{config.data} has {rows} rows in all; sequence_length must be at most that, "
            f"got {config.sequence_length}"
        )
    return found


class TakenFromLogs(Experience):
    """Logged episodes, all there from the start.

    They are copied to the run's own folder, in which all that reads a run finds them, and
    which needs the logs no more. The loop counts them one after another, as if each had
    just been collected; but the replay holds all of them from the first gradient step on.
    """

    is_whole = True

    def __init__(self, config, run):
        super().__init__(config, EpisodeStore(run.episodes))
        self.environment = environment_of(config, run.folder)
        if self._steps_left > 0:
            self._copy()
        if self._steps_left > 0:
            self.environment.close()
            raise UserError(
                f"{run.episodes} and {config.data} have fewer environment steps than the "
                f"{config.environment_steps:,} of this run: put back the files that are "
                "gone or damaged, or start a new run with another logdir"
            )

    def _copy(self):
        """Appends the episodes that a killed process had not copied yet."""
        there, repeat = self.store.next_index, self._config.action_repeat
        bounds = _action_bounds(self._config, self.environment)
        episodes = find(self._config.data).episodes(bounds)
        for number, (_, episode) in enumerate(episodes):
            if number >= there:
                for name in _OF_ANOTHER_RUN:
                    episode.pop(name, None)
                told = {
                    "number": number,
                    "environment_steps": environment_steps(episode, repeat),
                    "cost": cost(episode),
                }
                self.store.append(episode | told)

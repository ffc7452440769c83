"""A source of experience that has no more episodes than those that somebody logged."""

from agents.episodes.layout import cost, environment_steps
from agents.episodes.replay import Replay
from agents.episodes.store import EpisodeStore
from agents.system.errors import UserError
from agents.training.logged.reading import find
from agents.training.logged.specs import action_bounds, environment_of

# What was counted where an episode was collected.
_OF_ANOTHER_RUN = ("train_steps", "failed_episodes")


class TakenFromLogs:
    """Logged episodes, all there from the start.

    An `agents.episodes.experience.Experience`.

    They are copied to the run's own folder, in which all that reads a run finds them, and
    which needs the logs no more. The loop counts them one after another, as if each had
    just been collected; but the replay holds all of them from the first gradient step on.

    Args:
        config: `agents.runs.config.schema.Train`, with `data`.
        run: `agents.runs.folder.Run`, open.
    """

    is_whole = True

    def __init__(self, config, run):
        self._config = config
        self.store = EpisodeStore(run.episodes)
        self.environment = environment_of(config, run.folder)
        if self._is_short:
            self._copy()
        if self._is_short:
            self.environment.close()
            self._refuse(run)
        self.replay = Replay(config.replay_capacity)

    def acting(self, agent):
        """Nobody collects."""
        return []

    def collect(self, agent):
        """There is no more, and nobody asks: all steps of the run are there."""
        raise NotImplementedError("logged episodes are all there from the start")

    def learned(self, agent):
        """Is told now and then that the agent has learned; here nobody else asks."""

    def close(self):
        """Frees the environment."""
        self.environment.close()

    @property
    def _is_short(self):
        steps = self.store.environment_steps(self._config.action_repeat)
        return steps < self._config.environment_steps

    def _refuse(self, run):
        raise UserError(
            f"{run.episodes} and {self._config.data} have fewer environment steps than the "
            f"{self._config.environment_steps:,} of this run: put back the files that are "
            "gone or damaged, or start a new run with another logdir"
        )

    def _copy(self):
        """Appends the episodes that a killed process had not copied yet."""
        there, repeat = self.store.next_index, self._config.action_repeat
        bounds = action_bounds(self._config, self.environment)
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

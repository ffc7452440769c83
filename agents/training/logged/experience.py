"""A source of experience that has no more episodes than those that somebody logged."""

from agents.episodes.experience import Experience
from agents.episodes.layout import cost, environment_steps
from agents.episodes.store import EpisodeStore
from agents.system.errors import UserError
from agents.training.logged.reading import find
from agents.training.logged.specs import action_bounds, environment_of

# What was counted where an episode was collected.
_OF_ANOTHER_RUN = ("train_steps", "failed_episodes")


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

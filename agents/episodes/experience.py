"""What a run learns from.

The training loop asks an `Experience` for episodes and for batches of them. There are four
kinds: `CollectedHere`, by this process; `CollectedByActors` of
`agents.training.distributed.actors`, by others; `TakenByAnother` of
`agents.training.distributed.together`, as another learner takes them;
`TakenFromLogs` of `agents.training.logged.experience` has all from the start and gets no
more.
"""

import logging
import math

from agents.episodes.collecting import Collector, RandomAtFirst, as_py_policy
from agents.episodes.environments import COLLECTION, load_environments
from agents.episodes.replay import Replay
from agents.episodes.store import EpisodeStore
from agents.system.files import write_text

_ATTEMPTS = 4  # sessions that end in an episode, before it is left out

_LOG = logging.getLogger(__name__)


class Experience:
    """Where episodes come from, and what draws batches from them.

    Subclasses are made of the config of a run and its `agents.runs.folder.Run`, open.

    Attributes:
        store: has `indices`, the numbers of episodes that can be read, and `read`.
        environment: for its specs and names.
        replay: `agents.episodes.replay.Replay`.
        is_whole: whether all episodes are there from the start: then they are replayed from
            the first gradient step on.
    """

    is_whole = False

    def __init__(self, config, store):
        self._config = config
        self.store = store
        self.replay = Replay(config.replay_capacity)

    def acting(self, agent):
        """Who collects in this process: pairs of a policy and a number of environments."""
        return []

    def collect(self, agent):
        """Returns once the store has an episode that `agent` has not counted."""
        raise NotImplementedError

    def learning(self, agent):
        """Is told that the agent has counted an episode, and while it learns from it."""

    def learned(self, agent):
        """Is told that the agent has learned from all episodes that it has counted."""

    def close(self):
        """Frees the environments."""
        self.environment.close()

    @property
    def _steps_left(self):
        """Environment steps that the run still needs; of one that has all, 0 or less."""
        repeat = self._config.action_repeat
        return self._config.environment_steps - self.store.environment_steps(repeat)


class CollectedHere(Experience):
    """Collects episodes in this process, with the newest weights."""

    def __init__(self, config, run):
        super().__init__(config, EpisodeStore(run.episodes))
        self._first_episodes = self.store.next_numbers(config.environments)
        self._attempts = None
        if config.environments == 1:  # it runs in this process, which may end with it
            (number,) = self._first_episodes
            self._attempts = Attempts(run.episodes / "attempts.txt", number)
            self._first_episodes = [number + self._attempts.left_out()]
        self.environment = load_environments(
            config,
            config.environments,
            COLLECTION,
            processes=config.environments > 1,
            first_episodes=self._first_episodes,
            cut_after=max(1, math.ceil(self._steps_left / config.environments)),
        )
        self._collector = None

    def acting(self, agent):
        return [(agent.collect_policy, self.environment.batch_size)]

    def collect(self, agent):
        if self._collector is None:
            given = self._config, agent, self.environment, self._first_episodes
            self._collector = make_collector(*given, self._append)
            if self._attempts:
                self._attempts.note()
        self._collector.collect()

    def close(self):
        super().close()
        if self._attempts:
            self._attempts.forget()  # this process did not end in an episode

    def _append(self, episode, row):
        if self._attempts:
            episode["failed_episodes"] += self._attempts.taken()
        self.store.append(episode)


class Attempts:
    """Sessions of a run whose process ended in the same episode, one after the other.

    An episode always goes the same way. So where a simulator ends the process in it, as by
    a fault of memory, each session would end there. One that is stopped does not count.

    Args:
        file: keeps their number.
        number: of the episode that comes next.
    """

    def __init__(self, file, number):
        self._file, self._number = file, number
        self._untold, self._before = 0, None

    @property
    def _sessions(self):
        try:
            number, sessions = map(int, self._file.read_text().split())
        except (FileNotFoundError, ValueError):  # ValueError: what somebody else wrote
            return 0
        return sessions if number == self._number else 0

    def left_out(self):
        """How many episodes are left out: one more after every four sessions."""
        self._untold = self._sessions // _ATTEMPTS
        if self._untold:
            _LOG.warning(
                "%d sessions in a row have ended in episode %d: the run goes on with "
                "episode %d",
                self._sessions,
                self._number,
                self._number + self._untold,
            )
        return self._untold

    def taken(self):
        """How many are left out before the first episode that is finished; then 0."""
        found, self._untold = self._untold, 0
        return found

    def note(self):
        """Counts a session that begins."""
        self._before = self._sessions
        self._write(self._before + 1)

    def forget(self):
        """Counts this session no more: it has not ended in an episode."""
        if self._before is not None:
            self._write(self._before)

    def _write(self, sessions):
        write_text(self._file, f"{self._number} {sessions}\n")


def make_collector(config, agent, environment, first_episodes, finished, stride=None):
    """What collects by an agent, at first at random, as of `RandomAtFirst`."""
    policy = RandomAtFirst(
        as_py_policy(agent.collect_policy),
        environment,
        lambda: agent.clock.environment_steps < config.seed_steps,
        config.seed,
        first_episodes,
        stride,
    )

    def finish(episode, row):
        finished(episode | {"is_random": policy.is_random[row]}, row)

    return Collector(environment, policy, agent.train_step_counter, finish)

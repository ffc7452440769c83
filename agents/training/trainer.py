"""Training: collect an episode, learn from the replay, now and then evaluate."""

import time

import envs
from agents.episodes.evaluation import Evaluator
from agents.episodes.experience import CollectedHere
from agents.episodes.layout import (
    agent_steps,
    environment_steps,
    episode_return,
)
from agents.episodes.replay import is_held_out
from agents.episodes.rewards import RewardsFound
from agents.runs.history import forget_divergence
from agents.runs.records import note_session
from agents.system import interrupts
from agents.system.files import remove_temporary
from agents.system.replicas import told_by_all
from agents.system.screen.progress import Progress
from agents.training.building import choose_devices, configure_tensorflow, make_agent
from agents.training.checking import check_episodes
from agents.training.compiling import CompilingAhead
from agents.training.gradient_steps import Diverged, Learning, tell_divergence
from agents.training.loading import make_checkpoints
from agents.training.measurements import Measurements, banner, release, resident_mib
from agents.training.metrics import MetricsLog


def train(config, run, make_experience=CollectedHere, devices=None):
    """Trains the agent of a run until it has seen `environment_steps`.

    The run goes on from its newest checkpoint and from the episodes on disk.

    Args:
        config: `agents.runs.config.schema.Train`.
        run: `agents.runs.folder.Run`, open.
        make_experience: as of `Trainer`.
        devices: likewise.

    Returns:
        Exit status: 0, 1 where the model diverged, or 130 after Ctrl-C.
    """
    configure_tensorflow(config)
    forget_divergence(run.folder)
    try:
        return _train(config, run, make_experience, devices)
    except Diverged as error:
        tell_divergence(config, run, error.divergence)
        return 1


def _train(config, run, make_experience, devices):
    with Progress(config.environment_steps) as progress:
        trainer = None
        try:
            trainer = Trainer(config, run, progress, make_experience, devices)
            while not trainer.done:
                trainer.advance()
                interrupts.check()
        except KeyboardInterrupt:
            saved = f"saved: {trainer.saved}" if trainer else "nothing new to save"
            progress.note(f"stopped; {saved}. The same command resumes the run.")
            return 130
        finally:
            if trainer:
                trainer.close()
        if not trainer.has_learned:
            progress.note(
                "nothing was learned: the first gradient step needs "
                f"seed_episodes={config.seed_episodes} episodes and "
                f"sequence_length={config.sequence_length} rows"
            )
        progress.note(f"done; curves: bayes-rl plot {run.folder}")
    return 0


def _remove_temporary(run, checkpoints):
    """Removes the temporary files of killed sessions; the episode store does its own."""
    remove_temporary(run.folder)
    remove_temporary(run.videos)
    checkpoints.remove_temporary()


class Trainer:
    """A run in memory. `advance` takes it one episode further, on disk as well.

    The order is: episode file, gradient steps, evaluation, metrics, checkpoint. What a
    killed process had not brought into a checkpoint is done again, from the episodes on
    disk, with the same random numbers.

    Args:
        config: `agents.runs.config.schema.Train`.
        run: `agents.runs.folder.Run`.
        progress: `agents.system.screen.progress.Progress`.
        make_experience: makes of config and run an
            `agents.episodes.experience.Experience`.
        devices: None: those that the config names.
    """

    def __init__(self, config, run, progress, make_experience=CollectedHere, devices=None):
        self._config = config
        self._progress = progress
        self._devices = devices or choose_devices(config.devices)
        self._experience = make_experience(config, run)
        self._store = self._experience.store
        self._environment = self._experience.environment
        self._agent = make_agent(config, self._environment, self._devices)
        self._checkpoints = make_checkpoints(run, self._agent, warn=progress.note)
        _remove_temporary(run, self._checkpoints)
        self._restore(run)
        self._metrics = MetricsLog(run.folder)
        self._metrics.cut(self._episodes, self._environment_steps)
        self._evaluator = Evaluator(config, self._agent)
        watched = (self._agent, self._store, self._evaluator, self._metrics)
        about = (run.videos, config, self._environment.entries)
        self._measured = Measurements(*watched, *about)
        is_bounded = not envs.rewards_are_unbounded(config.task)  # a step has 0 to 1
        self._rewards = RewardsFound(self._environment.action_repeat * is_bounded)
        waiting = self._waiting()
        for index in self._store.indices:
            if index not in waiting:
                self._take(self._store.read(index))
        self._learning = None
        self._saved = self._agent.counts
        self._start_progress(run)
        note_session(run.folder, self._saved, run.changed)
        self._ahead = CompilingAhead(self._acting())

    @property
    def done(self):
        """Whether the run has seen all its environment steps."""
        return self._environment_steps >= self._config.environment_steps

    def advance(self):
        """One episode: collect it or find it on disk, learn, evaluate, save."""
        started = time.monotonic()
        row = self._measured.next_bonus()  # before the clock goes on
        index = self._next_episode()
        episode = self._store.read(index)
        if self._take(episode):
            self._agent.model.see(episode)
        self._agent.clock.advance(
            index + 1,
            agent_steps(episode),
            environment_steps(episode, self._environment.action_repeat),
            self._rewards.count,
        )
        row["collect/return"] = episode_return(episode)
        if "train_steps" in episode:  # of an actor's weights
            steps = self._agent.counts["train_steps"]
            row["collect/staleness"] = steps - int(episode["train_steps"])
        if "failed_episodes" in episode:
            row["collect/failed_episodes"] = int(episode["failed_episodes"])
        row["speed/collect_seconds"] = time.monotonic() - started
        row |= self._measured.explored(episode, self._rewards.newest)
        row |= self._learn()
        with self._agent.averaged():
            scores, evaluated = self._evaluate()
            row |= evaluated
            row |= self._measured.probed()
            row["speed/seconds"] = time.monotonic() - started
            row["memory/resident_mib"] = resident_mib()
            self._record(row, scores)
            self._measured.film(episode)
        self._checkpoints.save(self._episodes)
        release()
        self._saved = self._agent.counts
        self._progress.episode(self._saved | row)

    def close(self):
        """Frees the environments and closes the logs."""
        self._ahead.stop()
        self._experience.close()
        self._evaluator.close()
        self._metrics.close()
        self._ahead.wait()

    @property
    def has_learned(self):
        """Whether gradient steps have been taken."""
        return self._agent.counts["train_steps"] > 0

    @property
    def saved(self):
        """What is on disk, in words; a checkpoint counts from the moment it is there."""
        is_saved = self._checkpoints.newest == self._episodes
        saved = self._agent.counts if is_saved else self._saved
        counts = {name.replace("_", " "): count for name, count in saved.items()}
        return ", ".join(f"{count:,} {name}" for name, count in counts.items())

    @property
    def _episodes(self):
        return self._agent.counts["episodes"]

    @property
    def _environment_steps(self):
        return self._agent.counts["environment_steps"]

    def _restore(self, run):
        """Several learners all go on from what the first of them has saved."""
        is_first = run.first is run
        saved = self._checkpoints if is_first else make_checkpoints(run.first, self._agent)
        saved.restore()
        if is_first:
            check_episodes(run, self._store, self._episodes)
        if self._config.learners > 1:
            counts = told_by_all(self._devices, [*self._agent.counts.values()])
            if (counts != counts[0]).any():  # one could not read the newest
                raise ConnectionError("learners have found different checkpoints")

    def _acting(self):
        """Pairs of a policy that will act in this process and a number of environments."""
        if self.done:
            return []
        evaluation = self._config.evaluation
        evaluated = self._evaluator.acting(evaluation.episodes) if evaluation.every else []
        return self._experience.acting(self._agent) + evaluated

    def _next_episode(self):
        """The number of the next episode to learn from; it is on disk."""
        if not self._waiting():
            self._progress.working("collecting", 0, 1)
            self._experience.collect(self._agent)
        return self._waiting()[0]

    def _waiting(self):
        """Numbers of the episodes on disk that were not learned from."""
        done = self._episodes
        return [index for index in self._store.indices if index >= done]

    def _take(self, episode):
        """Counts an episode and, unless it is held out, replays it; whether it does."""
        self._measured.see(episode)
        self._rewards.add(episode)
        if is_held_out(episode, self._config.hold_out_every):
            return False
        self._experience.replay.add(episode)
        return True

    def _learn(self):
        is_early = self._episodes < self._config.seed_episodes
        if is_early or self._experience.replay.num_rows < self._config.sequence_length:
            return {}
        if self._learning is None:
            self._learning = Learning(
                self._agent,
                self._experience.replay,
                self._devices,
                self._config.batch_size,
                self._config.sequence_length,
                self._config.seed,
            )
        steps = self._config.updates_per_episode
        started = time.monotonic()
        metrics = self._learning.run(steps, lambda done: self._watch(done, steps))
        speed = {"speed/train_steps": steps / (time.monotonic() - started)}
        return speed | {f"train/{name}": value for name, value in metrics.items()}

    def _watch(self, done, steps):
        self._progress.working("learning", done, steps)
        self._experience.learned(self._agent)

    def _evaluate(self):
        """Scores of evaluation episodes and metrics; none where it is not their time."""
        if not self._measured.evaluation_is_due(is_last=self.done):
            return [], {}
        self._progress.working("evaluating", 0, 1)
        return self._measured.evaluate()

    def _record(self, row, scores):
        counts = self._agent.counts
        kept = {
            key: counts[key] for key in ("environment_steps", "episodes", "train_steps")
        }
        if scores:
            self._metrics.write_scores([kept | score for score in scores])
        self._metrics.write(counts | row)

    def _start_progress(self, run):
        words = banner(self._config, self._agent, self._environment)
        words["run"] = run.folder
        counts = self._agent.counts
        if counts["episodes"]:
            words["resumed at"] = self.saved
        if run.changed:
            words["changed"] = ", ".join(run.changed)
        self._progress.start(words, counts["environment_steps"])

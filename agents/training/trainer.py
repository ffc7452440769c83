"""Training: collect an episode, learn from the replay, now and then evaluate."""

import time

import envs
from agents.episodes.evaluation import Evaluator
from agents.episodes.experience import CollectedHere
from agents.episodes.layout import agent_steps, environment_steps, episode_return
from agents.episodes.replay import is_held_out
from agents.episodes.rewards import RewardsFound
from agents.runs.config.schema import as_dict
from agents.runs.history import forget_divergence
from agents.runs.records import note_session
from agents.system import interrupts
from agents.system.files import remove_temporary
from agents.system.replicas import told_by_all
from agents.system.screen.progress import Progress
from agents.training import trackers
from agents.training.building import choose_devices, configure_tensorflow, make_agent
from agents.training.checking import check_episodes
from agents.training.compiling import CompilingAhead
from agents.training.gradient_steps import Diverged, Learning, tell_divergence
from agents.training.loading import make_checkpoints
from agents.training.logged.experience import TakenFromLogs
from agents.training.measurements import Measurements, banner, release, resident_mib, show
from agents.training.passing import Passed
from agents.training.trackers.log import MetricsLog


def train(
    config, run, make_experience=None, devices=None, make_apart=None, after_episode=()
):
    """Trains the agent of a run until it has seen `environment_steps`.

    The run goes on from its newest checkpoint and from the episodes on disk. With `data` in
    the config these are all there are: nothing is collected.

    Args:
        config: `agents.runs.config.schema.Train`.
        run: `agents.runs.folder.Run`, open.
        make_experience: as of `Trainer`.
        devices: likewise.
        make_apart: likewise.
        after_episode: functions, each called with the metrics of every episode once it is
            on disk; where one returns False, the run stops there.

    Returns:
        Exit status: 0, 1 where the model diverged, or 130 after Ctrl-C.
    """
    configure_tensorflow(config)
    forget_divergence(run.folder)
    try:
        return _train(config, run, after_episode, make_experience, devices, make_apart)
    except Diverged as error:
        tell_divergence(config, run, error.divergence)
        return 1


def _train(config, run, after_episode, *how):
    with Progress(config.environment_steps) as progress:
        trainer = None
        try:
            trainer = Trainer(config, run, progress, *how)
            while not trainer.done:
                row = trainer.advance()
                interrupts.check()
                if any(answer is False for answer in [each(row) for each in after_episode]):
                    trainer.save()
                    progress.note(f"stopped as asked; saved: {trainer.saved}")
                    return 0
        except Diverged:
            trainer.finish_measuring()
            raise
        except KeyboardInterrupt:
            saved = f"saved: {trainer.saved}" if trainer else "nothing new to save"
            progress.note(f"stopped; {saved}. The same command resumes the run.")
            return 130
        finally:
            if trainer:
                trainer.close()
        if not trainer.has_learned:
            steps = f"seed_steps={config.seed_steps} environment steps and "
            progress.note(
                "nothing was learned: the first gradient step needs "
                f"{steps if config.data is None else ''}"
                f"sequence_length={config.sequence_length} rows"
            )
        progress.note(f"done; curves: bayes-rl plot {run.folder}")
    return 0


class Trainer:
    """A run in memory. `advance` takes it one episode further, on disk as well.

    The order is: episode file, gradient steps, evaluation, metrics, and now and then a
    checkpoint. What a killed process had not brought into a checkpoint is done again, from
    the episodes on disk, with the same random numbers.

    `make_experience` makes of config and run an `agents.episodes.experience.Experience`;
    None: this process collects, or the config has `data`. `make_apart` makes what measures
    in a process of its own, an `agents.training.distributed.apart.EvaluatedApart`; None:
    this one measures.
    """

    def __init__(
        self, config, run, progress, make_experience=None, devices=None, make_apart=None
    ):
        self._config = config
        self._progress = progress
        self._devices = devices or choose_devices(config.devices)
        alone = CollectedHere if config.data is None else TakenFromLogs
        self._experience = (make_experience or alone)(config, run)
        self._is_whole = self._experience.is_whole
        self._store = self._experience.store
        self._environment = self._experience.environment
        self._agent = make_agent(config, self._environment, self._devices)
        self._checkpoints = make_checkpoints(run, self._agent, warn=progress.note)
        for folder in (run.folder, run.videos, run.checkpoints):  # of killed sessions
            remove_temporary(folder)
        self._restore(run)
        # Of several learners the first alone is shown elsewhere than in TensorBoard.
        logger = config.logger if run.first is run else "tensorboard"
        self._metrics = MetricsLog(run.folder, trackers.find(logger), as_dict(config))
        self._metrics.cut(self._episodes, self._environment_steps)
        self._evaluator = Evaluator(config, self._agent)
        watched = (self._agent, self._store, self._evaluator)
        about = (run.videos, config, self._environment.entries)
        self._measured = Measurements(*watched, *about)
        is_bounded = not envs.rewards_are_unbounded(config.task)  # a step has 0 to 1
        self._rewards = RewardsFound(self._environment.action_repeat * is_bounded)
        parts = self._agent, self._store, self._measured, self._metrics
        self._apart = make_apart and make_apart(config, run, *parts, progress.note)
        self._take_earlier()
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
        """One episode: collect it or find it on disk, learn, evaluate, save.

        Returns:
            Its metrics, dict of name -> number.
        """
        started = time.monotonic()
        row = self._measured.next_bonus()  # before the clock goes on
        before = self._environment_steps
        index = self._next_episode()
        episode = self._store.read(index)
        self._count(episode)
        if not self._is_whole and self._replay(episode):
            self._agent.model.see(episode)
        self._agent.clock.advance(
            index + 1,
            agent_steps(episode),
            environment_steps(episode, self._environment.action_repeat),
            self._rewards.count,
        )
        self._look()  # the actor whose episode counts now goes on
        passed = Passed(before, self._environment_steps)
        row["collect/return"] = episode_return(episode)
        if "train_steps" in episode:  # of an actor's weights
            steps = self._agent.counts["train_steps"]
            row["collect/staleness"] = steps - int(episode["train_steps"])
        if "failed_episodes" in episode:
            row["collect/failed_episodes"] = int(episode["failed_episodes"])
        row["speed/collect_seconds"] = time.monotonic() - started
        row |= self._measured.explored(episode, self._rewards.newest)
        row |= self._learn(passed)
        self._experience.learned(self._agent)
        with self._agent.averaged():
            measure = self._measure_apart if self._apart else self._measure
            measure(row, episode, started, passed)
        if self.done or passed.crosses(self._config.checkpoint_every_steps):
            self.save()
        release()
        row = self._agent.counts | row
        self._progress.episode(row)
        return row

    def _measure(self, row, episode, started, passed):
        if self._measured.evaluation_is_due(passed, is_last=self.done):
            self._progress.working("evaluating", 0, 1)
        scores, found = self._measured.measured(passed, is_last=self.done)
        row |= found
        self._record(row, scores, started)
        show(self._measured.film(episode, passed), self._metrics, passed.after)

    def _measure_apart(self, row, episode, started, passed):
        self._apart.ask(passed, is_last=self.done)
        self._record(row, [], started)
        if self.done:  # a run that has its last checkpoint is finished
            self.finish_measuring()

    def finish_measuring(self):
        """Waits for what another process still measures."""
        if self._apart:
            self._progress.working("evaluating", 0, 1)
            self._apart.finish()

    def save(self):
        """Writes a checkpoint, unless that was done after this episode."""
        if self._saved != self._agent.counts:
            self._checkpoints.save(self._episodes)
            self._saved = self._agent.counts

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
        evaluation, evaluated = self._config.evaluation, []
        if evaluation.every_steps and not self._apart:
            evaluated = self._evaluator.acting(evaluation.episodes)
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

    def _take_earlier(self):
        """Counts what was learned from, and replays it; or all, where no more will come."""
        done = self._episodes
        for index in self._store.indices:
            if index >= done and not self._is_whole:
                break
            episode = self._store.read(index)
            if index < done:
                self._count(episode)
            is_replayed = self._replay(episode)
            if self._is_whole:
                self._agent.clock.steps_from_start += agent_steps(episode)
                if not done and is_replayed:
                    self._agent.model.see(episode)
        self._agent.clock.found(self._rewards.count)  # earlier versions counted otherwise

    def _count(self, episode):
        self._measured.see(episode)
        self._rewards.add(episode)

    def _replay(self, episode):
        """Replays an episode, unless it is held out; whether it does."""
        if is_held_out(episode, self._config.hold_out_every):
            return False
        self._experience.replay.add(episode)
        return True

    def _learn(self, passed):
        """Takes the gradient steps that are due; their metrics."""
        steps = passed.updates(self._config.updates_per_step)
        is_early = passed.after < self._config.seed_steps and not self._is_whole
        is_short = self._experience.replay.num_rows < self._config.sequence_length
        if is_early or is_short or not steps:
            return {}
        if self._learning is None:
            config, replay = self._config, self._experience.replay
            batch = config.batch_size, config.sequence_length, config.seed
            self._learning = Learning(self._agent, replay, self._devices, *batch)
        started = time.monotonic()
        metrics = self._learning.run(steps, lambda done: self._watch(done, steps))
        speed = {"speed/train_steps": steps / (time.monotonic() - started)}
        return speed | {f"train/{name}": value for name, value in metrics.items()}

    def _watch(self, done, steps):
        self._progress.working("learning", done, steps)
        self._look()

    def _look(self):
        """Attends to other processes, where there are some."""
        self._experience.learning(self._agent)
        if self._apart:
            self._apart.look()

    def _record(self, row, scores, started):
        row["speed/seconds"] = time.monotonic() - started
        row["memory/resident_mib"] = resident_mib()
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
        if not self._apart and any((run.folder / "evaluating").glob("*.npz")):
            self._progress.note(
                "some evaluations of before were asked of another process, which has not "
                "answered: a session with evaluation.apart=true records them"
            )

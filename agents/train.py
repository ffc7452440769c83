"""Training: collect an episode, learn from the replay, now and then evaluate."""

import time

import numpy as np
import tensorflow as tf

import envs
from agents import interrupts
from agents.building import configure_tensorflow, make_agent, make_strategy
from agents.collecting import Collector, RandomAtFirst, as_py_policy
from agents.coverage import Coverage, grid_of
from agents.environments import COLLECTION, load_environments
from agents.episodes import EpisodeStore
from agents.evaluate import Evaluator
from agents.files import sweep
from agents.filming import film, show
from agents.learning import Learning
from agents.loading import make_checkpoints
from agents.memory import release, resident_mib
from agents.metrics import MetricsLog
from agents.probes import live_probe
from agents.progress import Progress
from agents.provenance import append_session
from agents.replay import Replay
from agents.reports import agent_steps, episode_return, reached_reward, rewarded_steps
from agents.seeds import fold
from agents.spread import spread_report
from agents.validation import UserError

_PROBED = 6  # newest episodes: enough to hold each out, few enough to be cheap


def train(config, run):
    """Trains the agent of a run until it has seen `environment_steps`.

    The run goes on from its newest checkpoint and from the episodes on disk.

    Args:
        config: `agents.config.Train`.
        run: `agents.runs.Run`, open.

    Returns:
        Exit status: 0, or 130 after Ctrl-C.
    """
    configure_tensorflow(config)
    with Progress(config.environment_steps) as progress:
        trainer = None
        try:
            trainer = Trainer(config, run, progress)
            while not trainer.done:
                trainer.advance()
                interrupts.check()
        except KeyboardInterrupt:
            saved = f"saved: {trainer.saved}" if trainer else "nothing new to save"
            progress.note(f"stopped; {saved}. The same command goes on there.")
            return 130
        finally:
            if trainer:
                trainer.close()
        progress.note(f"done; curves: bayes-rl plot {run.folder}")
    return 0


def check(config):
    """Refuses what cannot start, before the run's folder is made.

    Args:
        config: `agents.config.Train`.

    Raises:
        UserError: the task does not offer what the config asks for, or the batch cannot be
            shared by the devices.
    """
    configure_tensorflow(config)
    load_environments(config, 1, COLLECTION).close()
    devices = make_strategy(config.strategy).num_replicas_in_sync
    if config.batch_size % devices:
        raise UserError(
            f"batch_size must be a multiple of the {devices} devices of "
            f"strategy={config.strategy}, got {config.batch_size}"
        )


def _sweep(run, checkpoints):
    """Removes the temporary files of killed sessions; the episode store does its own."""
    sweep(run.folder)
    sweep(run.videos)
    checkpoints.sweep()


class Trainer:
    """A run in memory. `advance` takes it one episode further, on disk as well.

    The order is: episode file, gradient steps, evaluation, metrics, checkpoint. What a
    killed process had not brought into a checkpoint is done again, from the episodes on
    disk, with the same random numbers.

    Args:
        config: `agents.config.Train`.
        run: `agents.runs.Run`.
        progress: `agents.progress.Progress`.
    """

    def __init__(self, config, run, progress):
        self._config = config
        self._progress = progress
        self._strategy = make_strategy(config.strategy)
        self._store = EpisodeStore(run.episodes)
        self._environment = load_environments(
            config,
            config.environments,
            COLLECTION,
            processes=config.environments > 1,
            first_episode=-(-self._store.next_index // config.environments),
        )
        self._agent = make_agent(config, self._environment, self._strategy)
        self._clock = self._agent.clock
        self._checkpoints = make_checkpoints(run, self._agent, warn=progress.note)
        _sweep(run, self._checkpoints)
        self._checkpoints.restore()
        self._videos = run.videos
        self._metrics = MetricsLog(run.folder)
        self._metrics.cut(self._episodes)
        self._replay = Replay(config.replay_capacity)
        grid = grid_of(config.task)
        self._coverage = Coverage(grid) if grid else None
        waiting = self._waiting()
        for index in self._store.indices:
            if index not in waiting:
                self._take(self._store.read(index))
        self._collector = self._random_seed = None
        self._learning = None
        self._evaluator = Evaluator(config, self._agent)
        self._saved = self._counts()
        self._banner(run)
        append_session(run.folder, self._saved)

    @property
    def done(self):
        """Whether the run has seen all its environment steps."""
        return int(self._clock.environment_steps.numpy()) >= self._config.environment_steps

    def advance(self):
        """One episode: collect it or find it on disk, learn, evaluate, save."""
        started = time.monotonic()
        index = self._next_episode()
        episode = self._store.read(index)
        self._take(episode)
        self._clock.advance(
            index + 1, agent_steps(episode), self._environment.action_repeat
        )
        row = {"collect/return": episode_return(episode)}
        row["speed/collect_seconds"] = time.monotonic() - started
        row |= self._explored(episode)
        row |= self._learn()
        scores = self._evaluate()
        if scores:
            row["evaluate/return"] = float(np.mean([score["return"] for score in scores]))
        row |= self._probe()
        row["speed/seconds"] = time.monotonic() - started
        row["memory/resident_mib"] = resident_mib()
        self._record(row, scores)
        self._film(episode)
        self._checkpoints.save(self._episodes)
        release()
        self._saved = self._counts()
        self._progress.episode(self._saved | row)

    def close(self):
        """Frees the environments and closes the logs."""
        self._environment.close()
        self._metrics.close()

    @property
    def saved(self):
        """What is on disk, in words."""
        counts = {name.replace("_", " "): count for name, count in self._saved.items()}
        return ", ".join(f"{count:,} {name}" for name, count in counts.items())

    @property
    def _episodes(self):
        return int(self._clock.episodes.numpy())

    def _next_episode(self):
        """The number of the next episode to learn from; it is on disk."""
        if not self._waiting():
            self._progress.working("collecting", 0, 1)
            is_random = self._episodes < self._config.seed_episodes
            self._random_seed = [self._config.seed, self._episodes] if is_random else None
            if self._collector is None:
                self._collector = self._make_collector()
            self._collector.collect()
        return self._waiting()[0]

    def _waiting(self):
        """Numbers of the episodes on disk that were not learned from."""
        done = self._episodes
        return [index for index in self._store.indices if index >= done]

    def _make_collector(self):
        policy = RandomAtFirst(
            as_py_policy(self._agent.collect_policy),
            self._environment,
            lambda: self._random_seed,
        )
        return Collector(
            self._environment,
            policy,
            self._agent.train_step_counter,
            lambda episode, _: self._store.append(episode),
        )

    def _take(self, episode):
        self._replay.add(episode)
        if self._coverage is not None:
            self._coverage.add(episode)

    def _explored(self, episode):
        """What the episode adds to the knowledge of the task, before it is learned from."""
        row = {
            "rewarded_steps": rewarded_steps(episode),
            "reached_reward": reached_reward(episode),
        }
        if self._coverage is not None:
            row["coverage"] = self._coverage.share
        if self._counts()["train_steps"]:
            seed = fold(tf.constant([self._config.seed, 0]), self._episodes)
            row |= spread_report(self._agent.model, episode, seed)
        return {f"explore/{name}": value for name, value in row.items()}

    def _learn(self):
        if self._episodes < self._config.seed_episodes:
            return {}
        if self._learning is None:
            self._learning = Learning(
                self._config, self._agent, self._replay, self._strategy
            )
        steps = self._config.updates_per_episode
        started = time.monotonic()
        metrics = self._learning.run(
            steps, lambda done: self._progress.working("learning", done, steps)
        )
        speed = {"speed/train_steps": steps / (time.monotonic() - started)}
        return speed | {f"train/{name}": value for name, value in metrics.items()}

    def _evaluate(self):
        """Seed and return of evaluation episodes; none where it is not their time."""
        settings = self._config.evaluation
        due = settings.every and (self._episodes % settings.every == 0 or self.done)
        if not due or self._episodes < self._config.seed_episodes:
            return []
        self._progress.working("evaluating", 0, 1)
        return [
            {"evaluation_episode": number, "seed": seed, "return": episode_return(episode)}
            for number, (seed, episode) in enumerate(
                self._evaluator.episodes(settings.episodes)
            )
        ]

    def _probe(self):
        """How well physics can be read from the latents of the newest episodes."""
        every = self._config.probe_every
        newest = [index for index in self._store.indices if index < self._episodes]
        newest = newest[-_PROBED:]
        due = every and self._episodes % every == 0 and len(newest) == _PROBED
        if not due or self._learning is None:
            return {}
        found = live_probe(
            self._agent.model,
            [self._store.read(index) for index in newest],
            envs.wrapping_angles(self._config.task),
            fold(tf.constant([self._config.seed, 4]), self._episodes),
        )
        return {f"probe/{name}": value for name, value in found.items()}

    def _record(self, row, scores):
        counts = self._counts()
        kept = {
            key: counts[key] for key in ("environment_steps", "episodes", "train_steps")
        }
        if scores:
            self._metrics.write_scores([kept | score for score in scores])
        self._metrics.write(counts | row)

    def _film(self, episode):
        every = self._config.video_every
        if self._learning is None or not every or self._episodes % every:
            return
        step = int(self._clock.environment_steps.numpy())
        name = f"open_loop_{step}"
        files = film(self._agent.model, episode, self._config, self._videos, name)
        show(files, self._metrics, step)
        release(collect=True)

    def _banner(self, run):
        config, counts = self._config, self._counts()
        model, strategy = self._agent.model, type(self._agent.strategy).__name__
        observation = f"{config.observation} {tuple(model.observation_spec.shape)}"
        repeat = self._environment.action_repeat
        action = f"{model.action_size} actions held {repeat} steps"
        info = {
            "task": f"{config.task}: {observation}, {action}",
            "agent": f"{config.transition} transition, explore {strategy}",
            "parameters": int(sum(np.prod(v.shape) for v in model.trainable_variables)),
            "run": run.folder,
        }
        if counts["episodes"]:
            info["resumed at"] = self.saved
        self._progress.start(info, counts["environment_steps"])

    def _counts(self):
        return {
            "episodes": self._episodes,
            "environment_steps": int(self._clock.environment_steps.numpy()),
            "agent_steps": int(self._clock.agent_steps.numpy()),
            "train_steps": int(self._agent.train_step_counter.numpy()),
        }

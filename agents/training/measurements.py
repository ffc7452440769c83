"""What is measured and shown of a run beside its learning."""

import contextlib
import ctypes
import gc
import pathlib

import numpy as np
import psutil
import tensorflow as tf

import envs
from agents.episodes.layout import cost, episode_return, first_rows, seen_keys
from agents.planet.explore import Bonus
from agents.study.figures.predictions import film
from agents.study.insight.coverage import coverage_of, grid_of
from agents.study.insight.latents import filter_latents, stack
from agents.study.insight.probes import live_probe
from agents.study.insight.spread import spread_report
from agents.system.seeds import Purpose, fold, seed_of_run

_SHOWN = {".png": "open_loop/figure", ".gif": "open_loop/video"}
_LEAST_OF_IMAGES = 0.5  # stddev of the likelihood, in units of the spread of a pixel
PROBED = 6  # newest episodes: enough to hold each out, few enough to be cheap


class Measurements:
    """Measures a run; it changes neither the agent nor the replay.

    All but `explored` wait until the agent has learned. Films go to the folder `videos`.
    """

    def __init__(self, agent, store, evaluator, videos, config, entries=None):
        self._agent = agent
        self._store = store
        self._evaluator = evaluator
        self._videos = videos
        self._config = config
        self._entries = entries
        logged = store.read(store.indices[0]) if config.data is not None else None
        self._coverage = coverage_of(config.task, logged)

    def see(self, episode):
        """Counts an episode, of this session or of an earlier one."""
        if self._coverage is not None:
            self._coverage.add(episode)

    def next_bonus(self):
        """Metric of what a bonus, if there is one, weighs in the next episode's plans."""
        strategy = self._agent.policies.strategy
        if not isinstance(strategy, Bonus):
            return {}
        beta = strategy.scheduled(self._agent.clock.elapsed)
        if strategy.critic:
            beta = self._agent.value.explorer.beta(beta)
        return {"explore/beta": float(beta)}

    def explored(self, episode, found):
        """Metrics of what the newest episode adds to the knowledge of the task.

        That is before it is learned; `found` is its `agents.episodes.rewards.Found`.
        """
        row = {
            "rewarded_steps": sum(found),
            "reached_reward": found.reached > 0,
            "cost": cost(episode),
        }
        if "is_random" in episode:  # since episodes tell it
            row["is_random"] = bool(episode["is_random"])
        if self._coverage is not None:
            row["coverage"] = self._coverage.share
        if self._has_learned:
            row |= spread_report(self._agent.model, episode, self._seed(Purpose.SPREAD))
        return {f"explore/{name}": value for name, value in row.items()}

    def measured(self, passed, is_last):
        """What is due but films: rows of evaluation episodes, and metrics."""
        is_due = self.evaluation_is_due(passed, is_last)
        scores, row = self._evaluated() if is_due else ([], {})
        return scores, row | self.probed(passed)

    def evaluation_is_due(self, passed, is_last):
        """Whether it is time to evaluate; after the last episode of a run it always is."""
        every = self._config.evaluation.every_steps
        return self._has_learned and bool(every) and (is_last or passed.crosses(every))

    def is_anything_due(self, passed, is_last):
        """Whether it is time to evaluate, to probe or to film."""
        others = (self._config.probe_every_steps, self._config.video_every_steps)
        is_due = self._has_learned and any(map(passed.crosses, others))
        return is_due or self.evaluation_is_due(passed, is_last)

    def _evaluated(self):
        """Rows of episodes without exploration, with seed and return; and metrics."""
        pairs = self._evaluator.episodes(self._config.evaluation.episodes)
        scores = [
            {"evaluation_episode": number, "seed": seed, "return": episode_return(episode)}
            for number, (seed, episode) in enumerate(pairs)
        ]
        row = {"evaluate/return": float(np.mean([score["return"] for score in scores]))}
        agent = self._agent
        if agent.value is not None:
            episodes = [episode for _, episode in pairs]
            seed = self._seed(Purpose.POLICY)
            report = value_report(agent.model, agent.value, episodes, seed)
            row |= {f"value/{name}": number for name, number in report.items()}
        return scores, row

    def probed(self, passed):
        """Metrics of how well physics can be read from the latents of the newest episodes.

        There are none where it is not due, or there are fewer than six episodes.
        """
        is_due = passed.crosses(self._config.probe_every_steps)
        if not is_due or not self._has_learned:
            return {}
        indices = [index for index in self._store.indices if index < self._episodes]
        if len(indices) < PROBED:
            return {}
        episodes = [self._store.read(index) for index in indices[-PROBED:]]
        if not episodes[0]["position"].shape[1]:  # logged without the simulator's state
            return {}
        found = live_probe(
            self._agent.model,
            episodes,
            envs.wrapping_angles(self._config.task),
            self._seed(Purpose.PROBE),
        )
        return {f"probe/{name}": value for name, value in found.items()}

    def film(self, episode, passed):
        """Files of the open-loop prediction of the newest episode, where it is due."""
        is_due = passed.crosses(self._config.video_every_steps)
        if not is_due or not self._has_learned:
            return []
        step = self._agent.counts["environment_steps"]
        name = f"open_loop_{step}"
        seed = seed_of_run(self._config.seed, Purpose.FILM)
        given = (self._agent.model, episode, seed, self._videos, name)
        files = film(*given, entries=self._entries)
        release(collect=True)
        return files

    @property
    def _episodes(self):
        return self._agent.counts["episodes"]

    @property
    def _has_learned(self):
        return self._agent.counts["train_steps"] > 0

    def _seed(self, purpose):
        return fold(seed_of_run(self._config.seed, purpose), self._episodes)


def banner(config, agent, environment):
    """What a run is, in words: dict of name -> text or number."""
    model, strategy = agent.model, type(agent.policies.strategy).__name__
    shapes = ", ".join(str(tuple(part.spec.shape)) for part in model.parts.values())
    observation = f"{config.observation} {shapes}"
    categories = environment.actions.categories
    size = f"size {model.action_size}" if not categories else f"categories {categories}"
    action = f"action {size}, action repeat {environment.action_repeat}"
    words = {
        "task": f"{config.task}: {observation}, {action}",
        "agent": f"{config.transition} transition, explore {strategy}",
        "parameters": int(sum(np.prod(v.shape) for v in model.trainable_variables)),
    }
    if bounds := environment.actions.without_bounds():
        words["actions"] = bounds
    if environment.entries:
        entries = envs.entries_in_words(environment.entries)
        words["observation"] = f"{entries}, in this order"
    stddev = config.world_model.observation_stddev
    if model.parts["observation"].is_image and stddev < _LEAST_OF_IMAGES:
        words["images"] = (
            f"observation_stddev={stddev:g} lets all these pixels drown the reward; "
            "world_model=pixels is for images alone"
        )
    if grid_of(config.task) is None:
        place = "agents/study/insight/coverage.py"
        words["coverage"] = f"not measured: {place} has no grid for this task"
    return words


def show(files, metrics, step):
    """Shows the PNG and GIF files of `film` in the logger of the run too."""
    for file in map(pathlib.Path, files):
        if file.suffix in _SHOWN:
            image = file.stem.partition("_image_")[2].removesuffix("_strip")
            name = _SHOWN[file.suffix] + (f"/{image}" if image else "")
            metrics.picture(name, file, step)


def resident_mib():
    """Resident memory in MiB."""
    return psutil.Process().memory_info().rss / 2**20


def release(collect=False):
    """Gives freed memory back to the system, which the C library would keep in pieces.

    To `collect` unreachable objects first takes a fraction of a second; figures leave many
    megabytes of them.
    """
    if collect:
        gc.collect()
    with contextlib.suppress(AttributeError, OSError):  # another C library than glibc
        ctypes.CDLL(None).malloc_trim(0)


def value_report(model, value, episodes, seed):
    """What critics expect of the means of first states of episodes, beside what came.

    Critics are of the policy, and the planner acts at least as well: more may come.

        G = sum over k of discount^k r[k + 1]

    The dict has, in rewards, `expected`, the mean value of the first states; `returned`,
    the mean of G; `error`, the mean of |value - G|. The seed is of the noise that
    dequantizes images.
    """
    first = [first_rows(episode, 1) for episode in episodes]
    seen = {key: stack(first, key) for key in seen_keys(first[0])}
    embedding = model.embed(seen, fold(seed, 0))
    noise = tf.zeros([len(episodes), 1, model.rssm.latent_size])
    known = (stack(first, "action"), stack(first, "is_first"), noise)
    latent = filter_latents(model, embedding, *known, model.central_weights())
    expected = value.value(latent.features)[:, 0].numpy()
    returned = np.array([discounted_return(e["reward"], value.discount) for e in episodes])
    return {
        "expected": float(expected.mean()),
        "returned": float(returned.mean()),
        "error": float(np.abs(expected - returned).mean()),
    }


def discounted_return(rewards, discount):
    """The sum of rewards, of which the first belongs to no action."""
    rewards = np.asarray(rewards, np.float64)[1:]
    return float(np.sum(discount ** np.arange(len(rewards)) * rewards))

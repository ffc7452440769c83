"""Several learners that take each gradient step together, each on its part of the batch.

The first is the process of the command and does all that a learner alone does. The others
are actors of Ray: they get its checkpoint and, one after another, its episodes, learn from
them in the same order, and show nothing. Each writes checkpoints to a folder of its own,
because to save is a step in which all take part; all go on from the first's.
"""

import dataclasses
import functools
import pathlib
import shutil
import threading

import ray
import tensorflow as tf

from agents.episodes.environments import COLLECTION, load_environments
from agents.episodes.experience import Experience
from agents.episodes.layout import agent_steps
from agents.episodes.replay import is_held_out
from agents.episodes.store import pack, unpack
from agents.runs.checkpoints import saved_checkpoints
from agents.runs.folder import Run
from agents.system import interrupts
from agents.system.errors import GoneError
from agents.system.processes import free_addresses
from agents.training.building import configure_tensorflow
from agents.training.distributed.actors import CollectedByActors
from agents.training.distributed.cluster import GOES_ON, first_line, own_folder
from agents.training.distributed.remote import LIFE
from envs.quiet import import_gym


def devices_of(addresses, number):
    """Those of all learners, for one of them; made before TensorFlow computes anything."""
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec({"worker": list(addresses)}),
        task_type="worker",
        task_id=number,
        rpc_layer="grpc",
    )
    return tf.distribute.MultiWorkerMirroredStrategy(resolver)


def own_address():
    """`host:port` of this process, where nobody listens yet."""
    port = free_addresses(1)[0].rpartition(":")[2]
    return f"{ray.util.get_node_ip_address()}:{port}"


_PATIENCE = 300.0  # seconds that a learner is given to start


class Others:
    """All learners but the first, as it sees them; a `GoneError` where one has gone."""

    def __init__(self, config):
        settings = {"num_cpus": max(config.threads, 1), "concurrency_groups": {LIFE: 1}}
        if ray.cluster_resources().get("GPU", 0) >= config.learners:
            settings["num_gpus"] = 1
        make = ray.remote(**settings)(Learner)
        self._handles = [make.remote(config, n) for n in range(1, config.learners)]
        asked = [handle.address.remote() for handle in self._handles]
        done, left = ray.wait(asked, num_returns=len(asked), timeout=_PATIENCE)
        if left:
            raise GoneError(
                f"{len(left)} of {len(asked)} other learners have not started for "
                f"{_PATIENCE:.0f} s: is a core, or a GPU, free for each?"
            )
        self._addresses = [own_address(), *self._told(asked)]
        self._runs = []

    def begin(self, run):
        """Lets them learn, from where an `agents.runs.folder.Run` stands."""
        files = {
            f"{folder.name}/{file.name}": file.read_bytes()
            for folder in saved_checkpoints(run.checkpoints)[-1:]
            for file in folder.iterdir()
        }
        for handle in self._handles:
            handle.begin.remote(files)

    def devices(self):
        """Those of all learners, for the first; they are made at the same time."""
        self._runs = [each.learn.remote(self._addresses) for each in self._handles]
        return devices_of(self._addresses, 0)

    def give(self, index, content):
        """Gives all of them an episode."""
        content = ray.put(content)
        for handle in self._handles:
            handle.take.remote(index, content)

    def check(self):
        """Raises a `GoneError` where one of them has gone, or says what is wrong."""
        done, _ = ray.wait(self._runs, num_returns=len(self._runs), timeout=0)
        for status in self._told(done):
            if status:
                raise GoneError(f"another learner has ended; {GOES_ON}")

    def _told(self, asked):
        try:
            return ray.get(asked)
        except ray.exceptions.RayError as error:
            reason = first_line(getattr(error, "cause", None) or "it has died")
            raise GoneError(f"another learner has gone ({reason}); {GOES_ON}") from None


class CollectedForAll(CollectedByActors):
    """Of the first of several learners: it hands on what actors have collected."""

    def __init__(self, config, run, others):
        super().__init__(config, run)
        self._others = others
        for index in newest_in(self.store, config.replay_capacity, config.hold_out_every):
            others.give(index, pack(self.store.read(index)))
        self._given = self.store.next_index

    def _look(self, agent, episodes):
        super()._look(agent, episodes)
        self._others.check()
        for index in self.store.indices:
            if index >= self._given:
                self._others.give(index, pack(self.store.read(index)))
        self._given = self.store.next_index


def newest_in(store, capacity, hold_out_every=None):
    """Numbers of the newest episodes of a store, which fill a replay, ascending."""
    found, steps = [], 0
    for index in reversed(store.indices):
        if steps > capacity:
            break
        found.append(index)
        episode = store.read(index)
        steps += 0 if is_held_out(episode, hold_out_every) else agent_steps(episode)
    return found[::-1]


class Learner:
    """One of several learners, not the first, as an actor of Ray."""

    def __init__(self, config, number):
        self._config, self._number = without_reports(config), number
        self._folder = own_folder()
        self._whole = Run(pathlib.Path(self._folder) / "whole")
        self._given = GivenEpisodes()
        self._begun = threading.Event()

    @ray.method(concurrency_group=LIFE)
    def address(self):
        """At which it will listen to the others."""
        return own_address()

    @ray.method(concurrency_group=LIFE)
    def take(self, index, content):
        """Takes an episode of the first learner."""
        self._given[index] = unpack(content)

    @ray.method(concurrency_group=LIFE)
    def begin(self, files):
        """Lets it learn from a checkpoint, dict of the name of a file -> its bytes."""
        for name, content in files.items():
            file = self._whole.checkpoints / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        self._begun.set()

    def learn(self, addresses):
        """Trains to the end, once it is let; exit status."""
        from agents.training import trainer

        import_gym()
        configure_tensorflow(self._config)
        devices = devices_of(addresses, self._number)
        self._begun.wait()
        own = Run(self._whole.folder.with_name("own"), whole=self._whole)
        own.folder.mkdir(parents=True)
        make = functools.partial(TakenByAnother, given=self._given)
        try:
            return trainer.train(self._config, own, make, devices)
        finally:
            shutil.rmtree(self._folder)


def without_reports(config):
    """The config of a learner that is not the first: it neither evaluates nor draws."""
    evaluation = dataclasses.replace(config.evaluation, every_steps=0)
    none = {"video_every_steps": 0, "probe_every_steps": 0}
    return dataclasses.replace(config, evaluation=evaluation, **none)


class TakenByAnother(Experience):
    """What a learner that is not the first learns from."""

    def __init__(self, config, run, given):
        super().__init__(config, given)
        self.environment = load_environments(config, 1, COLLECTION)

    def collect(self, agent):
        """Waits until the first learner has given it."""
        counted = agent.counts["episodes"]
        while max(self.store.indices, default=-1) < counted:
            interrupts.pause()


class GivenEpisodes(dict):
    """Number -> episode, with what a store has; each is read once, and kept no longer."""

    read = dict.pop

    @property
    def indices(self):
        return sorted(self)

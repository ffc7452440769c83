"""Evaluation, films and probes by a process of their own, while learning goes on."""

import collections
import io
import json
import pathlib
import tempfile
import types

import numpy as np
import tensorflow as tf

from agents.episodes.environments import EVALUATION, load_environments
from agents.episodes.evaluation import Evaluator
from agents.episodes.store import pack, unpack
from agents.system import interrupts
from agents.system.files import remove_temporary, replacing
from agents.training.building import configure_tensorflow, make_agent
from agents.training.distributed.remote import Living, Remote
from agents.training.distributed.weights import Weights, acting_variables
from agents.training.measurements import PROBED, Measurements, show
from agents.training.passing import Passed
from envs.quiet import import_gym

_WAITING = 2  # evaluations that may wait; then learning does
_COUNTS = "environment_steps", "episodes", "train_steps"


class Judge(Living):
    """Measures agents as `agents.training.measurements` does, as an actor of Ray."""

    def __init__(self, config):
        self._config = config
        self._agent = None

    def look(self, vectors, episodes, passed, is_last):
        """Rows of scores, dict of metrics, and dict of a film's name -> its bytes.

        They are of an agent of these weights. Episodes, a dict of index -> bytes, are the
        newest that it has learned from.
        """
        if self._agent is None:
            self._begin()
        self._weights.write(vectors)
        known = {index: unpack(content) for index, content in episodes.items()}
        store = types.SimpleNamespace(indices=sorted(known), read=known.__getitem__)
        with tempfile.TemporaryDirectory() as folder:
            about = pathlib.Path(folder), self._config, self._entries
            monitor = Measurements(self._agent, store, self._evaluator, *about)
            scores, row = monitor.measured(passed, is_last)
            files = monitor.film(known[max(known)], passed)
            films = {file.name: file.read_bytes() for file in files}
        return scores, row, films

    def _begin(self):
        import_gym()
        configure_tensorflow(self._config)
        environment = load_environments(self._config, 1, EVALUATION)
        self._entries = environment.entries
        self._agent = make_agent(self._config, environment, tf.distribute.get_strategy())
        environment.close()
        self._weights = Weights(_variables(self._agent))
        self._evaluator = Evaluator(self._config, self._agent)


class EvaluatedApart:
    """Lets a `Judge` measure, and records what it finds where it belongs.

    What is asked is on disk until it is recorded, with the weights that it is about. So a
    score is of the weights of its step, also where the run was killed meanwhile. A
    `Trainer` makes it, once its agent is restored; `say` is told a line of an evaluation.
    """

    def __init__(self, config, run, agent, store, monitor, metrics, say):
        self._agent, self._store, self._monitor = agent, store, monitor
        self._metrics, self._videos, self._say = metrics, run.videos, say
        self._weights = Weights(_variables(agent))
        self._folder = run.folder / "evaluating"
        self._folder.mkdir(exist_ok=True)
        remove_temporary(self._folder)
        self._asked = collections.deque(self._left())
        self._remote = Remote("evaluator", Judge, config, cores=max(config.threads, 1))

    def ask(self, passed, is_last):
        """Lets what is due be measured, of the agent as it is now."""
        if not self._monitor.is_anything_due(passed, is_last):
            return
        counts = {name: self._agent.counts[name] for name in _COUNTS}
        file = self._folder / f"{counts['episodes']:06d}.npz"
        about = json.dumps(counts | {"passed": passed, "is_last": is_last})
        with replacing(file) as handle:
            np.savez(handle, about=about, **self._weights.read())
        self._asked.append(file)
        while len(self._asked) > _WAITING:
            self.look()
            interrupts.pause()

    def look(self):
        """Records what is done; lets the next begin."""
        seen = self._remote.result()
        if seen is not None:
            self._record(self._asked.popleft(), *seen)
        if self._remote.is_idle and self._asked:
            about, vectors = _read(self._asked[0])
            due = Passed(*about["passed"]), about["is_last"]
            self._remote.begin("look", vectors, self._newest(about), *due)
        self._remote.watch()

    def finish(self):
        """Waits until all is recorded."""
        while self._asked:
            self.look()
            interrupts.pause()

    def _newest(self, about):
        indices = [index for index in self._store.indices if index < about["episodes"]]
        return {index: pack(self._store.read(index)) for index in indices[-PROBED:]}

    def _record(self, file, scores, row, films):
        about, _ = _read(file)
        counts = {name: about[name] for name in _COUNTS}
        self._metrics.amend(counts, row, [counts | score for score in scores])
        step = counts["environment_steps"]
        if films:
            self._videos.mkdir(exist_ok=True)
        for name, content in films.items():
            with replacing(self._videos / name) as handle:
                handle.write(content)
        show([self._videos / name for name in films], self._metrics, step)
        file.unlink()
        if scores:
            found = row["evaluate/return"]
            self._say(f"episode {counts['episodes']}: evaluation return {found:.3g}")

    def _left(self):
        """What a killed session had asked, of weights that the agent has come to."""
        for file in sorted(self._folder.glob("*.npz")):
            if _read(file)[0]["episodes"] <= self._agent.counts["episodes"]:
                yield file
            else:  # it will be asked again
                file.unlink()


def _variables(agent):
    """All that measuring needs, each once."""
    value = agent.value.variables if agent.value else ()
    found = [*acting_variables(agent), *agent.policy.variables()]
    found += [*agent.model.variables, *value]
    return list({id(variable): variable for variable in found}.values())


def _read(file):
    with np.load(io.BytesIO(file.read_bytes())) as arrays:
        vectors = {name: arrays[name] for name in arrays.files if name != "about"}
        return json.loads(str(arrays["about"])), vectors

"""What tests of the agent share: tiny configs, models and batches."""

import contextlib
import functools
import shutil

import filelock
import numpy as np
import pytest
import tensorflow as tf
from tf_agents.specs import tensor_spec

import envs
from agents.episodes.replay import Replay
from agents.runs.config import overrides
from agents.runs.folder import Run, open_run
from agents.study.figures import drawing
from agents.study.insight import forecasts, latents, spread, spread_worth
from agents.training.building import choose_devices, make_agent, make_world_model
from agents.training.loading import load_parts
from agents.training.trainer import train
from tests.agents.graphs import without_graphs

TINY = [
    "experiment=debug",
    "logdir=unused",
    "action_repeat=1",
    "world_model.belief_size=6",
    "world_model.latent_size=3",
    "world_model.hidden_size=7",
    "world_model.embedding_size=5",
    "world_model.observation_stddev=0.1",
    "world_model.overshooting_distance=0",
    "posterior_scale=0.3",
]


@pytest.fixture(scope="module")
def untraced():
    """Line by line is faster for a few episodes: a trace for each model takes a second."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (latents, spread, forecasts, spread_worth):
            for name in ("filter_latents", "imagine_latents", "predict_each_step"):
                if function := getattr(module, name, None):
                    patch.setattr(module, name, function.__wrapped__)
        yield


@pytest.fixture
def eagerly():
    """No graphs in a test."""
    with without_graphs():
        yield


@pytest.fixture(scope="session")
def make_config():
    """Makes a tiny config; takes words as the command line does.

    It has no value, which takes seconds to compile, unless told otherwise, and leaves
    nothing open.
    """

    @functools.cache
    def make(*words):
        value = ["value=none"]
        if any(word.startswith("value") for word in words):
            known = ["value.discount=0.95", "value.centered=false"]
            known += ["value.updates=1", "value.learning_rate=3e-4"]
            value = [] if "value=none" in words else known
        return overrides.load([*TINY, *value, *words])

    return make


@pytest.fixture(scope="session")
def environment():
    """Two fake environments, stepped together."""
    return envs.load_many(2, "fake", processes=False)


@pytest.fixture(scope="session")
def make_model(make_config, environment):
    """Makes a tiny world model of vectors of 2 and actions of 1, or of images.

    Images beside the vector: dict of name -> size and channels.
    """

    def make(*words, image_size=None, beside=()):
        tf.keras.utils.set_random_seed(0)
        time_step_spec = tensor_spec.from_spec(environment.time_step_spec())
        if image_size:
            time_step_spec.observation["observation"] = tf.TensorSpec(
                [image_size, image_size, 3], tf.uint8
            )
        for name, (size, channels) in dict(beside).items():
            spec = tf.TensorSpec([size, size, channels], tf.uint8)
            time_step_spec.observation[name] = spec
        action_spec = tensor_spec.from_spec(environment.action_spec())
        return make_world_model(make_config(*words), time_step_spec, action_spec)

    return make


@pytest.fixture(scope="session")
def build_agent(make_config, environment):
    """Makes a tiny agent for the fake environment."""

    def make(*words):
        config = make_config(*words)
        return make_agent(config, environment, choose_devices(config.devices))

    return make


@pytest.fixture(scope="session")
def model(make_model):
    """A tiny world model with an uncertain transition; not to be trained."""
    return make_model()


@pytest.fixture(scope="session")
def make_batch():
    """Makes a batch as the replay does, of vectors of 2 and actions of 1."""

    def make(size=3, length=5, seed=0, observation_shape=(2,)):
        rng = np.random.default_rng(seed)
        return {
            "observation": tf.constant(
                rng.normal(size=[size, length, *observation_shape]), tf.float32
            ),
            "action": tf.constant(rng.uniform(-1, 1, [size, length, 1]), tf.float32),
            "reward": tf.constant(rng.normal(size=[size, length]), tf.float32),
            "is_first": tf.constant(rng.random([size, length]) < 0.2),
            "is_terminal": tf.constant(rng.random([size, length]) < 0.2),
        }

    return make


@pytest.fixture(scope="session")
def replay():
    """Two episodes of 20 rows of vectors of 2 and actions of 1; not to be added to."""
    replay, rng = Replay(1000), np.random.default_rng(0)
    for _ in range(2):
        replay.add(
            {
                "observation": rng.normal(size=[20, 2]).astype(np.float32),
                "action": rng.uniform(-1, 1, [20, 1]).astype(np.float32),
                "reward": rng.normal(size=20).astype(np.float32),
                "is_first": np.arange(20) == 0,
                "is_terminal": np.zeros(20, bool),
                "position": np.zeros([20, 1], np.float32),
                "velocity": np.zeros([20, 1], np.float32),
            }
        )
    return replay


@pytest.fixture(scope="session")
def make_episodes():
    """Makes episodes of vectors of 2 and actions of 1, one for each row of rewards."""

    def make(rewards):
        rng = np.random.default_rng(0)
        return [
            {
                "observation": rng.normal(size=[len(reward), 2]).astype(np.float32),
                "action": rng.uniform(-1, 1, [len(reward), 1]).astype(np.float32),
                "reward": np.array(reward, np.float32),
                "is_first": np.arange(len(reward)) == 0,
            }
            for reward in rewards
        ]

    return make


@pytest.fixture(scope="session")
def noise():
    """Makes standard normal numbers, float32."""

    def make(*shape, seed=0):
        return tf.constant(np.random.default_rng(seed).normal(size=shape), tf.float32)

    return make


@pytest.fixture
def run(tmp_path):
    """A run's folder with nothing in it."""
    return Run(tmp_path / "run")


@pytest.fixture(scope="session")
def train_run(make_config):
    """Trains in a folder, as `bayes-rl train` does; returns the exit status."""

    def run(folder, *words):
        config = make_config(f"logdir={folder}", *words)
        with open_run(config) as opened:
            return train(config, opened)

    return run


@pytest.fixture(scope="session")
def make_once(tmp_path_factory, request):
    """A function makes a folder in one process of the tests for all.

    What is returned is this process's own copy.
    """
    shared = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):
        shared = shared.parent

    def once(name, make):
        folder, done = shared / f"once_{name}", shared / f"once_{name}.done"
        with filelock.FileLock(shared / f"once_{name}.lock"):
            if not done.exists():
                make(folder)
                done.touch()
        return shutil.copytree(folder, tmp_path_factory.mktemp(name) / "run")

    return once


@pytest.fixture(scope="session")
def train_once(train_run, make_once):
    """Trains in one process of the tests for all; without graphs if told so."""

    def train_in(folder, *words, eagerly):
        with without_graphs() if eagerly else contextlib.nullcontext():
            assert train_run(folder, *words) == 0

    def make(name, *words, eagerly=False):
        return make_once(name, lambda folder: train_in(folder, *words, eagerly=eagerly))

    return make


@pytest.fixture(scope="session")
def tiny_words():
    """What `make_config` adds to the words that it is given, but for the value."""
    return TINY


@pytest.fixture(scope="session")
def quick_planner():
    """Words of a planner that is traced and compiled in a third of the time."""
    return ["planner.horizon=2", "planner.iterations=1"]


@pytest.fixture(scope="session")
def run_words(quick_planner):
    """Words of `whole_run`."""
    evaluation = ["evaluation={every_steps: 40, episodes: 2}", "video_every_steps=80"]
    return ["environment_steps=160", "value=td", *evaluation, *quick_planner]


@pytest.fixture(scope="session")
def whole_run(train_once, run_words):
    """Folder of a run of 8 episodes that nothing interrupted; not to be changed."""
    return train_once("whole", *run_words)


@pytest.fixture
def undrawn(monkeypatch):
    """Leaves figures empty: drawing takes a second."""

    def save_figure(figure, file):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        return file

    monkeypatch.setattr(drawing, "save_figure", save_figure)


@pytest.fixture(scope="session")
def whole_parts(whole_run):
    """Config, agent and entries of `whole_run`; not to be changed."""
    return load_parts(whole_run)


@pytest.fixture(scope="session")
def whole_agent(whole_parts):
    """Config and agent of `whole_run`; not to be changed."""
    return whole_parts[:2]


@pytest.fixture(scope="session")
def pixel_run(train_once):
    """Folder of a run of 2 random episodes of pixels; not to be changed."""
    pixels = ["observation=pixels", "image.size=32", "world_model.image_depth=2"]
    steps = ["environment_steps=40", "seed_steps=40", "sequence_length=4"]
    seldom = ["evaluation.every_steps=0", "video_every_steps=0"]
    return train_once("pixels", *pixels, *steps, *seldom, eagerly=True)

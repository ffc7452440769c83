"""Every key of the config changes what can be seen; in `ELSEWHERE`, other tests say so."""

import functools
import pathlib
import re

import numpy as np
import pytest
import tensorflow as tf

import envs
from agents.episodes.environments import COLLECTION, load_environments
from agents.planet.action_space import BOX
from agents.runs.config import overrides
from agents.runs.config.schema import as_dict, flatten
from agents.system.seeds import normal
from agents.training.building import _make_value
from bayes_rl.weights import kl_divergences

ENVIRONMENT = {
    "task": "cartpole_balance",
    "observation": "pixels",
    "action_repeat": 3,
    "time_limit": 500,
    "action_cost": 0.5,
    "action_bound": 2.0,
    "image.size": 32,
    "image.camera": 1,
    "image.shadows": "false",
    "physics.mass": 2.0,
    "physics.friction": 3.0,
    "physics.gain": 0.5,
    "seed": 7,
}
PIXELS = ["world_model.image_depth=2"]
FAR = ["world_model.overshooting_distance=2", "world_model.overshooting_kl_scale=1"]
MODEL = {  # key: another value, words beside it
    "transition": ("flipout", []),
    "posterior_scale": (0.6, []),
    "prior_scale": (0.5, []),
    "ensemble_members": (2, ["transition=ensemble"]),
    "dropout_rate": (0.5, ["transition=dropout"]),
    "compute_dtype": ("bfloat16", []),
    "world_model.belief_size": (9, []),
    "world_model.latent_size": (4, []),
    "world_model.hidden_size": (9, []),
    "world_model.embedding_size": (9, []),
    "world_model.encoder_layers": (2, []),
    "world_model.decoder_layers": (2, []),
    "world_model.reward_layers": (2, []),
    "world_model.reward_units": (9, []),
    "world_model.min_stddev": (0.4, []),
    "world_model.observation_stddev": (0.4, []),
    "world_model.reward_scale": (3.0, []),
    "world_model.free_nats": (0.0, []),
    "world_model.kl_scale": (0.3, ["world_model.free_nats=0"]),
    "world_model.global_kl_scale": (0.3, []),
    "world_model.overshooting_distance": (3, [*FAR, "world_model.free_nats=0"]),
    "world_model.overshooting_kl_scale": (0.3, [*FAR, "world_model.free_nats=0"]),
    "world_model.overshooting_reward_scale": (0.3, FAR),
    "world_model.image_depth": (3, PIXELS),
    "world_model.image_decoder": ("dense", PIXELS),
    "world_model.image_pool": (2, [*PIXELS, "image.size=64", "observation=pixels"]),
}
STEP = {
    "optimizer.learning_rate": 0.1,
    "optimizer.stddev_learning_rate": 0.1,
    "optimizer.epsilon": 10.0,
    "optimizer.clip_norm": 1e-6,
}
VALUE = {
    "value.discount": 0.5,
    "value.target_steps": 2,
    "value.stride": 1,
    "value.layers": 1,
    "value.units": 9,
    "value.learning_rate": 0.1,
    "value.clip_norm": 1e-6,
    "value.target_rate": 0.5,
    "value.entropy": 0.5,
    "value.imitation": 0.5,
}
PARTS = ("planner.", "explore.", "exploit.", "action_noise.")  # handed to the agent whole
ELSEWHERE = {
    "standardize": "planet/model/test_standardization.py",
    "learn_observation_stddev": "planet/model/test_standardization.py",
    "continuation_scale": "planet/model/test_world_model.py",
    "value.kind": "training/test_without_value.py",
    "value.proposals": "planet/value/test_actor_critic.py",
    "value.return_lambda": "planet/planning/test_rollouts.py",
    "value.centered": "planet/value/test_actor_critic.py",
    "value.updates": "planet/agent/test_planet_agent.py",
    "value.target_draws": "planet/value/test_actor_critic.py",
    "value.pessimism": "planet/value/test_actor_critic.py",
    "ensemble_shares_batch": "planet/model/transitions/test_ensemble.py",
    "averaging": "planet/agent/test_optimizer.py",
    "optimizer.ivon_learning_rate": "planet/agent/test_optimizer.py",
    "optimizer.ivon_curvature": "planet/agent/test_optimizer.py",
    "act": "planet/agent/policy/test_policy_with_value.py",
    "latents": "planet/agent/policy/test_policy_with_value.py",
    "kl_weight": "planet/agent/test_planet_agent.py: of the weight KL",
    "kl_weight_warmup": "planet/agent/test_planet_agent.py",
    "compile": "planet/agent/test_planet_agent.py: the same numbers, sooner",
    "devices": "planet/agent/test_planet_agent.py: the same numbers, on more devices",
    "threads": "of the machine alone",
    "data": "training/logged/test_experience.py",
    "logdir": "training/trainer/test_trainer.py: every folder of a run",
    "environment_steps": "training/trainer/test_trainer.py: lines of the metrics",
    "seed_steps": "training/trainer/test_trainer.py: first random episodes",
    "environments": "training/trainer/test_trainer.py: a variant runs",
    "actors": "training/distributed/: everything",
    "address": "training/distributed/test_cluster.py",
    "learners": "training/distributed/test_together.py",
    "noise_ladder": "training/distributed/test_actors.py",
    "updates_per_step": "training/trainer/test_trainer.py: train steps of a line",
    "evaluation.every_steps": "training/test_measurements.py",
    "evaluation.episodes": "training/trainer/test_trainer.py: rows of the scores",
    "evaluation.apart": "training/distributed/test_apart.py",
    "video_every_steps": "training/test_measurements.py",
    "probe_every_steps": "training/test_measurements.py",
    "checkpoint_every_steps": "training/trainer/test_trainer_stopped.py",
    "logger": "training/trackers/test_trackers.py",
    "replay_capacity": "episodes/test_replay.py, planet/agent/test_clock.py",
    "hold_out_every": "training/trainer/test_trainer.py, planet/agent/test_clock.py",
    "batch_size": "training/test_gradient_steps.py",
    "sequence_length": "training/test_gradient_steps.py",
}


def test_every_key_is_looked_at_and_where_other_tests_do_so_they_are():
    keys = set(flatten(as_dict(overrides.load(["planner=icem"]))))
    parts = {key for key in keys if key.startswith(PARTS)}
    seen = [set(ENVIRONMENT), set(MODEL), set(STEP), set(VALUE), parts]
    elsewhere = {key for key in keys if key.removeprefix("world_model.") in ELSEWHERE}
    assert set.union(*seen, elsewhere) == keys
    files = re.findall(r"[\w/]+\.py", " ".join(ELSEWHERE.values()))
    folder = pathlib.Path(__file__).parent
    assert [file for file in files if not (folder / file).exists()] == []


@pytest.mark.parametrize("key", ENVIRONMENT)
def test_a_key_of_the_environment_reaches_it(key, make_config, monkeypatch):
    asked = []
    monkeypatch.setattr(envs, "load_many", lambda *args, **kw: asked.append((args, kw)))
    task = ["task=cartpole_swingup"]  # the fake one has a single camera
    for words in (task, [*task, f"{key}={ENVIRONMENT[key]}"]):
        load_environments(make_config(*words), 2, COLLECTION)
    assert asked[0] != asked[1]


@pytest.fixture(scope="module")
def sum_of_losses(make_model, make_batch):
    """Of a model of images of a size, or of vectors, and of these words."""

    @functools.cache
    def compute(size, *words):
        model = make_model(*words, image_size=size)
        shape = (size, size, 3) if size else (2,)
        length = 4 if any("overshooting" in word for word in words) else 2
        batch = make_batch(1, length, observation_shape=shape)
        if size:
            pixels = 127 * (1 + tf.tanh(batch["observation"]))
            batch["observation"] = tf.cast(pixels, tf.uint8)
        noise = normal([1, length, model.rssm.latent_size], tf.constant([0, 1]))
        losses, *_ = model.losses(batch, noise, tf.constant([0, 2]))
        weight_kl = sum(map(float, kl_divergences(model).values()))
        return sum(float(tf.reduce_sum(loss)) for loss in losses.values()) + weight_kl

    return compute


@pytest.mark.slow
@pytest.mark.parametrize("key", MODEL)
def test_a_key_of_the_model_changes_its_losses(key, sum_of_losses):
    value, words = MODEL[key]
    size = 64 if "image_pool" in key else 32 if words is PIXELS else None
    other = sum_of_losses(size, *words, f"{key}={value}")
    assert other != pytest.approx(sum_of_losses(size, *words), rel=1e-6)


@pytest.fixture(scope="module")
def stepped(build_agent, make_batch):
    """Makes the variables after a gradient step."""

    def step(*words):
        agent = build_agent("compile=false", "world_model.free_nats=0", *words)
        agent.train(make_batch(1, 2))
        return np.concatenate([np.ravel(v) for v in agent.model.trainable_variables])

    return step


@pytest.fixture(scope="module")
def as_it_is(stepped):
    return stepped()


@pytest.mark.parametrize("key", STEP)
def test_a_key_of_a_step_changes_it(key, stepped, as_it_is):
    other = stepped(f"{key}={STEP[key]}")
    assert np.abs(other - as_it_is).max() > 1e-5


@pytest.fixture(scope="module")
def valued(make_config, make_batch, environment, model, noise):
    """Makes critics and policy after two gradient steps."""

    def step(*words):
        config = make_config("value.learning_rate=0.01", *words)
        tf.keras.utils.set_random_seed(0)
        value, optimizer = _make_value(config, environment, model, BOX)
        for seed in range(2):
            with tf.GradientTape() as tape:
                given = (make_batch(1, 4, seed), noise(1, 4, 9), noise(2, 1, 4, 1))
                found, values = value.losses(*given)
                loss = sum(map(tf.reduce_sum, (found[name] for name in value.loss_names)))
            optimizer.apply(tape.gradient(loss, value.trainable_variables))
            value.follow(values)
        return np.concatenate([np.ravel(v) for v in value.variables])

    return step


@pytest.fixture(scope="module")
def value_as_it_is(valued):
    return valued()


@pytest.mark.parametrize("key", VALUE)
def test_a_key_of_the_value_changes_what_it_learns(key, valued, value_as_it_is):
    other = valued(f"{key}={VALUE[key]}")
    is_other_size = len(other) != len(value_as_it_is)
    assert is_other_size or np.abs(other - value_as_it_is).max() > 1e-5


def test_parts_of_the_agent_are_those_of_the_config(make_config, build_agent):
    words = ["planner=icem", "explore=thompson", "action_noise.stddev=0.7"]
    words += ["exploit=pessimistic"]
    config, agent = make_config(*words), build_agent(*words)
    policy = agent.collect_policy
    assert policy._planner == config.planner
    assert policy.strategy == config.explore
    assert agent.policy.strategy == config.exploit
    assert policy.parts.noise == config.action_noise

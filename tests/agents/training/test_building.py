"""Tests of agents.training.building."""

import random
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from tf_agents.specs import array_spec

import envs
from agents.planet.explore import Greedy
from agents.planet.planning.cross_entropy import CrossEntropy
from agents.planet.planning.icem import ImprovedCrossEntropy
from agents.runs.config.overrides import load
from agents.system.errors import UserError
from agents.training import building
from agents.training.building import choose_devices, configure_tensorflow


@pytest.fixture(scope="module")
def agent(build_agent):
    return build_agent("planner=cem", "planner.horizon=4", "action_noise.stddev=0.2")


def test_initial_values_depend_on_the_seed_alone(build_agent):
    first, again, other = (
        np.concatenate([np.ravel(v) for v in build_agent(word).model.variables])
        for word in ("seed=1", "seed=1", "seed=2")
    )
    np.testing.assert_array_equal(first, again)
    assert np.mean(first != other) > 0.5


def test_generators_that_environments_may_draw_from_go_on_as_before(build_agent):
    drawn = []
    for build in (build_agent, lambda: None):
        random.seed(5)
        np.random.seed(5)  # noqa: NPY002 the one of the process
        build()
        drawn.append([random.random(), np.random.uniform()])  # noqa: NPY002
    assert drawn[0] == drawn[1]


@pytest.mark.slow
def test_the_parts_are_those_of_the_config(agent, build_agent):
    planner = agent.collect_policy._planner
    assert type(planner) is CrossEntropy
    assert planner.horizon == 4
    assert agent.policies.strategy == Greedy()
    assert agent.collect_policy.parts.noise.stddev == 0.2
    assert agent.policy.parts.noise is None
    other = build_agent("planner=icem").collect_policy._planner
    assert isinstance(other, ImprovedCrossEntropy)


@pytest.mark.parametrize(
    ("task", "unit"),
    [("cartpole_swingup", 8.0), ("cartpole_swingup_fenced", 3.0)],  # the size of rewards
)
def test_critics_count_by_what_a_decision_may_be_rewarded(make_config, task, unit):
    config = make_config(f"task={task}", "value=td", "world_model.standardize=true")
    environment = envs.load_many(1, task, action_repeat=8, processes=False)
    agent = building.make_agent(config, environment, choose_devices("default"))
    rewards = np.array([0.0, 3.0, 0.0, -3.0], np.float32)
    agent.model.see({"observation": np.zeros([4, 5], np.float32), "reward": rewards})
    assert float(agent.value._reward_unit()) == pytest.approx(unit, rel=1e-3)


def test_everything_that_a_run_goes_on_from_is_in_a_checkpoint(
    agent, build_agent, make_batch, tmp_path
):
    batch = make_batch(4, 6)
    agent.train(batch)
    agent.clock.advance(episodes=3, agent_steps=20, environment_steps=40)
    saved = tf.train.Checkpoint(agent=agent, train_step=agent.train_step_counter)
    path = saved.save(tmp_path / "checkpoint")
    other = build_agent("planner=cem", "planner.horizon=4", "action_noise.stddev=0.2")
    restored = tf.train.Checkpoint(agent=other, train_step=other.train_step_counter)
    restored.restore(path).assert_existing_objects_matched()
    assert int(other.clock.environment_steps) == 40
    for each in (agent, other):
        each.train(batch)
    for mine, theirs in zip(agent.model.variables, other.model.variables, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("is_too_late", [False, True])
def test_memory_of_all_gpus_grows_as_it_is_needed(make_config, monkeypatch, is_too_late):
    grown = []

    def set_memory_growth(device, enable):
        grown.append((device, enable))
        if is_too_late:
            raise RuntimeError("Physical devices cannot be modified any more")

    devices = "list_physical_devices"
    monkeypatch.setattr(tf.config, devices, lambda kind: [kind, f"{kind}:1"])
    monkeypatch.setattr(tf.config.experimental, "set_memory_growth", set_memory_growth)
    configure_tensorflow(make_config())
    assert grown == [("GPU", True), ("GPU:1", True)]


def test_the_default_is_one_device():
    assert choose_devices("default").num_replicas_in_sync == 1


def test_mirrored_uses_all_devices_of_the_best_kind():
    kind = "GPU" if tf.config.list_logical_devices("GPU") else "CPU"
    devices = tf.config.list_logical_devices(kind)
    assert choose_devices("mirrored").num_replicas_in_sync == len(devices)


def test_mirrored_is_the_default_where_there_is_one_device(monkeypatch):
    one = tf.config.list_logical_devices("CPU")[:1]
    devices = {"GPU": [], "CPU": one}
    monkeypatch.setattr(tf.config, "list_logical_devices", devices.__getitem__)
    assert building._mirrored.__wrapped__() is choose_devices("default")


def test_agents_of_a_process_share_its_mirrored_devices():
    assert choose_devices("mirrored") is choose_devices("mirrored")


def test_a_tpu_is_found_connected_and_initialized_before_it_is_used(monkeypatch):
    """With stand-ins for TensorFlow's functions: no TPU has run this."""
    calls = []

    def stand_in(name):
        return lambda *given: calls.append((name, *given)) or name

    for place, name in [
        (tf.distribute.cluster_resolver, "TPUClusterResolver"),
        (tf.config, "experimental_connect_to_cluster"),
        (tf.tpu.experimental, "initialize_tpu_system"),
        (tf.distribute, "TPUStrategy"),
    ]:
        monkeypatch.setattr(place, name, stand_in(name))
    assert choose_devices("tpu") == "TPUStrategy"
    assert calls == [
        ("TPUClusterResolver",),
        ("experimental_connect_to_cluster", "TPUClusterResolver"),
        ("initialize_tpu_system", "TPUClusterResolver"),
        ("TPUStrategy", "TPUClusterResolver"),
    ]


def test_a_tpu_that_is_not_there_is_one_clear_line():
    with pytest.raises(UserError, match="devices=tpu finds no TPU: ") as error:
        choose_devices("tpu")
    assert "\n" not in str(error.value)


@pytest.fixture
def with_camera(environment):
    """Specs of the fake environment with an image beside its 2 numbers."""
    steps = environment.time_step_spec()
    camera = array_spec.BoundedArraySpec([32, 32, 3], np.uint8, 0, 255)
    other = mock.Mock(wraps=environment, action_repeat=1, episode_length=20)
    seen = steps._replace(observation=steps.observation | {"image_eye": camera})
    other.time_step_spec.side_effect = lambda: seen
    return other


def test_an_image_makes_networks_larger_and_is_not_compiled(with_camera, environment):
    words = "task=fake", "compile=null"
    alone, both = (
        building.resolved(load(words), each) for each in (environment, with_camera)
    )
    sizes = [each.world_model.belief_size for each in (alone, both)]
    assert sizes == [64, 32 + 4 * (2 + 20 + 1)]
    stddevs = [each.world_model.observation_stddev for each in (alone, both)]
    np.testing.assert_allclose(stddevs, 0.03 * np.sqrt([2, 2 + 20]))
    assert (alone.compile, both.compile) == (True, False)


def test_a_learned_stddev_needs_numbers(with_camera):
    seen = with_camera.time_step_spec()
    seen.observation["observation"] = seen.observation["image_eye"]
    with pytest.raises(UserError, match="for numbers alone; task=fake observes images"):
        building.resolved(
            load(["task=fake", "world_model.learn_observation_stddev=true"]), with_camera
        )

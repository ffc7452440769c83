"""Tests of runs that see numbers and images."""

import json
import shutil
import types

import gymnasium
import numpy as np
import pytest
import tensorflow as tf
from tf_agents.trajectories import policy_step
from tf_agents.trajectories import time_step as ts

import agents
import envs
from agents.__main__ import main
from agents.episodes.store import EpisodeStore
from agents.planet.agent.clock import Clock
from agents.runs.records import read_metrics
from agents.system.errors import UserError
from agents.training.loading import LoadedAgent
from envs.actions import make_actions
from envs.simulations.images import as_image
from tests.agents.graphs import without_graphs
from tests.agents.training.test_loading import Summing

SIZE = 32
TASK = "python:tests.agents.training.test_parts:Arm"
WORDS = f"experiment=debug observation=auto image.size={SIZE} seed_steps=10 value=none"
WORDS += " sequence_length=5 world_model.image_depth=2 evaluation.every_steps=20"
WORDS += " video_every_steps=20 compile=false updates_per_step=0.2 probe_every_steps=0"
WORDS += " planner.horizon=2 planner.iterations=1"


class Arm(gymnasium.Env):
    """Counts steps, in a number and as the brightness of two images."""

    action_space = gymnasium.spaces.Box(-1.0, 1.0, [1])
    observation_space = gymnasium.spaces.Dict(
        angle=gymnasium.spaces.Box(-9.0, 9.0, [2]),
        wrist=gymnasium.spaces.Box(0, 255, [48, 64, 1], np.uint8),
        front=gymnasium.spaces.Box(0.0, 1.0, [3, 40, 40]),
    )

    def reset(self, seed=None, options=None):
        self.steps = 0
        return self._look(), {}

    def step(self, action):
        self.steps += 1
        return self._look(), 1.0, False, self.steps == 10, {}

    def _look(self):
        return {
            "angle": np.full(2, self.steps, np.float32),
            "wrist": np.full([48, 64, 1], 20 * self.steps, np.uint8),
            "front": np.full([3, 40, 40], 0.1 * self.steps, np.float32),
        }


@pytest.fixture(scope="module")
def run(make_once):
    words = f"{WORDS} task={TASK} environment_steps=20"

    def make(folder):
        with without_graphs():
            agents.train(f"{words} logdir={folder}")

    return agents.Trained(make_once("parts", make))


class Bright(Summing):
    """Its action is the mean of the first two channels of an image."""

    def _action(self, time_step, policy_state, seed):
        seen = tf.cast(time_step.observation["observation"], tf.float32)
        return policy_step.PolicyStep(tf.reduce_mean(seen, [1, 2])[:, :2], policy_state)


@pytest.fixture
def seeing():
    """An agent that saw a camera of 48 by 64 pixels as 32 by 32."""
    space = gymnasium.spaces.Box(0.0, 1.0, [3, 48, 64])  # channels first
    told = types.SimpleNamespace(
        entries={},
        images={"observation": (("camera",), as_image(space))},
        actions=make_actions(-np.ones(1), np.ones(1)),
    )
    spec = tf.TensorSpec([32, 32, 3], tf.uint8)
    return LoadedAgent(Bright(Clock(), spec), Clock(), told)


def test_an_image_of_its_own_environment_is_resized_as_for_the_run(seeing):
    camera = np.zeros([3, 48, 64])
    camera[0], camera[1, :, :32] = 1.0, 0.2
    expected = [255.0, 25.5]
    assert seeing.act({"camera": camera, "more": None}) == pytest.approx(expected)
    small = np.zeros([32, 32, 3], np.uint8)
    small[..., 0] = 7
    assert seeing.act(small) == pytest.approx([7, 0])  # as of envs.load
    assert seeing.act({"observation": small}) == pytest.approx([7, 0])


@pytest.mark.parametrize(
    ("observation", "message"),
    [
        ({"camera": np.zeros([48, 64, 3])}, "^camera: an image must have shape .3, 48"),
        ({"camera": np.full([3, 48, 64], 9.0)}, "^camera: an image must be from 0 to 1"),
        ({"cam": np.zeros([3, 48, 64])}, "must be a dict with camera; it lacks camera"),
        (np.zeros([3, 48, 64]), "observation must have shape .32, 32, 3., got .3, 48"),
    ],
)
def test_a_wrong_image_of_its_own_environment_is_named(seeing, observation, message):
    with pytest.raises(ValueError, match=message):
        seeing.act(observation)


class Sum(Summing):
    """Its action is what it sees."""

    def _action(self, time_step, policy_state, seed):
        seen = tf.cast(time_step.observation["observation"], tf.float32)
        return policy_step.PolicyStep(seen, policy_state)


@pytest.mark.parametrize(
    ("entries", "observation", "seen"),
    [
        ({("goal",): 2}, {"observation": [1, 1], "goal": [5, 6]}, [5, 6]),
        ({("observation",): 2}, {"observation": [1, 2], "goal": [5, 6]}, [1, 2]),
        ({("observation",): 1, ("goal",): 1}, {"observation": 1, "goal": 5}, [1, 5]),
        ({("observation",): 1, ("position",): 1}, {"observation": [3, 4]}, [3, 4]),
        (  # of envs.load: its position is that of the physics
            {("observation",): 1, ("position",): 1},
            {"observation": [3, 4], "position": [3, 4], "velocity": []},
            [3, 4],
        ),
        ({(0,): 1, (1,): 1}, ([7], [8]), [7, 8]),
        ({}, {"observation": [1, 2]}, [1, 2]),
        ({("a",): 2}, np.array([1, 2]), [1, 2]),
    ],
)
def test_chosen_entries_are_taken_and_no_others(entries, observation, seen):
    told = types.SimpleNamespace(
        entries=entries, images={}, actions=make_actions(-np.ones(1), np.ones(1))
    )
    spec = tf.TensorSpec([2], tf.float32)
    agent = LoadedAgent(Sum(Clock(), spec), Clock(), told)
    assert agent.act(observation).tolist() == seen


def test_an_image_as_the_run_saw_it_is_left_where_the_environment_gives_floats():
    space = gymnasium.spaces.Box(0.0, 1.0, [32, 32, 3])
    told = types.SimpleNamespace(
        entries={},
        images={"observation": ((), as_image(space))},
        actions=make_actions(-np.ones(1), np.ones(1)),
    )
    agent = LoadedAgent(
        Bright(Clock(), tf.TensorSpec([32, 32, 3], tf.uint8)), Clock(), told
    )
    assert agent.act(np.full([32, 32, 3], 7, np.uint8)).tolist() == [7, 7]
    assert agent.act(np.ones([32, 32, 3])).tolist() == [255, 255]


@pytest.mark.slow
def test_all_parts_of_a_step_are_in_its_row(run):
    episode = EpisodeStore(f"{run.folder}/episodes").read(1)
    row = np.arange(11)
    np.testing.assert_array_equal(episode["observation"], np.stack([row, row], axis=1))
    for name, brightness in (("image_wrist", 20 * row), ("image_front", 25.5 * row)):
        shape = (11, SIZE, SIZE, 3 if name == "image_front" else 1)
        expected = np.broadcast_to(np.round(brightness)[:, None, None, None], shape)
        np.testing.assert_allclose(episode[name].astype(int), expected, atol=1)


@pytest.mark.slow
@pytest.mark.usefixtures("eagerly")
def test_it_learns_is_judged_and_films_each_camera(run):
    rows = read_metrics(run.folder)
    assert [row["environment_steps"] for row in rows] == [10, 20]
    assert np.isfinite(rows[-1]["train/image_loss"])
    assert rows[-1]["evaluate/return"] == 10.0
    assert main(["evaluate", str(run.folder), "--episodes", "1"]) == 0
    files = {path.name for path in run.folder.glob("videos/*")}
    for name in ("image_front.gif", "image_wrist.gif", "image_front_strip.png"):
        assert f"open_loop_20_{name}" in files
    assert "open_loop_20.png" in files


@pytest.mark.slow
@pytest.mark.usefixtures("eagerly")
def test_a_loaded_agent_acts_on_what_an_environment_gives(run):
    agent = agents.load(run)
    seen = envs.load(TASK, "auto", image_size=SIZE).reset().observation
    agent.reset()
    action = agent.act(seen)
    assert action.shape == (1,)
    again = agents.load(run)
    again.reset()
    own, _ = Arm().reset()
    assert again.act(own) == pytest.approx(action)
    for wrong in (seen["observation"], seen["image_front"], None):
        with pytest.raises(
            ValueError, match="a dict with observation, image_front, .*got n"
        ):
            agent.act(wrong)
    with pytest.raises(ValueError, match="it lacks image_front"):
        agent.act({name: seen[name] for name in ("observation", "image_wrist")})
    with pytest.raises(ValueError, match="image_wrist must have shape .32, 32, 1., got"):
        agent.act(seen | {"image_wrist": seen["image_front"]})


@pytest.mark.slow
def test_an_exported_policy_acts_on_them_too(run, tmp_path, capsys):
    folder = tmp_path / "policy"
    assert main(["export", str(run.folder), "--out", str(folder)]) == 0
    words = "beside it image_front uint8 [1, 32, 32, 3], image_wrist uint8 [1, 32, 32, 1]"
    assert words in capsys.readouterr().out
    told = json.loads((folder / "interface.json").read_text())["observation"]
    assert told["images"] == {"image_front": [32, 32, 3], "image_wrist": [32, 32, 1]}
    policy = tf.saved_model.load(str(folder))
    seen = envs.load(TASK, "auto", image_size=SIZE).reset().observation
    parts = {
        name: tf.constant(seen[name][None]) for name in ("observation", *told["images"])
    }
    step = ts.TimeStep(tf.constant([0]), tf.zeros([1]), tf.ones([1]), parts)
    agent = agents.load(run)
    action = policy.action(step, policy.get_initial_state()).action
    np.testing.assert_allclose(action[0], agent.act(seen), atol=1e-5)


@pytest.mark.slow
def test_such_a_run_goes_on(run, tmp_path):
    folder = shutil.copytree(run.folder, tmp_path / "run")
    words = f"{WORDS} logdir={folder} task={TASK}"
    again = agents.train(f"{words} environment_steps=30")
    assert list(again.metrics["environment_steps"]) == [10, 20, 30]
    assert np.isfinite(again.metrics["train/image_loss"].iloc[-1])


@pytest.mark.slow
def test_logs_of_such_a_run_are_learned_from(run, tmp_path):
    words = [*WORDS.split(), f"task={TASK}", f"logdir={tmp_path / 'run'}"]
    words += ["evaluation.every_steps=0", "video_every_steps=0"]
    assert main(["learn", str(run.folder), *words]) == 0
    assert np.isfinite(read_metrics(tmp_path / "run")[-1]["train/image_loss"])


@pytest.mark.slow
def test_they_are_learned_from_without_their_task_too(run, tmp_path):
    words = [*WORDS.split(), "task=logged", f"logdir={tmp_path / 'run'}"]
    words = [word for word in words if not word.startswith(("observation", "image.size"))]
    words += ["evaluation.every_steps=0", "video_every_steps=0"]
    assert main(["learn", str(run.folder), *words]) == 0
    assert np.isfinite(read_metrics(tmp_path / "run")[-1]["train/image_loss"])


@pytest.mark.slow
def test_logs_without_an_image_of_the_task_are_refused(run, tmp_path, capsys):
    store = EpisodeStore(f"{run.folder}/episodes")
    episode = store.read(0) | {}
    del episode["image_wrist"]
    logs = EpisodeStore(tmp_path / "logs")
    logs.append(episode)
    words = [*WORDS.split(), f"task={TASK}", f"logdir={tmp_path / 'run'}"]
    assert main(["learn", str(tmp_path / "logs"), *words]) == 2
    told = capsys.readouterr().err
    assert f"lacks image_wrist, which task={TASK} observes" in told
    logs.append(store.read(1))
    logs.append(episode)
    words += ["task=logged", "evaluation.every_steps=0", "video_every_steps=0"]
    assert main(["learn", str(tmp_path / "logs"), *words]) == 2
    told = capsys.readouterr().err
    assert "is observation, image_front, image_wrist; must be observation, image_f" in told


def test_images_need_a_word(tmp_path):
    words = f"{WORDS} logdir={tmp_path} task={TASK} observation=state"
    with pytest.raises(UserError, match="observes wrist: .*, an image: observation=auto"):
        agents.train(words)

"""Tests of agents.training.measurements; a whole run is in trainer/test_trainer.py."""

import contextlib
import types

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from agents.episodes.evaluation import Evaluator
from agents.episodes.rewards import Found
from agents.episodes.store import EpisodeStore
from agents.training.measurements import (
    Measurements,
    banner,
    discounted_return,
    release,
    resident_mib,
    show,
    value_report,
)
from agents.training.passing import Passed
from agents.training.trackers.log import MetricsLog
from bayes_rl.weights import hold, mean_weights
from envs.actions import make_actions


@pytest.fixture(scope="module")
def agent(build_agent):
    return build_agent()


@pytest.fixture
def watch(make_config, agent, whole_run, tmp_path):
    """Makes a watcher of the episodes of a run, after so many episodes and train steps."""

    def make(*words, episodes, train_steps):
        config = make_config(*words)
        agent.clock.episodes.assign(episodes)
        agent.train_step_counter.assign(train_steps)
        store = EpisodeStore(whole_run / "episodes")
        watched = (agent, store, Evaluator(config, agent))
        return Measurements(*watched, tmp_path / "videos", config)

    return make


@pytest.mark.parametrize(
    ("passed", "is_last", "due"),
    [
        (Passed(60, 80), False, True),
        (Passed(79, 99), False, True),
        (Passed(80, 100), False, False),
        (Passed(80, 100), True, True),
    ],
)
def test_evaluation_is_due_every_so_many_steps_and_at_the_end(watch, passed, is_last, due):
    words = ["evaluation={every_steps: 40, episodes: 1}"]
    watcher = watch(*words, episodes=4, train_steps=1)
    assert watcher.evaluation_is_due(passed, is_last) == due


@pytest.mark.parametrize(("every", "train_steps"), [(0, 1), (40, 0)])
def test_what_has_not_learned_or_is_not_to_be_is_not_evaluated(watch, every, train_steps):
    words = [f"evaluation={{every_steps: {every}, episodes: 1}}"]
    watcher = watch(*words, episodes=4, train_steps=train_steps)
    assert not watcher.evaluation_is_due(Passed(60, 80), is_last=True)


def test_probes_wait_for_six_episodes_and_for_learning(watch):
    words = ["probe_every_steps=20"]
    passed = Passed(100, 120)
    assert watch(*words, episodes=5, train_steps=1).probed(passed) == {}
    assert watch(*words, episodes=6, train_steps=0).probed(passed) == {}
    watcher = watch(*words, episodes=6, train_steps=1)
    assert watcher.probed(Passed(100, 119)) == {}
    assert "probe/velocity_0" in watcher.probed(passed)


def test_a_film_is_made_when_it_is_due(watch, whole_run, tmp_path):
    episode = EpisodeStore(whole_run / "episodes").read(0)
    watcher = watch("video_every_steps=80", episodes=4, train_steps=1)
    watcher.film(episode, Passed(40, 60))
    assert not (tmp_path / "videos").exists()
    watcher.film(episode, Passed(60, 80))
    assert [file.suffix for file in (tmp_path / "videos").iterdir()] == [".png"]


def test_exploration_is_told_of_random_episodes_too(watch, whole_run):
    episode = EpisodeStore(whole_run / "episodes").read(0)
    watcher = watch(episodes=1, train_steps=0)
    watcher.see(episode)
    told = watcher.explored(episode, Found(2, 3))
    assert 0 < told["explore/coverage"] <= 1
    assert (told["explore/rewarded_steps"], told["explore/reached_reward"]) == (5, True)
    assert set(told) == {
        "explore/cost",
        "explore/coverage",
        "explore/is_random",
        "explore/reached_reward",
        "explore/rewarded_steps",
    }


def test_an_episode_tells_whether_it_is_random(watch, whole_run):
    store, watcher = EpisodeStore(whole_run / "episodes"), watch(episodes=7, train_steps=0)
    told = [watcher.explored(store.read(index), Found(0, 0)) for index in (0, 1, 2)]
    assert [row["explore/is_random"] for row in told] == [True, True, False]
    earlier = {k: v for k, v in store.read(0).items() if k != "is_random"}
    assert "explore/is_random" not in watcher.explored(earlier, Found(0, 0))


def test_the_beta_of_a_bonus_is_the_one_that_plans_are_scored_by(
    watch, build_agent, monkeypatch
):
    words = ["value=td", "explore=information_gain", "explore.critic=true"]
    critical = build_agent(*words, "explore.beta_rate=0.5")
    critical.value.explorer._shift.assign(1.0)
    watcher = watch(episodes=1, train_steps=0)
    monkeypatch.setattr(watcher, "_agent", critical)
    assert watcher.next_bonus() == {"explore/beta": pytest.approx(0.05 * np.e)}


def test_a_strategy_without_a_bonus_tells_of_none(watch):
    assert watch(episodes=1, train_steps=0).next_bonus() == {}


def test_task_without_a_grid_is_said_to_have_no_coverage(make_config, agent, environment):
    assert "coverage" not in banner(make_config(), agent, environment)
    said = banner(make_config("task=humanoid_walk"), agent, environment)
    assert "no grid for this task" in said["coverage"]


def test_order_of_an_observation_is_said(make_config, agent, environment):
    config = make_config()
    assert "observation" not in banner(config, agent, environment)
    entries = {("joints",): 6, ("target", 0): 3}
    own = types.SimpleNamespace(
        action_repeat=1, entries=entries, actions=environment.actions
    )
    said = banner(config, agent, own)["observation"]
    assert said == "joints 6, target/0 3, in this order"


@pytest.mark.parametrize(("stddev", "is_said"), [(0.15, True), (1.0, False)])
def test_a_likelihood_of_numbers_is_told_of_for_images(
    make_config, make_model, agent, environment, stddev, is_said
):
    words = [f"world_model.observation_stddev={stddev}", "world_model.image_depth=2"]
    seeing = types.SimpleNamespace(
        model=make_model(*words, image_size=32), policies=agent.policies
    )
    said = banner(make_config(*words), seeing, environment)
    assert ("world_model=pixels" in said.get("images", "")) == is_said
    assert "images" not in banner(make_config(*words), agent, environment)


def test_actions_without_bounds_are_said_with_what_they_stand_for(
    make_config, agent, environment
):
    assert "actions" not in banner(make_config(), agent, environment)
    free = make_actions(np.full(1, -np.inf), np.full(1, np.inf))
    own = types.SimpleNamespace(action_repeat=1, entries={}, actions=free)
    said = banner(make_config(), agent, own)["actions"]
    assert said.startswith("without bounds: -1 and 1 stand for -1 and 1 in entry 0 (act")


def test_films_are_shown_in_tensorboard(tmp_path):
    image = Image.fromarray(np.zeros([8, 8, 3], np.uint8))
    image.save(tmp_path / "a.png")
    image.save(tmp_path / "a.gif", save_all=True, append_images=[image])
    with contextlib.closing(MetricsLog(tmp_path)) as metrics:
        show([tmp_path / "a.png", tmp_path / "a.gif", tmp_path / "a.mp4"], metrics, 7)
    (events,) = (tmp_path / "tensorboard").iterdir()
    text = events.read_bytes()
    assert b"open_loop/figure" in text
    assert b"open_loop/video" in text


def test_memory_that_is_freed_is_given_back():
    pieces = [np.ones(1000) for _ in range(20_000)]  # 153 MiB in small pieces
    held = resident_mib()
    cycle = [pieces]
    cycle.append(cycle)
    del pieces, cycle
    release(collect=True)
    assert held - resident_mib() > 100


SEED = tf.constant([3, 4])


class Fixed:
    """Critics that say what they are told to, and keep the features they are asked of."""

    discount = 0.5

    def __init__(self, *values):
        self._values = values
        self.asked = []

    def value(self, features):
        self.asked.append(features)
        return tf.constant(self._values)[:, tf.newaxis]


@pytest.fixture(scope="module")
def episodes(make_episodes):
    return make_episodes([[9.0, first, 0.0, 2.0, 0.0] for first in (1.0, 4.0)])


def test_discounted_return_leaves_out_the_reward_of_no_action():
    assert discounted_return([9.0, 1.0, 2.0, 4.0], 0.5) == 1.0 + 1.0 + 1.0
    assert discounted_return(np.array([9.0], np.float32), 0.5) == 0.0


def test_errors_of_episodes_do_not_cancel(model, episodes):
    # they return 1 + 2 / 4 and 4 + 2 / 4
    found = value_report(model, Fixed(2.5, 4.0), episodes, SEED)
    assert found == pytest.approx({"expected": 3.25, "returned": 3.0, "error": 0.75})


def test_critics_are_asked_of_the_latents_after_the_first_observations(model, episodes):
    critics = Fixed(0.0, 0.0)
    value_report(model, critics, episodes, SEED)
    (features,) = critics.asked
    first = tf.stack([episode["observation"][0] for episode in episodes])
    with hold(model, mean_weights(model)):
        expected = model.rssm.filter(
            model.rssm.initial(2),
            model.parts["observation"].encode(
                model.parts["observation"].preprocess(first, SEED)
            ),
            tf.zeros([2, 1]),
            tf.constant([True, True]),
            0.0,
        )
    np.testing.assert_allclose(features[:, 0], expected.features, rtol=1e-4, atol=1e-5)

"""Tests of agents.episodes.collecting."""

import functools

import numpy as np
import pytest
import tensorflow as tf
from tf_agents.policies import py_policy
from tf_agents.trajectories import policy_step

import envs
from agents.episodes.collecting import (
    Collector,
    RandomAtFirst,
    RandomPolicy,
    as_py_policy,
    first_episodes,
    record,
)
from agents.episodes.layout import agent_steps, environment_steps
from agents.system.errors import UserError
from envs.environment import Environment
from envs.simulations import rendering
from envs.simulations.fake import Line

STEP = tf.Variable(0, dtype=tf.int64)


@pytest.fixture
def pair():
    """Two fake environments of which no step was taken."""
    environment = envs.load_many(2, "fake", processes=False)
    yield environment
    environment.close()


def collect(environment, policy, times=1):
    """Pairs of environment number and episode."""
    finished = []
    collector = Collector(
        environment,
        policy,
        STEP,
        lambda episode, number: finished.append((number, episode)),
    )
    for _ in range(times):
        collector.collect()
    return finished


@pytest.mark.slow
@pytest.mark.parametrize("compiles", [True, False])
def test_what_xla_compiles_is_called_as_it_is_and_all_else_in_a_graph(
    build_agent, environment, compiles, monkeypatch
):
    """Within a graph XLA would compile it once more."""
    policy = build_agent(f"compile={str(compiles).lower()}").collect_policy
    state, was_eager = policy.get_initial_state(2), []

    def choose(time_step, policy_state):
        was_eager.append(tf.executing_eagerly())
        return tf.zeros([2, 1]), policy_state

    monkeypatch.setattr(policy, "_choose_by_strategy", choose)
    as_py_policy(policy).action(environment.reset(), state)
    assert was_eager == [compiles]


def test_each_environment_finishes_an_episode(pair):
    finished = collect(pair, RandomPolicy(pair, seed=0), times=2)
    assert sorted(number for number, _ in finished) == [0, 0, 1, 1]
    for _, episode in finished:
        assert len(episode["reward"]) == envs.load("fake").episode_length + 1
        np.testing.assert_array_equal(np.flatnonzero(episode["is_first"]), [0])


def test_first_episodes_stand_in_the_order_of_the_environments(pair):
    found = first_episodes(pair, RandomPolicy(pair, seed=0), STEP)
    for episode, seed in zip(found, envs.spread_seeds(0, 2), strict=True):
        start = envs.load("fake", seed=seed).reset().observation["position"]
        np.testing.assert_array_equal(episode["position"][0], start)


def test_some_of_many_environments_are_acted_in_as_all_would_be(pair):
    all_of_them = RandomPolicy(pair, seed=3, count=7).action(pair.reset()).action
    some = RandomPolicy(pair, seed=3, count=7, chosen=slice(4, 6))
    np.testing.assert_array_equal(some.action(pair.reset()).action, all_of_them[4:6])


def test_random_actions_are_uniform_and_differ_between_seeds(pair):
    first, second = (
        np.concatenate(
            [e["action"][1:] for _, e in collect(pair, RandomPolicy(pair, s), 3)]
        )
        for s in (0, 1)
    )
    for actions in (first, second):
        assert np.abs(actions).max() <= 1
        assert np.std(actions) == pytest.approx(3**-0.5, rel=0.2)
    assert not np.any(np.isin(first, second))


@pytest.fixture(scope="module")
def policy_of(build_agent):
    """Makes the policy of an agent, traced once for each number of environments."""
    quick = ["planner.horizon=1", "planner.iterations=1"]  # to trace
    agent = build_agent("explore=thompson", "action_noise.stddev=0.1", *quick)
    return functools.cache(lambda count: as_py_policy(agent.collect_policy))


@pytest.mark.slow
def test_an_agent_collects_what_its_policy_does(pair, policy_of):
    finished = collect(pair, policy_of(2))
    assert len(finished) == 2
    for _, episode in finished:
        assert not np.any(episode["action"][0])
        assert np.std(episode["action"][1:]) > 0


class Ragged(Line):
    """A line whose episodes end after 2 to 9 environment steps, as their seed says."""

    def reset(self, seed):
        super().reset(seed)
        self._left = int(np.random.default_rng(seed).integers(2, 10))

    def step(self, action):
        self._left -= 1
        reward, _, discount = super().step(action)
        return reward, self._left == 0, discount


def ragged(first_episodes, action_repeat=1):
    """Environments that share a sequence of episodes of unequal length."""
    settings = dict(observation="state", action_repeat=action_repeat, seed=3)
    environments = [
        Environment(Ragged(), **settings, first_episode=n, stride=len(first_episodes))
        for n in first_episodes
    ]
    return envs.batched(environments)


def lengths(count):
    """Environment steps of the episodes of `ragged`."""
    seeds = [3, *([3, number] for number in range(1, count))]
    return [int(np.random.default_rng(seed).integers(2, 10)) for seed in seeds]


def collect_by_number(policy_of, first_episodes, count, random=False):
    """The episodes of a sequence by their number, until `count` have ended."""
    environment, found = ragged(first_episodes), []
    policy = policy_of(len(first_episodes))
    policy = RandomAtFirst(policy, environment, lambda: random, 0, first_episodes)
    collector = Collector(
        environment, policy, STEP, lambda episode, _: found.append(episode)
    )
    while len(found) < count:
        before = len(found)
        collector.collect()
        assert len(found) > before
    numbers = [int(episode["number"]) for episode in found]
    assert len(set(numbers)) == len(numbers)
    return dict(zip(numbers, found, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("random", [False, True])
def test_which_environment_runs_an_episode_changes_nothing_of_it(policy_of, random):
    alone = collect_by_number(policy_of, [0], 9, random)
    assert list(alone) == list(range(9))
    together = collect_by_number(policy_of, [0, 1, 2], 7, random)
    assert list(together) != sorted(together), "none overtook another"
    both = set(alone) & set(together)
    assert len(both) >= 6
    for number in both:
        for key, rows in alone[number].items():
            np.testing.assert_allclose(together[number][key], rows, atol=1e-3)


def test_episodes_go_on_where_each_environment_was(policy_of):
    whole = collect_by_number(policy_of, [0, 1], 6)
    later = collect_by_number(policy_of, [4, 3], 3)
    assert set(later) <= {3, 4, 5, 6, 7, 8, 10, 12}
    for number in set(whole) & set(later):
        np.testing.assert_allclose(
            whole[number]["action"], later[number]["action"], atol=1e-3
        )


@pytest.mark.parametrize("action_repeat", [1, 3])
def test_physics_steps_are_those_taken(action_repeat):
    environment = ragged([0, 1], action_repeat)
    finished = collect(environment, RandomPolicy(environment, 0), times=8)
    for _, episode in finished:
        steps = lengths(20)[episode["number"]]
        assert environment_steps(episode, action_repeat) == steps
        assert agent_steps(episode) == -(-steps // action_repeat)


class Still(py_policy.PyPolicy):
    """Does nothing and counts episodes as an agent's policy does."""

    def __init__(self, environment):
        spec = {"next_episode": tf.TensorSpec([], tf.int64)}
        super().__init__(environment.time_step_spec(), environment.action_spec(), spec)

    def _get_initial_state(self, batch_size):
        return {"next_episode": np.arange(batch_size)}

    def _action(self, time_step, policy_state, seed=None):
        assert seed is None  # an agent's policy would be traced anew for each
        is_first = time_step.is_first()
        following = np.asarray(policy_state["next_episode"]) + len(is_first) * is_first
        action = np.zeros([len(is_first), 1], np.float32)
        return policy_step.PolicyStep(action, {"next_episode": following})


def random_episodes(environment, steps, seed, times):
    """Actions of the episodes that begin before so many steps were collected."""
    numbers, found, were_random = range(environment.batch_size), [], []
    policy = RandomAtFirst(
        Still(environment),
        environment,
        lambda: sum(environment_steps(each, 1) for each in found) < steps,
        seed,
        numbers,
    )

    def finished(episode, row):
        found.append(episode)
        were_random.append(policy.is_random[row])

    collector = Collector(environment, policy, STEP, finished)
    for _ in range(times):
        collector.collect()
    assert [bool(e["action"].any()) for e in found] == were_random
    return {e["number"]: e["action"][1:] for e in found if e["action"].any()}


def test_episodes_that_begin_within_the_first_steps_are_random():
    begun = np.cumsum([0, *lengths(12)])
    steps = int(begun[5])  # the first five begin before
    assert sorted(random_episodes(ragged([0]), steps, 0, times=9)) == [0, 1, 2, 3, 4]
    assert len(random_episodes(ragged([0]), steps + 1, 0, times=9)) == 6
    four = envs.load_many(4, "fake", processes=False, first_episodes=range(4))
    assert sorted(random_episodes(four, 100, 0, times=3)) == list(range(8))


def test_random_episodes_differ_and_depend_on_the_seed():
    first, again, other = (
        random_episodes(ragged([0, 1]), 20, seed, times=8) for seed in (0, 0, 1)
    )
    for number, actions in first.items():
        np.testing.assert_array_equal(actions, again[number])
        assert not np.any(np.isin(actions, other[number]))
    assert len({float(actions[0, 0]) for actions in first.values()}) == len(first)


RECORDING_STEP = tf.Variable(0, dtype=tf.int64)


def load(task, **settings):
    environment = envs.load_many(1, task, seed=3, processes=False, **settings)
    return environment, RandomPolicy(environment, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("observation", ["state", "pixels"])
def test_each_row_has_the_picture_of_the_simulator(observation):
    if rendering.choose() == "disabled":
        pytest.skip("neither EGL nor OSMesa loads: install libegl1 or libosmesa6")
    settings = {"observation": observation, "action_repeat": 200, "image_size": 32}
    found = record(*load("cartpole_swingup", **settings), RECORDING_STEP)
    again = load("cartpole_swingup", **settings)[0].envs[0]
    again.reset()
    for row, frame in enumerate(found.frames):
        if row:
            again.step(found.episode["action"][row])
        np.testing.assert_array_equal(frame, again.render(size=240))
    assert len(found.frames) == len(found.episode["reward"]) == 6
    assert found.seconds == pytest.approx(2)


@pytest.mark.slow
@pytest.mark.parametrize("task", ["fake", "gym:Pendulum-v1"])
def test_episode_is_the_same_without_pictures(task):
    found = record(*load(task), RECORDING_STEP)
    (expected,) = first_episodes(*load(task), RECORDING_STEP)
    for key, array in expected.items():
        np.testing.assert_array_equal(found.episode[key], array)
    assert found.frames.shape == (len(expected["reward"]), 240, 240, 3)


def test_pictures_of_an_episode_that_failed_are_left_out(monkeypatch):
    environment, policy = load("fake", give_up_after=2)
    step, steps = Line.step, []

    def failing(self, action):
        steps.append(action)
        if len(steps) == 3:
            raise envs.EnvironmentFailedError("the line broke")
        return step(self, action)

    monkeypatch.setattr(Line, "step", failing)
    found = record(environment, policy, RECORDING_STEP)
    assert found.episode["number"] == 1
    assert len(found.frames) == len(found.episode["reward"]) == 21


def test_where_nothing_can_be_drawn_the_error_is_one_line(monkeypatch):
    environment, policy = load("fake")
    closed = []

    def fail(**_):
        raise RuntimeError("pictures need\nEGL")

    monkeypatch.setattr(environment.envs[0], "render", fail)
    monkeypatch.setattr(environment, "close", lambda: closed.append(1))
    with pytest.raises(UserError, match="^pictures need EGL$"):
        record(environment, policy, RECORDING_STEP)
    assert closed

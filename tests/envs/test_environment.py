"""Tests of the environment around a simulation, mostly with the fake task."""

from unittest.mock import Mock

import numpy as np
import pytest
from tf_agents.environments import utils

import envs
from envs.environment import Environment


def play(environment, actions):
    """Rewards and observations of a list of actions, from a reset."""
    steps = [environment.reset(), *(environment.step(action) for action in actions)]
    return [step.reward for step in steps], [
        step.observation["observation"] for step in steps
    ]


@pytest.mark.parametrize(
    ("task", "observation"),
    [
        ("fake", "state"),
        ("fake", "position"),
        ("fake", "pixels"),
        ("cartpole_swingup", "state"),
        ("quadruped_fetch", "position"),
        ("gym:Pendulum-v1", "state"),
        ("gym:MountainCarContinuous-v0", "position"),
        ("gym:Pendulum-v1", "pixels"),
    ],
)
def test_specs_hold(task, observation):
    repeat = 50 if "_" in task else 4
    with envs.load(task, observation, action_repeat=repeat) as environment:
        utils.validate_py_environment(environment, episodes=2)


class Breaking:
    """A rod whose reward, or angle, is no number any more after two steps."""

    action_minimum, action_maximum = np.full(1, -1.0), np.full(1, 1.0)
    time_limit, timestep = 20, 0.1

    def __init__(self, name, value):
        self._name, self._value, self._steps = name, value, 0

    def reset(self, seed):
        self._steps = 0

    def step(self, action):
        self._steps += 1
        return self._if("reward"), False, 1.0

    def _if(self, name):
        return self._value if (self._name, self._steps) == (name, 3) else 0.5

    def position(self):
        return np.array([self._if("position")])

    def velocity(self):
        return np.array([self._if("velocity")])

    def state(self):
        return np.array([self._if("observation")])


@pytest.mark.parametrize("name", ["reward", "observation", "position", "velocity"])
@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_what_is_not_finite_ends_the_episode_and_is_named(name, value):
    environment = Environment(Breaking(name, value), "state", 1, seed=0)
    for _ in range(2):
        environment.reset()
        environment.step([0.0])
        environment.step([0.0])
    message = rf"{name} must be finite, got \[?{value}\]? after 3 steps of episode 1"
    with pytest.raises(envs.EnvironmentFailedError, match=message):
        environment.step([0.0])


class FailingIn(Breaking):
    """A rod of which some episodes, counted from the first reset, fail at their start."""

    def __init__(self, *episodes):
        super().__init__("none", 0.0)
        self._episodes, self.episode = episodes, -2  # the first reset is for the specs

    def reset(self, seed):
        super().reset(seed)
        self.episode += 1

    def step(self, action):
        if self.episode in self._episodes:
            raise envs.EnvironmentFailedError("the rod is broken")
        return super().step(action)


def test_an_episode_that_failed_is_left_out_for_the_next(caplog):
    environment = Environment(FailingIn(1, 2), "state", 1, seed=0, give_up_after=3)
    counted = []
    for _ in range(3):
        step = environment.step(np.zeros(1))  # the first of an episode
        while not step.is_last():
            step = environment.step(np.zeros(1))
        info = environment.get_info()
        counted.append([info["number"], info["failed_episodes"], info["environment_steps"]])
    assert counted == [[0, 0, 20], [3, 2, 20], [4, 0, 20]]
    told = [record.message for record in caplog.records]
    assert told[0] == "episode 1 failed and is left out: the rod is broken"
    assert len(told) == 2


def test_too_many_failed_episodes_in_a_row_are_an_error():
    environment = Environment(FailingIn(0, 1, 2), "state", 1, seed=0, give_up_after=3)
    environment.reset()
    for _ in range(2):
        assert environment.step(np.zeros(1)).is_first()
    message = "^3 episodes in a row have failed, the last with: the rod is broken$"
    with pytest.raises(envs.EnvironmentFailedError, match=message):
        environment.step(np.zeros(1))


def test_the_specs_are_of_the_first_start_that_does_not_fail():
    cold, rod = envs.EnvironmentFailedError("the rod is cold"), FailingIn()
    rod.reset(0)
    rod.reset = Mock(side_effect=[cold, cold, None, cold, cold, cold])
    environment = Environment(rod, "state", 1, seed=0, give_up_after=3)
    assert environment.observation_spec()["observation"].shape == (1,)
    assert environment.get_info()["failed_episodes"] == 0
    with pytest.raises(envs.EnvironmentFailedError, match="^the rod is cold$"):
        Environment(rod, "state", 1, seed=0, give_up_after=3)


def test_a_start_that_fails_is_a_failed_episode():
    rod = FailingIn()
    environment = Environment(rod, "state", 1, seed=0, give_up_after=2)

    def reset(seed):
        if rod.episode == -1:
            rod.episode = 0
            raise envs.EnvironmentFailedError("the rod is away")

    rod.reset = reset
    assert environment.reset().is_first()
    assert environment.get_info()["number"] == 1


def test_actions_are_bounded_by_one():
    for task in ("fake", "quadruped_walk", "lqr_lqr_2_1", "gym:Pendulum-v1"):
        spec = envs.load(task).action_spec()
        assert spec.dtype == np.float32
        np.testing.assert_array_equal(spec.minimum, -1.0)
        np.testing.assert_array_equal(spec.maximum, 1.0)


def test_actions_are_mapped_to_the_bounds_of_the_task():
    environment = envs.load("gym:Pendulum-v1")
    environment.reset()
    environment.step(np.array([0.75], np.float32))
    assert environment._simulation._env._env.unwrapped.last_u == pytest.approx(1.5)


def test_actions_beyond_the_bounds_are_clipped():
    first, second = envs.load("fake", seed=1), envs.load("fake", seed=1)
    assert play(first, [[3.0]])[0] == play(second, [[1.0]])[0]


class Taking(Breaking):
    """Remembers its action, of which parts are bounded on one side or on none."""

    action_minimum = np.array([5.0, -np.inf, -np.inf, 2.0, -7.0])
    action_maximum = np.array([np.inf, -0.5, np.inf, 4.0, np.inf])

    def step(self, action):
        self.action = action
        return super().step(action)


def test_actions_with_one_bound_are_moved_inside_where_it_is_narrower():
    environment = Environment(simulation := Taking("none", 0.0), "state", 1, seed=0)
    for given, expected in (
        ([-1.0, -0.75, -0.75, -1.0, -1.0], [5.0, -2.25, -0.75, 2.0, -1.0]),
        ([0.5, 1.0, 0.75, 0.5, 1.0], [6.5, -0.5, 0.75, 3.5, 1.0]),
    ):
        environment.reset()
        environment.step(np.array(given, np.float32))
        np.testing.assert_array_equal(simulation.action, expected)


class Battery(Taking):
    """Takes watts, of which parts have bounds that say there are none."""

    action_minimum = np.array([-5e6, 0.0, -1e10, -3.4028235e38])
    action_maximum = np.array([5e6, 2e6, 1e10, 3.4028235e38])


def test_large_bounds_are_kept_unless_they_say_that_there_are_none():
    environment = Environment(simulation := Battery("none", 0.0), "state", 1, seed=0)
    environment.reset()
    environment.step(np.ones(4, np.float32))
    np.testing.assert_array_equal(simulation.action, [5e6, 2e6, 1.0, 1.0])
    environment.step(-np.ones(4, np.float32))
    np.testing.assert_array_equal(simulation.action, [-5e6, 0.0, -1.0, -1.0])


@pytest.mark.parametrize(
    ("action", "message"), [([0.0, 0.0], "shape"), ([np.nan], "must be finite")]
)
def test_wrong_action_is_an_error(action, message):
    environment = envs.load("fake")
    environment.reset()
    with pytest.raises(ValueError, match=message):
        environment.step(np.array(action, np.float32))


def test_reward_is_the_sum_over_repeats():
    single = envs.load("fake", action_repeat=1, seed=2)
    repeated = envs.load("fake", action_repeat=4, seed=2)
    one_by_one, _ = play(single, [[0.5]] * 8)
    by_four, _ = play(repeated, [[0.5]] * 2)
    expected = np.reshape(one_by_one[1:], [2, 4]).sum(1)
    np.testing.assert_allclose(by_four[1:], expected, rtol=1e-6)


def test_action_cost_is_charged_for_every_repeat():
    free, paid = (envs.load("fake", action_repeat=3, action_cost=c) for c in (0.0, 0.1))
    difference = play(free, [[0.5]])[0][1] - play(paid, [[0.5]])[0][1]
    assert difference == pytest.approx(3 * 0.1 * 0.5**2, rel=1e-5)


def test_actions_cost_by_what_was_chosen_whatever_their_bounds_are():
    """Pendulum-v1 takes a torque of up to 2; its own reward is not asked for here."""
    environment = envs.load("gym:Pendulum-v1", action_repeat=1, action_cost=0.1)
    environment.reset()
    environment._simulation.step = lambda _: (0.0, False, 1.0)
    assert environment.step([1.0]).reward == pytest.approx(-0.1)


def test_costs_are_summed_step_by_step_whatever_reward_comes_beside_them():
    rewards = iter([0.5, -2.0, 3.0, -0.25])
    environment = envs.load("fake", action_repeat=2, action_cost=0.1)
    environment._simulation.step = lambda _: (next(rewards), False, 1.0)
    environment.reset()
    found = []
    for action in (1.0, 0.5):
        environment.step([action])
        found.append(float(environment.get_info()["cost"]))
    assert found == pytest.approx([2 * 0.1 + 2.0, 2 * 0.1 + 2.0 + 2 * 0.1 * 0.25 + 0.25])
    environment.reset()
    assert environment.get_info()["cost"] == 0


def test_episode_ends_within_a_repeat_with_discount_one():
    environment = envs.load("fake", action_repeat=8)
    environment.reset()
    steps = [environment.step([0.0]) for _ in range(3)]
    assert environment.episode_length == 3
    assert [bool(step.is_last()) for step in steps] == [False, False, True]
    assert steps[-1].discount == 1.0
    # 8, 8 and the remaining 4 environment steps of the same reward.
    assert steps[-1].reward == pytest.approx(steps[0].reward / 2, rel=1e-6)


def test_step_after_the_last_starts_an_episode():
    environment = envs.load("fake", action_repeat=20)
    environment.reset()
    assert environment.step([0.0]).is_last()
    after = environment.step([0.0])
    assert after.is_first()
    assert after.reward == 0.0


def starts(environment, count):
    return [environment.reset().observation["observation"] for _ in range(count)]


@pytest.mark.parametrize("task", ["fake", "cartpole_swingup", "gym:Pendulum-v1"])
def test_episodes_follow_from_the_seed(task):
    reference = starts(envs.load(task, seed=5), 4)
    environment = envs.load(task, seed=5)
    found = []
    for _ in range(4):
        found.append(environment.reset().observation["observation"])
        for _ in range(len(found)):  # what is done in an episode must not matter
            environment.step(np.zeros(environment.action_spec().shape))
    np.testing.assert_array_equal(found, reference)
    np.testing.assert_array_equal(
        starts(envs.load(task, seed=5, first_episode=2), 2), reference[2:]
    )
    assert len({start.tobytes() for start in reference}) == 4
    assert not np.array_equal(starts(envs.load(task, seed=6), 1), reference[:1])
    environment.seed(5)
    np.testing.assert_array_equal(starts(environment, 4), reference)


def test_observations_are_not_overwritten_later():
    environment = envs.load("fake", "pixels", seed=3)
    first = environment.reset().observation
    copies = {name: value.copy() for name, value in first.items()}
    environment.step([1.0])
    for name, value in first.items():
        np.testing.assert_array_equal(value, copies[name])


def test_close_twice_is_fine():
    environment = envs.load("fake")
    environment.close()
    environment.close()


@pytest.mark.parametrize(
    ("task", "seconds"),
    [
        ("cartpole_swingup", 8 * 0.01),
        ("walker_walk", 2 * 0.025),
        ("gym:Pendulum-v1", 0.05),
        ("gym:MountainCarContinuous-v0", 1 / 30),
        ("fake", 0.1),
    ],
)
def test_decision_takes_as_long_as_its_physics_steps(task, seconds):
    assert envs.load(task).seconds == pytest.approx(seconds)


def test_pictures_can_have_another_size():
    environment = envs.load("fake", image_size=32)
    environment.reset()
    assert environment.render().shape == (32, 32, 3)
    assert environment.render(size=48).shape == (48, 48, 3)


class Endless(Breaking):
    time_limit = None

    def __init__(self):
        super().__init__("none", 0.0)


def episode_lengths(environment, count):
    """Environment steps of the first episodes."""
    found = []
    while len(found) < count:
        if environment.step(np.zeros(1)).is_last():
            found.append(int(environment.get_info()["environment_steps"]))
    return found


@pytest.mark.parametrize("rod", [Endless(), Breaking("none", 0.0)])
def test_a_time_limit_cuts_episodes(rod):
    environment = Environment(rod, "state", action_repeat=3, seed=0, time_limit=7)
    assert environment.episode_length == 3
    assert episode_lengths(environment, 2) == [7, 7]
    assert environment.current_time_step().discount == 1.0


def test_a_time_limit_beyond_the_own_one_is_refused():
    with pytest.raises(ValueError, match="at most 20, the task's own, got 21"):
        envs.load("fake", time_limit=21)
    with pytest.raises(ValueError, match="time_limit must be an integer of at least 1"):
        envs.load("fake", time_limit=0)
    assert envs.load("fake", time_limit=20).episode_length == 20


def test_episodes_without_a_limit_are_cut_after_so_many_steps_of_all():
    environment = Environment(Endless(), "state", 2, seed=0, cut_after=7)
    assert episode_lengths(environment, 2) == [7, 7]
    limited = Environment(Breaking("none", 0.0), "state", 2, seed=0, cut_after=7)
    assert episode_lengths(limited, 1) == [20]


def test_an_episode_that_does_not_end_is_told_once(caplog):
    rod = Breaking("reward", 0.5)
    rod.time_limit = None
    environment = Environment(rod, "state", action_repeat=100, seed=1)
    environment.reset()
    for step in range(101):
        environment.step(np.zeros(1))
        assert len(caplog.records) == (step >= 99)
    assert "episode 0 has not ended after 10,000 environment steps" in caplog.text


@pytest.mark.parametrize("numbers", ["state", "position"])
def test_a_picture_beside_numbers_is_that_of_the_same_moment(numbers):
    both = envs.load("fake", f"pixels+{numbers}", seed=2, image_size=32)
    alone = (
        envs.load("fake", numbers, seed=2),
        envs.load("fake", "pixels", seed=2, image_size=32),
    )
    for move in (lambda each: each.reset(), lambda each: each.step([0.5])):
        seen, *expected = (move(each).observation for each in (both, *alone))
        for name, other in zip(("observation", "image_pixels"), expected, strict=True):
            np.testing.assert_array_equal(seen[name], other["observation"])

"""Tests of the tasks of the DeepMind Control Suite."""

import numpy as np
import pytest

import envs
from envs import tasks
from envs.quiet import without_deprecations
from envs.simulations import dm_control
from envs.simulations.dm_control import FENCE, import_suite

# Contact and joint forces depend on velocities, as any force does, but hold none.
FORCES = {"touch", "touch_sensors", "foot_forces", "force_torque"}


def load_raw(name, seed):
    found = tasks.check_task(name)
    with without_deprecations():
        return import_suite().load(
            found.domain, found.variant, task_kwargs={"random": seed}
        )


def flatten(observation):
    return np.concatenate([np.ravel(value) for value in observation.values()])


@pytest.mark.parametrize("name", ["cheetah_run", "cup_catch", "walker_walk"])
def test_first_episode_is_that_of_the_suite(name):
    environment, raw = envs.load(name, seed=7), load_raw(name, 7)
    step, raw_step = environment.reset(), raw.reset()
    random = np.random.default_rng(0)
    for _ in range(5):
        np.testing.assert_allclose(
            step.observation["observation"], flatten(raw_step.observation), rtol=1e-6
        )
        np.testing.assert_allclose(
            step.observation["position"], raw.physics.data.qpos, rtol=1e-6
        )
        np.testing.assert_allclose(
            step.observation["velocity"], raw.physics.data.qvel, rtol=1e-6
        )
        action = random.uniform(-1, 1, environment.action_spec().shape).astype(np.float32)
        step, total = environment.step(action), 0.0
        for _ in range(environment.action_repeat):
            raw_step = raw.step(action)
            total += raw_step.reward
        assert step.reward == pytest.approx(total, rel=1e-5, abs=1e-7)


def test_all_episodes_of_lqr_are_of_one_system():
    one, other = (dm_control.Physics("lqr", "lqr_2_1", seed)._env for seed in (1, 2))
    stiffness = one.physics.model.jnt_stiffness
    assert stiffness.all()
    np.testing.assert_array_equal(stiffness, other.physics.model.jnt_stiffness)


def positions(task, **factors):
    environment = envs.load(task, seed=3, **factors)
    random = np.random.default_rng(0)
    shape = environment.action_spec().shape
    steps = [environment.reset()]
    for _ in range(20):
        steps.append(environment.step(random.uniform(-1, 1, shape).astype(np.float32)))
    return np.array([step.observation["position"] for step in steps])


def test_twice_the_mass_moves_alike_by_twice_the_force_against_twice_the_friction():
    """M q'' = gain u - damping q' - M g: a common factor cancels."""
    usual = positions("cartpole_swingup")
    alike = positions("cartpole_swingup", mass=2.0, friction=2.0, gain=2.0)
    np.testing.assert_allclose(alike, usual, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("factor", ["mass", "friction", "gain"])
def test_one_factor_changes_the_motion_but_not_the_start(factor):
    usual, other = (positions("walker_walk", **factors) for factors in ({}, {factor: 2.0}))
    np.testing.assert_array_equal(other[0], usual[0])
    assert np.abs(other[-1] - usual[-1]).max() > 1e-3


def test_what_follows_from_masses_follows_them():
    one, two = (
        dm_control.Physics("walker", "walk", 0, mass=mass)._env.physics.model
        for mass in (1.0, 2.0)
    )
    np.testing.assert_allclose(two.body_subtreemass, 2.0 * one.body_subtreemass)


def test_twice_the_gain_is_twice_the_push():
    """From rest on a cart, before anything has moved: x'' is proportional to the force."""
    speeds = []
    for gain in (1.0, 2.0):
        physics = dm_control.Physics("cartpole", "swingup", 0, gain=gain)
        physics.reset(0)
        data = physics._env.physics
        with data.reset_context():
            data.data.qpos[:], data.data.qvel[:] = (0.0, np.pi), 0.0
        data.set_control([1.0])
        data.forward()
        speeds.append(data.data.qacc.copy())
    np.testing.assert_allclose(speeds[1], 2.0 * speeds[0], rtol=1e-6)


def test_episode_is_a_thousand_physics_steps():
    environment = envs.load("lqr_lqr_2_1", action_repeat=300)
    step, count = environment.reset(), 0
    while not step.is_last():
        step, count = environment.step([0.0]), count + 1
    assert count == environment.episode_length == 4
    assert step.discount == 1.0


# One size of dog is enough: its tasks observe the same, but for the ball of fetch.
OBSERVED = [
    name
    for name in tasks.dm_control_names()
    if name not in ("dog_walk", "dog_trot", "dog_run")
]


@pytest.mark.slow
@pytest.mark.parametrize("name", OBSERVED)
def test_position_does_not_change_with_velocity(name):
    if name == "quadruped_escape":
        name = "quadruped_run"  # escape draws even without pictures
    raw = load_raw(name, 0)
    raw.reset()
    domain, physics = tasks.check_task(name).domain, raw.physics

    def observe(speed):
        physics.data.qvel[:] = speed
        physics.forward()
        observation = raw.task.get_observation(physics)
        kept = dm_control.withhold(domain, observation)
        kept = {entry: np.array(kept[entry]) for entry in kept if entry not in FORCES}
        return flatten(kept), flatten(observation)

    slow, slow_all = observe(0.0)
    fast, fast_all = observe(np.random.default_rng(1).uniform(1, 2, physics.model.nv))
    np.testing.assert_array_equal(slow, fast)
    assert slow.size > 0
    assert not np.array_equal(slow_all, fast_all)


@pytest.mark.parametrize("domain", ["walker", "quadruped"])
def test_entries_are_the_parts_of_the_state_in_its_order(domain):
    physics = dm_control.Physics(domain, "walk", seed=0)
    physics.reset(0)
    seen = physics._time_step.observation
    assert list(physics.entries) == [(name,) for name in seen]
    parts = np.split(physics.state(), np.cumsum(list(physics.entries.values()))[:-1])
    for part, value in zip(parts, seen.values(), strict=True):
        np.testing.assert_array_equal(part, np.ravel(value))
    physics.close()


def test_withheld_entries():
    sizes = {
        name: envs.load(name, "position").observation_spec()["observation"].shape[0]
        for name in (
            "cartpole_swingup",
            "cheetah_run",
            "quadruped_fetch",
            "swimmer_swimmer6",
        )
    }
    # quadruped_fetch: 16 joints + 12 actuators + upright + 24 forces + 3 ball + 3 target.
    assert sizes == {
        "cartpole_swingup": 3,
        "cheetah_run": 8,
        "quadruped_fetch": 59,
        "swimmer_swimmer6": 7,
    }


def test_physics_that_become_invalid_are_a_failed_episode():
    environment = envs.load("cartpole_swingup")
    environment.reset()
    environment._simulation._env.physics.data.qvel[:] = 1e20
    message = "^task 'cartpole_swingup': step failed: PhysicsError: .*"
    with pytest.raises(envs.EnvironmentFailedError, match=message) as caught:
        environment.step(np.zeros(1))
    assert "\n" not in str(caught.value)
    environment.reset()
    environment.step(np.zeros(1))


@pytest.fixture(scope="module")
def pair():
    suite = import_suite()
    return [
        suite.load("cartpole", f"swingup{kind}", task_kwargs={"random": 0})
        for kind in ("_fenced", "")
    ]


@pytest.mark.parametrize("position", [-FENCE - 0.01, -FENCE + 0.01, 0.0, FENCE + 0.01])
@pytest.mark.parametrize("angle", [0.0, 2.0])
def test_behind_the_fence_the_reward_is_minus_one_and_else_that_of_swinging_up(
    pair, position, angle
):
    rewards = []
    for environment in pair:
        environment.reset()
        with environment.physics.reset_context():
            environment.physics.data.qpos[:] = position, angle
        environment.physics.after_reset()
        rewards.append(environment.task.get_reward(environment.physics))
    fenced, free = rewards
    assert 0 <= free <= 1
    assert fenced == (-1.0 if abs(position) > FENCE else free)


def test_the_cart_that_is_pushed_behind_the_fence_pays_and_the_episode_goes_on():
    environment = envs.load("cartpole_swingup_fenced")
    environment.reset()
    rewards = [float(environment.step([1.0]).reward) for _ in range(60)]
    assert min(rewards) == -environment.action_repeat
    assert rewards[0] > -1
    assert environment.episode_length == 125

"""Tests of agents.agent.policy."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf
from tf_agents.drivers import py_driver
from tf_agents.policies import py_tf_eager_policy
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import time_step as ts

from agents.agent.clock import Clock
from agents.agent.policy import PlanningPolicy
from agents.explore import Greedy, Thompson
from agents.explore.noise import GaussianNoise
from agents.model.latents import Latent
from agents.planning.planner import Plan
from bayes_rl.weights import hold, mean_weights, sample_weights
from tests.agents.presets import preset

ENVIRONMENTS = 2
NOISE = GaussianNoise(0.3, None, 0, False, 0.0)
PLANNER = preset("planner", "cem", horizon=3, candidates=6, elites=2, iterations=2)
ICEM = preset("planner", "icem", horizon=3, candidates=6, elites=4, iterations=2)
FIRST_TYPE, MID_TYPE = ts.StepType.FIRST, ts.StepType.MID


@dataclasses.dataclass(frozen=True)
class Spy:
    """Scores by the return, averaged over draws, and keeps the rollouts it was given."""

    draws: int = 2
    redraw: str = "episode"
    trajectories: str = "each"
    filter_with_draw: bool = False
    groups: int = 1
    rollouts: list = dataclasses.field(default_factory=list)

    def __call__(self, rollout, progress):
        self.rollouts.append((rollout, progress))
        return tf.reduce_mean(tf.reduce_sum(rollout.reward, -1), 0)


@dataclasses.dataclass(frozen=True)
class Idle:
    """Plans to do nothing, which takes no time."""

    common_noise = False

    def initial_state(self, batch_size, action_size):
        return ()

    def plan(self, score, state, shape, seed, proposals=None):
        return Plan(*[tf.zeros([*shape[:1], 3, 1])] * 2), state


@pytest.fixture
def clock():
    return Clock(total_steps=100)


@pytest.fixture
def make_policy(model, environment, clock):
    """Makes a policy for two fake environments."""

    def make(strategy=None, planner=PLANNER, noise=None, model=model):
        return PlanningPolicy(
            tensor_spec.from_spec(environment.time_step_spec()),
            tensor_spec.from_spec(environment.action_spec()),
            model,
            planner=planner,
            strategy=strategy or Greedy(),
            noise=noise,
            value=None,
            clock=clock,
            seed=[0, 1],
            name="policy",
        )

    return make


def observe(vectors, step_type=ts.StepType.MID):
    """A time step of two environments that see `vectors` [2, 2]."""
    types = np.broadcast_to(step_type, [ENVIRONMENTS])
    vectors = tf.constant(vectors, tf.float32)
    return ts.TimeStep(
        step_type=tf.constant(types, tf.int32),
        reward=tf.zeros([ENVIRONMENTS]),
        discount=tf.ones([ENVIRONMENTS]),
        observation={
            "observation": vectors,
            "position": vectors[:, :1],
            "velocity": vectors[:, 1:],
        },
    )


FIRST = observe([[0.3, 0.0], [-0.8, 0.0]], ts.StepType.FIRST)
MID = observe([[0.4, 0.1], [-0.7, 0.1]])


def run(policy, *time_steps):
    """The policy steps, one after another."""
    state = policy.get_initial_state(len(time_steps[0].reward))
    steps = []
    for time_step in time_steps:
        steps.append(policy.action(time_step, state))
        state = steps[-1].state
    return steps


@pytest.mark.parametrize(
    ("strategy", "planner"),
    [
        (Greedy(), PLANNER),
        (Thompson("episode", 1), ICEM),
        (Thompson("episode", 3), PLANNER),
        (Thompson("episode", 3), ICEM),
    ],
)
def test_actions_and_states_are_as_specified(make_policy, strategy, planner):
    policy = make_policy(strategy, planner, GaussianNoise(5.0, None, 0, False, 0.0))
    for step in run(policy, FIRST, MID):
        assert step.action.shape == (ENVIRONMENTS, 1)
        assert np.abs(step.action).max() <= 1
        tf.nest.map_structure(
            lambda spec, tensor: tf.debugging.assert_equal(
                spec.is_compatible_with(tensor[0]), True
            ),
            policy.policy_state_spec,
            step.state,
        )


def test_the_state_starts_anew_where_an_episode_does(make_policy):
    policy = make_policy(planner=ICEM)
    *_, last = run(policy, FIRST, MID)
    types = [ts.StepType.FIRST, ts.StepType.MID]
    mixed = policy.action(observe([[0.3, 0.0], [-0.6, 0.1]], types), last.state)
    np.testing.assert_array_equal(mixed.state["decision"], [1, 3])

    anew = policy.action(FIRST, policy.get_initial_state(ENVIRONMENTS)).state
    np.testing.assert_allclose(
        mixed.state["latent"]["belief"][0], anew["latent"]["belief"][0], rtol=1e-5
    )
    assert not np.allclose(mixed.state["latent"]["belief"][1], anew["latent"]["belief"][1])


def test_the_latent_is_filtered_by_the_mean_weights_with_the_executed_action(
    make_policy, model
):
    noise = GaussianNoise(0.5, None, 0, False, 0.0)
    first, second = run(make_policy(planner=Idle(), noise=noise), FIRST, MID)
    np.testing.assert_array_equal(first.state["action"], first.action)
    with hold(model, mean_weights(model)):
        expected = model.rssm.filter(
            Latent(**first.state["latent"]),
            model.encode(MID.observation["observation"]),
            first.action,
            tf.constant([False, False]),
            tf.zeros([ENVIRONMENTS, 3]),
        )
    latent = second.state["latent"]
    for name in ("belief", "mean", "stddev"):
        np.testing.assert_allclose(latent[name], getattr(expected, name), rtol=1e-4)
    assert np.abs(latent["sample"] - latent["mean"]).min() > 1e-4, "nothing was sampled"


def test_the_action_is_the_first_of_the_plan_and_noise_knows_its_spread(make_policy):
    class Fixed(Idle):
        def plan(self, score, state, shape, seed, proposals=None):
            actions = tf.constant([[[0.25], [1.0]], [[-0.5], [1.0]]])
            return Plan(actions, tf.constant([[[0.1], [9.0]], [[0.2], [9.0]]])), state

    def noise(action, steps, seed, spread, episode):
        del steps, seed, episode
        return action + spread

    (step,) = run(make_policy(planner=Fixed()), FIRST)
    np.testing.assert_array_equal(step.action, [[0.25], [-0.5]])
    (step,) = run(make_policy(planner=Fixed(), noise=noise), FIRST)
    np.testing.assert_allclose(step.action, [[0.35], [-0.3]])


def test_the_same_episode_is_acted_the_same(make_policy):
    first, again = (run(make_policy(noise=NOISE), FIRST, MID)[-1] for _ in range(2))
    tf.nest.map_structure(np.testing.assert_array_equal, first, again)


def test_episodes_and_decisions_have_numbers_of_their_own(make_policy, clock):
    policy = make_policy(noise=NOISE)
    for second_step in (MID, FIRST):
        first, second = run(policy, FIRST, second_step)
        assert not np.any(first.action == second.action)
    clock.episodes.assign(1)
    (later,) = run(policy, FIRST)
    assert not np.any(later.action == first.action)


def test_environments_side_by_side_have_episodes_of_their_own(make_policy, clock):
    def seeds(*time_steps):
        steps = run(make_policy(planner=Idle()), *time_steps)
        return [step.state["seed"].numpy() for step in steps]

    one_ends = observe(FIRST.observation["observation"], [MID_TYPE, FIRST_TYPE])
    *_, last = together = seeds(FIRST, one_ends, FIRST)
    assert together[1][0].tolist() == together[0][0].tolist()
    numbered = {0: together[0][0], 1: together[0][1], 3: together[1][1]}
    numbered |= {2: last[0], 5: last[1]}
    for number, seed in numbered.items():
        clock.episodes.assign(number)
        np.testing.assert_array_equal(seeds(FIRST)[0][0], seed)
    assert len({tuple(seed) for seed in numbered.values()}) == 5


def only(row, time_step):
    """What one environment sees."""
    return tf.nest.map_structure(lambda x: x[row : row + 1], time_step)


@pytest.mark.parametrize(
    ("strategy", "planner"),
    [
        (Greedy(), PLANNER),
        (Thompson("episode", 3), ICEM),
        (Spy(redraw="decision", trajectories="switching", filter_with_draw=True), ICEM),
    ],
    ids=["mean-cem", "groups-icem", "switching-icem"],
)
def test_an_episode_is_acted_alike_alone_and_beside_others(
    make_policy, clock, strategy, planner
):
    policy = make_policy(strategy, planner, GaussianNoise(0.1, None, 0, False, 0.0))
    together = run(policy, FIRST, MID)
    for row in range(ENVIRONMENTS):
        clock.episodes.assign(row)
        alone = run(policy, only(row, FIRST), only(row, MID))
        for one, all_of_them in zip(alone, together, strict=True):
            np.testing.assert_allclose(all_of_them.action[row], one.action[0], atol=1e-4)


def test_pictures_are_dequantized_alike_alone_and_beside_others(make_policy, make_model):
    seen = []
    model = make_model("world_model.image_depth=2", image_size=32)
    policy = make_policy(model=model, planner=Idle())
    pixels = tf.zeros([ENVIRONMENTS, 32, 32, 3], tf.uint8)
    first = FIRST._replace(observation=FIRST.observation | {"observation": pixels})
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(model, "encode", spy_on(model.encode, seen))
        run(policy, first)
        run(policy, only(0, first))
    together, alone = seen
    np.testing.assert_array_equal(together[:1], alone)
    assert not np.any(together[0] == together[1])


def spy_on(function, seen):
    """The function, which keeps what it is given."""

    def call(given):
        seen.append(given)
        return function(given)

    return call


def test_without_noise_the_action_is_that_of_the_plan(make_policy):
    quiet, noisy, silent = (
        run(make_policy(noise=noise), FIRST)[0].action.numpy()
        for noise in (None, NOISE, GaussianNoise(0.0, None, 0, False, 0.0))
    )
    np.testing.assert_array_equal(quiet, silent)
    assert not np.any(quiet == noisy)


def test_noise_follows_its_schedule(make_policy, clock):
    noise = GaussianNoise(0.3, 0.0, 10, False, 0.0)
    clock.environment_steps.assign(10)
    quiet, noisy = (
        run(make_policy(planner=Idle(), noise=n), FIRST)[0].action for n in (None, noise)
    )
    np.testing.assert_array_equal(quiet, noisy)


def means(spy):
    """Predicted latents [S, B, N, H, D] of each planner iteration."""
    return [rollout.mean.numpy() for rollout, _ in spy.rollouts]


def test_a_strategy_is_told_the_progress_of_the_run(make_policy, clock):
    spy = Spy()
    clock.environment_steps.assign(25)
    run(make_policy(spy), FIRST)
    assert {float(progress) for _, progress in spy.rollouts} == {0.25}


def test_each_purpose_of_a_decision_has_a_seed_of_its_own(make_policy, model, monkeypatch):
    seeds = {}

    class Planner(Idle):
        def plan(self, score, state, shape, seed, proposals=None):
            seeds["plan"] = seed
            return super().plan(score, state, shape, seed)

    def noise(action, steps, seed, spread, episode):
        seeds["noise"], seeds["noise of an episode"] = seed, episode[0]
        return action

    def preprocess(observation, seed):
        seeds["observation"] = seed
        return observation

    def normal(shape, seed):
        seeds["filter"] = seed
        return tf.zeros(shape)

    policy = make_policy(planner=Planner(), noise=noise)
    monkeypatch.setattr(model, "preprocess", preprocess)
    monkeypatch.setattr("agents.agent.policy.normal", normal)
    run(policy, FIRST)
    purposes = {"plan", "noise", "noise of an episode", "observation", "filter"}
    assert set(seeds) == purposes
    assert len({seed.numpy().tobytes() for seed in seeds.values()}) == len(seeds)


@pytest.mark.parametrize(
    ("trajectories", "rewards", "predictions", "redraw", "filter_with_draw"),
    [
        ("each", 2, 2, "episode", False),
        ("switching", 2, 2, "decision", True),
        ("shared", 1, 2, "decision", False),
        ("average", 1, 1, "episode", True),
    ],
)
def test_strategies_choose_how_draws_are_used(
    make_policy, trajectories, rewards, predictions, redraw, filter_with_draw
):
    spy = Spy(redraw=redraw, trajectories=trajectories, filter_with_draw=filter_with_draw)
    planner = preset("planner", "cem", horizon=3, candidates=6, elites=2, iterations=1)
    run(make_policy(spy, planner), FIRST, MID)
    for rollout, progress in spy.rollouts:
        assert rollout.reward.shape == (rewards, ENVIRONMENTS, 6, 3)
        assert rollout.mean.shape == (predictions, ENVIRONMENTS, 6, 3, 3)
        assert float(progress) == 0.0
    if predictions == 1:
        return
    for mean in means(spy):
        assert np.ptp(mean, axis=0).max() > 1e-3, "the draws agree"


def test_of_the_groups_the_plan_best_under_its_own_draw_is_acted_on(make_policy):
    spy = Spy(draws=3, trajectories="group", groups=3)
    planner = preset("planner", "icem", horizon=3, candidates=12, elites=4, iterations=2)
    (step,) = run(make_policy(spy, planner), FIRST)
    *searched, (last, _) = spy.rollouts
    assert [rollout.reward.shape[2] % 3 for rollout, _ in searched] == [0, 0]
    assert last.reward.shape == (1, ENVIRONMENTS, 3, 3)
    plans, _ = step.state["planner"]  # [B, S, H, A]
    best = np.argmax(np.sum(last.reward[0], axis=-1), axis=1)
    for number, group in enumerate(best):
        np.testing.assert_array_equal(step.action[number], plans[number, group, 0])


def seen_weights(monkeypatch, policy, *time_steps):
    """Seeds from which the policy draws weights, decision by decision."""
    seeds = []

    def spied(model, count, seed):
        seeds.append(tuple(seed.numpy()))
        return sample_weights(model, [count], seed)

    monkeypatch.setattr(policy._model.source, "draw", spied)
    run(policy, *time_steps)
    return [seeds[start : start + 2] for start in range(0, len(seeds), 2)]


def test_draws_of_an_episode_are_held_for_all_its_decisions(monkeypatch, make_policy):
    policy = make_policy(Spy(), planner=Idle())
    first, second = seen_weights(monkeypatch, policy, FIRST, MID)
    assert first == second
    assert first[0] != first[1], "environments share a draw"


def test_draws_of_decisions_change(monkeypatch, make_policy):
    policy = make_policy(Spy(redraw="decision"), planner=Idle())
    first, second = seen_weights(monkeypatch, policy, FIRST, MID)
    assert len({*first, *second}) == 4


def test_the_filter_uses_the_first_draw_where_asked(make_policy, model):
    spy = Spy(filter_with_draw=True)
    policy = make_policy(spy, planner=Idle())
    first, second = run(policy, FIRST, MID)
    for number in range(ENVIRONMENTS):
        draw = sample_weights(model, [2], first.state["seed"][number])
        with hold(model, {name: value[0] for name, value in draw.items()}):
            expected = model.rssm.filter(
                Latent(*(state[number][None] for state in first.state["latent"].values())),
                model.encode(MID.observation["observation"][number][None]),
                first.action[number][None],
                tf.constant([False]),
                tf.zeros([1, 3]),
            )
        found = second.state["latent"]["belief"][number]
        np.testing.assert_allclose(found, expected.belief[0], rtol=1e-4)


def test_with_common_noise_equal_plans_score_the_same(make_policy):
    @dataclasses.dataclass(frozen=True)
    class Twins(Idle):
        """Scores two equal plans and keeps the scores."""

        common_noise: bool
        scores: list = dataclasses.field(default_factory=list)

        def plan(self, score, state, shape, seed, proposals=None):
            self.scores.append(score(tf.zeros([ENVIRONMENTS, 2, 3, 1]), seed))
            return super().plan(score, state, shape, seed)

    for common_noise in (True, False):
        planner = Twins(common_noise)
        run(make_policy(planner=planner), FIRST)
        first, second = np.transpose(planner.scores[0])
        assert np.allclose(first, second) == common_noise


def test_draws_need_uncertain_weights(make_policy, make_model):
    message = "Spy draws weights: transition must not be deterministic"
    with pytest.raises(ValueError, match=message):
        make_policy(Spy(), model=make_model("transition=deterministic"))


def test_a_driver_runs_whole_episodes(make_policy, environment):
    trajectories = []
    policy = py_tf_eager_policy.PyTFEagerPolicy(
        make_policy(noise=NOISE), use_tf_function=True, batch_time_steps=False
    )
    driver = py_driver.PyDriver(
        environment, policy, [trajectories.append], max_episodes=ENVIRONMENTS
    )
    driver.run(environment.reset(), policy.get_initial_state(ENVIRONMENTS))
    actions = np.array([trajectory.action for trajectory in trajectories])
    assert len(actions) >= 20
    assert np.abs(actions).max() <= 1
    assert np.ptp(actions) > 0

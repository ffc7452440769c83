"""Tests of agents.planet.agent.policy: which random numbers are the same."""

import numpy as np
import pytest
import tensorflow as tf
from tf_agents.trajectories import time_step as ts

from agents.planet.action_space import BOX
from agents.planet.explore import Greedy, Thompson
from agents.planet.explore.noise import GaussianNoise
from tests.agents.planet.agent.policy.steps import (
    ENVIRONMENTS,
    FIRST,
    ICEM,
    MID,
    NOISE,
    PLANNER,
    Idle,
    Spy,
    observe,
    only,
    run,
)


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


@pytest.mark.parametrize("sharers", [1, 3])
def test_environments_side_by_side_have_episodes_of_their_own(make_policy, clock, sharers):
    def seeds(*time_steps):
        steps = run(make_policy(planner=Idle(), sharers=sharers), *time_steps)
        return [step.state["seed"].numpy() for step in steps]

    types = [ts.StepType.MID, ts.StepType.FIRST]
    one_ends = observe(FIRST.observation["observation"], types)
    *_, last = together = seeds(FIRST, one_ends, FIRST)
    assert together[1][0].tolist() == together[0][0].tolist()
    stride = 2 * sharers  # the others run the episodes between
    numbered = {0: together[0][0], 1: together[0][1], 1 + stride: together[1][1]}
    numbered |= {stride: last[0], 1 + 2 * stride: last[1]}
    for number, seed in numbered.items():
        clock.episodes.assign(number)
        np.testing.assert_array_equal(seeds(FIRST)[0][0], seed)
    assert len({tuple(seed) for seed in numbered.values()}) == 5


@pytest.mark.slow
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
        image = model.parts["observation"]
        monkeypatch.setattr(image, "encode", spy_on(image.encode, seen))
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


def test_each_purpose_of_a_decision_has_a_seed_of_its_own(make_policy, model, monkeypatch):
    seeds = {}

    class Planner(Idle):
        def plan(self, score, state, shape, seed, proposals=None, space=BOX):
            seeds["plan"] = seed
            return super().plan(score, state, shape, seed)

    def noise(action, steps, seed, spread, episode, space):
        seeds["noise"], seeds["noise of an episode"] = seed, episode[0]
        return action

    embed = model.embed

    def embed_by(observation, seed):
        seeds["observation"] = seed
        return embed(observation, seed)

    def normal(shape, seed):
        seeds["filter"] = seed
        return tf.zeros(shape)

    policy = make_policy(planner=Planner(), noise=noise)
    monkeypatch.setattr(model, "embed", embed_by)
    monkeypatch.setattr("agents.planet.agent.policy.normal", normal)
    run(policy, FIRST)
    purposes = {"plan", "noise", "noise of an episode", "observation", "filter"}
    assert set(seeds) == purposes
    assert len({seed.numpy().tobytes() for seed in seeds.values()}) == len(seeds)

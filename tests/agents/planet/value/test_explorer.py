"""Tests of agents.planet.value.explorer, on a chain whose values are known among others."""

import math

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.agent.optimizer import ValueOptimizer
from agents.planet.value.explorer import Explorer, Sought
from agents.planet.value.targets import Rows
from agents.system.seeds import fold, normal
from tests.agents.presets import preset

SEED = tf.constant([1, 2])
STATES, DISCOUNT, BETA = 4, 0.8, 0.5
GAIN = np.array([0.3, -0.3, 0.3])  # of the action, at each state but the last
SIZES = (STATES, 1, 1, 16)


def make(beta_rate=0.0, **settings):
    tf.random.set_seed(0)
    known = {"stride": 1, "entropy": 1e-3, "target_rate": 0.05, "discount": DISCOUNT}
    return Explorer(preset("value", "td", **known | settings), SIZES, beta_rate)


def chain():
    """Every step of a chain, as a sequence of two rows; its last state ends the episode."""
    state, action = (
        x.ravel() for x in np.meshgrid(range(STATES - 1), np.linspace(-1, 1, 5))
    )
    states = np.stack([state, state + 1], 1)
    batch = {
        "action": tf.constant(np.stack([0 * action, action], 1)[..., None], tf.float32),
        "is_first": tf.zeros(states.shape, tf.bool),
        "is_terminal": tf.constant(states == STATES - 1),
    }
    return batch, tf.one_hot(states, STATES)


def bonus(features, action):
    """3 + 10 GAIN of the state times the action."""
    gain = tf.constant([*GAIN, 0.0], tf.float32)
    return 3.0 + 10.0 * tf.linalg.matvec(features, gain) * action[..., 0]


def known_values():
    """Of the states before the last, the more novel action being taken in each."""
    to_next = np.eye(STATES - 1, k=1)
    best = 3.0 + 10.0 * np.abs(GAIN)
    return np.linalg.solve(np.eye(STATES - 1) - DISCOUNT * to_next, best)


def nothing(features, action):
    del action
    return tf.zeros_like(features[..., 0])


@pytest.fixture(scope="module")
def learned():
    """An explorer that learned the chain, where no reward is."""
    explorer = make()
    optimizer = ValueOptimizer(explorer.groups, learning_rate=5e-3, clip_norm=10.0)
    batch, features = chain()
    variables = sum(explorer.groups, ())

    def step(number):
        noise = normal([2, *batch["is_first"].shape, 1], fold(SEED, number))
        with tf.GradientTape() as tape:
            found, seen = explorer.losses(
                batch, features, noise, Sought(bonus, 1.0, 1.0), nothing, Rows(1)
            )
            loss = sum(tf.reduce_mean(found[name]) for name in explorer.loss_names)
        optimizer.apply(tape.gradient(loss, variables))
        explorer.follow(seen)
        return number + 1

    @tf.function(autograph=False)
    def learn():
        tf.while_loop(lambda number: number < 800, step, [0])

    learn()
    return explorer


def test_what_lies_ahead_of_a_state_is_the_discounted_sum_of_bonuses(learned):
    found = learned.value(tf.one_hot(range(STATES - 1), STATES))
    np.testing.assert_allclose(found, known_values(), rtol=0.05)


def test_what_is_learned_is_in_units_of_the_mean_bonus(learned):
    batch, features = chain()
    size = np.mean(bonus(features[:, 0], batch["action"][:, 1]))
    assert float(learned._size) == pytest.approx(size, rel=1e-3)


def test_the_explorer_takes_the_more_novel_action_of_each_state(learned):
    actions = learned.policy.mode(tf.one_hot(range(STATES - 1), STATES))[:, 0]
    assert np.min(actions * np.sign(GAIN)) > 0.8


def test_reward_outweighs_a_bonus_of_no_weight():
    """The gradient of the explorer's loss points to reward where beta is 0."""
    explorer, (batch, features) = make(), chain()
    noise = tf.zeros([2, *batch["is_first"].shape, 1])
    network = explorer.groups[1]
    with tf.GradientTape() as tape:
        found, _ = explorer.losses(
            batch,
            features,
            noise,
            Sought(bonus, 0.0, 1.0),
            lambda _, action: -5.0 * action[..., 0],
            Rows(1),
        )
        loss = tf.reduce_mean(found["explorer_loss"])
    bias = next(i for i, v in enumerate(network) if v.name == "bias_1:0")
    assert tape.gradient(loss, network)[bias][0, 0, 0] > 0  # lower actions, less loss


def shaken(explorer, seed=0):
    rng = np.random.default_rng(seed)
    for variable in explorer.trainable_variables:
        if variable.shape.rank:  # not the scales
            variable.assign_add(rng.normal(0.0, 0.4, variable.shape))
    return explorer


def test_losses_are_those_of_the_equations(make_batch, noise):
    explorer = shaken(make(target_steps=2, entropy=0.3, beta_rate=0.1))
    explorer._size.assign(2.0)
    explorer._spread.assign(4.0)
    rows, features, drawn = make_batch(6, 5), noise(6, 5, STATES), noise(2, 6, 5, 1)
    reward = lambda x, a: x[..., 0] * a[..., 0]  # noqa: E731
    sought = Sought(bonus, BETA, 0.7)
    found, seen = explorer.losses(rows, features, drawn, sought, reward, Rows(2))

    u = bonus(features[:, :-1], rows["action"][:, 1:]) / 2.0
    action, _ = explorer.policy.sample(features[:, 2:], drawn[0, :, 2:])
    slow = tf.reduce_min(explorer._slow(features[:, 2:], action), 0)
    is_first, ends = (np.array(rows[n], float) for n in ("is_first", "is_terminal"))
    goes_on = 1 - ends[:, 1:4]
    weight = (1 - is_first[:, 1:4]) * (1 - goes_on * is_first[:, 2:5])
    target = u[:, :3] + DISCOUNT * goes_on * u[:, 1:]
    target += DISCOUNT**2 * goes_on * (1 - ends[:, 2:5]) * slow
    values = explorer._critics(features[:, :3], rows["action"][:, 1:4])
    errors = np.sum((values - target) ** 2, 0)
    np.testing.assert_allclose(
        found["novelty_loss"], np.mean(weight * errors, 1), rtol=1e-4, atol=1e-5
    )

    here = features[:, :3]
    action, log_density = explorer.policy.sample(here, drawn[1, :, :3])
    best = np.min(explorer._critics(here, action), 0)
    loss = 0.3 * log_density - 0.7 * reward(here, action) - BETA * best / 4.0
    np.testing.assert_allclose(found["explorer_loss"], np.mean(loss, 1), rtol=1e-4)
    slow_action, _ = explorer._slow_policy.sample(here, drawn[1, :, :3])
    lead = bonus(here, slow_action) - bonus(here, action)
    np.testing.assert_allclose(seen["lead"], lead, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found["beta"], [BETA] * 6, rtol=1e-6)
    assert {*found} == set(explorer.metric_names)


def test_slow_copies_and_scales_follow():
    explorer = shaken(make(target_rate=0.1))
    pairs = [
        (explorer._slow, explorer._critics),
        (explorer._slow_policy, explorer.policy),
    ]
    before = [[v.numpy() for v in slow.variables] for slow, _ in pairs]
    novelty = tf.random.shuffle(tf.linspace(0.0, 10.0, 21))  # 9 from 0.05 to 0.95
    explorer.follow({"novelty": novelty, "bonus": tf.fill([2, 3], -4.0)})
    for olds, (slow, fast) in zip(before, pairs, strict=True):
        assert olds
        for old, now, goal in zip(olds, slow.variables, fast.variables, strict=True):
            np.testing.assert_allclose(now, 0.9 * old + 0.1 * goal, rtol=1e-5, atol=1e-6)
    assert float(explorer._spread) == pytest.approx(1.0 + 0.01 * 8.0)
    assert float(explorer._size) == pytest.approx(4.0)


@pytest.mark.parametrize("lead", [0.3, -0.3])
def test_beta_rises_while_the_slow_copy_gains_more(lead):
    explorer = make(beta_rate=0.1)
    seen = {"novelty": tf.ones([2, 3]), "bonus": tf.fill([2, 3], -2.0)}
    explorer.follow(seen | {"lead": tf.fill([2, 3], lead)})
    assert float(explorer.beta(7.0)) == pytest.approx(7.0 * math.exp(0.1 * lead / 2.0))
    for _ in range(3):
        explorer.follow(seen | {"lead": tf.fill([2, 3], 1e4 * lead)})
    limit = 7.0 * 100.0 ** np.sign(lead)
    assert float(explorer.beta(7.0)) == pytest.approx(limit, rel=1e-4)
    assert float(explorer.beta(0.0)) == 0.0, "a bonus that rests was tuned awake"


def test_a_beta_that_is_not_tuned_is_the_scheduled_one():
    assert make().beta(7.0) == 7.0

"""Tests of agents.planet.value.actor_critic, on a chain whose values are known."""

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.agent.optimizer import ValueOptimizer
from agents.planet.model.rssm import Latent
from agents.planet.value.actor_critic import ActorCritic
from agents.planet.value.targets import Rows, n_step_targets
from agents.system.seeds import fold, normal
from bayes_rl.weights import hold, mean_weights
from tests.agents.presets import preset

SEED = tf.constant([1, 2])
STATES, DISCOUNT, REPEAT = 4, 0.8, 2
GAIN = np.array([0.3, -0.3, 0.3])  # of the action, at each state but the last
SMALL = {"discount": DISCOUNT, "layers": 1, "units": 8, "stride": 1, "proposals": 4}


def make(features=STATES, seed=0, **settings):
    tf.random.set_seed(seed)
    settings = preset("value", "td", **(SMALL | settings))
    return ActorCritic(settings, features, 1, lambda: REPEAT)


def moves():
    """Every step of a chain as a sequence of two rows, and its features.

    Each state leads to the next one, of which the last ends the episode with reward 1.
    Actions bring `GAIN` of the state besides. Two sequences more run into another episode,
    with a reward that misleads.
    """
    state, action = (
        x.ravel() for x in np.meshgrid(range(STATES - 1), np.linspace(-1, 1, 5))
    )
    reward = (state == STATES - 2) + GAIN[state] * action
    crosses = np.arange(len(state) + 2) >= len(state)
    state, action = np.append(state, [0, 1]), np.append(action, [1.0, -1.0])
    reward = np.append(reward, [50.0, 50.0])
    states = np.stack([state, np.where(crosses, 2, state + 1)], 1)
    batch = {
        "action": tf.constant(np.stack([0 * action, action], 1)[..., None], tf.float32),
        "reward": tf.constant(REPEAT * np.stack([0 * reward, reward], 1), tf.float32),
        "is_first": tf.constant(np.stack([np.full(crosses.shape, False), crosses], 1)),
        "is_terminal": tf.constant(states == STATES - 1),
    }
    return batch, tf.one_hot(states, STATES)


def known_values():
    """Values of the states before the last, the best action being taken in each."""
    to_next = np.eye(STATES - 1, k=1)
    reward = np.abs(GAIN) + np.eye(STATES - 1)[-1]
    return np.linalg.solve(np.eye(STATES - 1) - DISCOUNT * to_next, reward)


@pytest.fixture(scope="module", params=[False, True], ids=["", "centered"])
def learned(request):
    """Critics and policy that learned the chain."""
    value = make(units=32, entropy=1e-3, target_rate=0.05, centered=request.param)
    optimizer = ValueOptimizer(value.groups, learning_rate=3e-3, clip_norm=10.0)
    batch, features = moves()

    def step(number):
        noise = normal([2, *batch["reward"].shape, 1], fold(SEED, number))
        with tf.GradientTape() as tape:
            found, values = value.losses(batch, features, noise)
            means = {name: tf.reduce_mean(found[name]) for name in found}
            loss = sum(means[name] for name in value.loss_names)
        optimizer.apply(tape.gradient(loss, value.trainable_variables))
        value.follow(values)
        return number + 1

    @tf.function(autograph=False)
    def learn():
        tf.while_loop(lambda number: number < 800, step, [0])

    learn()
    return value


def test_critics_learn_the_values_of_a_chain(learned):
    features, best = tf.one_hot(range(STATES - 1), STATES), np.sign(GAIN)
    for action in (best, 0.0 * best, -best):
        found = learned._critics(features, tf.constant(action[:, None], tf.float32))
        expected = known_values() - GAIN * (best - action)
        np.testing.assert_allclose(found, [expected] * 2, atol=0.06)
    np.testing.assert_allclose(
        learned.value(features), REPEAT * known_values(), atol=2 * 0.06
    )


def test_the_policy_takes_the_better_action_of_each_state(learned):
    actions = learned.act(tf.one_hot(range(STATES - 1), STATES))[:, 0]
    assert np.min(actions * np.sign(GAIN)) > 0.8


@pytest.fixture
def batch(make_batch, noise):
    """Six sequences of five steps and their features."""
    return make_batch(6, 5), noise(6, 5, STATES, seed=7)


def shaken(value, seed=0):
    rng = np.random.default_rng(seed)
    for variable in value.trainable_variables:
        variable.assign_add(rng.normal(0.0, 0.4, variable.shape))
    return value


def test_losses_are_those_of_the_equations(batch, noise):
    value = shaken(make(target_steps=2, entropy=0.3))
    value._scale.assign(2.0)
    value._slow.follow(shaken(make(), seed=5)._critics, rate=1.0)
    (rows, features), drawn = batch, noise(2, 6, 5, 1)
    found, values = value.losses(rows, features, drawn)

    later, _ = value._policy.sample(features[:, 2:], drawn[0, :, 2:])
    slow = tf.reduce_min(value._slow(features[:, 2:], later), 0)
    rewards = [rows["reward"][:, 1:4] / REPEAT, rows["reward"][:, 2:5] / REPEAT]
    target, weight = n_step_targets(rows, rewards, slow, DISCOUNT, Rows(2))
    assert 0 < np.mean(weight) < 1
    first, second = value._critics(features[:, :3], rows["action"][:, 1:4])
    errors = (first - target) ** 2 + (second - target) ** 2
    np.testing.assert_allclose(
        found["value_loss"], np.mean(weight * errors, 1), rtol=1e-4, atol=1e-6
    )

    action, log_density = value._policy.sample(features[:, :3], drawn[1, :, :3])
    best = np.min(value._critics(features[:, :3], action), 0)
    np.testing.assert_allclose(
        found["policy_loss"], np.mean(0.3 * log_density - best / 2.0, 1), rtol=1e-4
    )
    np.testing.assert_allclose(found["value_mean"], best.mean(1), rtol=1e-4)
    np.testing.assert_allclose(found["policy_entropy"], -np.mean(log_density, 1), 1e-4)
    np.testing.assert_allclose(values["value"], best, rtol=1e-5)
    assert {*found, "value_spread"} == set(value.metric_names)


def test_only_steps_of_the_stride_are_learned_from(batch, noise):
    rows, features = batch
    dense, sparse = (shaken(make(stride=stride)) for stride in (1, 2))
    for theirs, mine in zip(sparse.variables, dense.variables, strict=True):
        theirs.assign(mine)
    sparse._slow.follow(sparse._critics, rate=1.0)
    drawn = noise(2, 6, 5, 1)
    expected, _ = sparse.losses(rows, features, drawn)
    # the state that step 0 leads to, and where step 1 starts
    changed = tf.tensor_scatter_nd_add(features, [[0, 1]], [[9.0] * STATES])
    found, _ = sparse.losses(rows, changed, drawn)
    assert found["value_loss"][0] != expected["value_loss"][0]
    np.testing.assert_array_equal(found["policy_loss"], expected["policy_loss"])
    both = [dense.losses(rows, each, drawn)[0] for each in (features, changed)]
    assert both[0]["policy_loss"][0] != both[1]["policy_loss"][0]


def gradients_of(name, value, batch, noise):
    """Of critics, of the policy and of the features, by one loss."""
    rows, features = batch
    with tf.GradientTape() as tape:
        tape.watch(features)
        loss = value.losses(rows, features, noise(2, 6, 5, 1))[0][name]
    critics, policy = value.groups
    return tape.gradient(loss, (critics, policy, features))


def test_each_loss_moves_its_own_networks_alone_and_never_the_features(batch, noise):
    value = shaken(make())
    critics, policy, features = gradients_of("value_loss", value, batch, noise)
    assert all(np.abs(each).max() > 0 for each in critics)
    assert all(each is None for each in (*policy, features))
    critics, policy, features = gradients_of("policy_loss", value, batch, noise)
    assert all(np.abs(each).max() > 0 for each in policy)
    assert all(each is None for each in (*critics, features))
    slow = {id(variable) for variable in value._slow.variables}
    assert not slow & {id(variable) for variable in value.trainable_variables}


def test_slow_critics_and_scale_follow():
    value = shaken(make(target_rate=0.1))
    before = [variable.numpy() for variable in value._slow.variables]
    far = tf.constant(np.append(np.linspace(0.0, 4.0, 19), [-99.0, 99.0]), tf.float32)
    assert float(value.follow({"value": tf.random.shuffle(far)})) == pytest.approx(4.0)
    for old, now, goal in zip(
        before, value._slow.variables, value._critics.variables, strict=True
    ):
        np.testing.assert_allclose(now, 0.9 * old + 0.1 * goal, rtol=1e-5, atol=1e-6)
    assert float(value._scale) == pytest.approx(1.0 + 0.01 * 3.0)
    value._scale.assign(0.0501)
    value.follow({"value": tf.ones([6, 2])})
    assert float(value._scale) == pytest.approx(0.05)


def test_centered_critics_know_at_once_what_the_mean_reward_is_worth(noise):
    value, updates = make(centered=True), 50
    batch, features = moves()
    _, seen = value.losses(batch, features, noise(2, *batch["reward"].shape, 1))
    for _ in range(updates):
        value.follow(seen)
    goes_on = ~batch["is_first"][:, 1]
    mean = np.mean(batch["reward"][:, 1][goes_on]) * (1.0 - 0.99**updates)
    found = value.value(tf.one_hot(range(STATES), STATES))
    np.testing.assert_allclose(found, [mean / (1.0 - DISCOUNT)] * STATES, rtol=1e-4)


def test_what_critics_are_centered_by_changes_no_loss(batch, noise):
    """It may stand in the biases of their last layers as well."""
    plain, centered = (shaken(make(centered=which)) for which in (False, True))
    centered._mean_reward.assign(0.3)
    for critics in plain._critics, plain._slow:
        bias = [x for x in critics.trainable_variables if "bias" in x.name][-1]
        bias.assign_add(0.3 / (1.0 - DISCOUNT) * tf.ones_like(bias))
    given = *batch, noise(2, 6, 5, 1, seed=8)
    found, expected = (value.losses(*given)[0] for value in (centered, plain))
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-4, err_msg=name)


def test_slow_critics_start_as_the_critics_are():
    value = make()
    for slow, fast in zip(value._slow.variables, value._critics.variables, strict=True):
        np.testing.assert_allclose(slow, fast, rtol=1e-6, atol=1e-7)


def test_a_state_is_worth_the_mean_of_both_critics_in_rewards_of_a_decision(noise):
    value, features = shaken(make()), noise(3, 7, STATES)
    first, second = value._critics(features, value.act(features))
    np.testing.assert_allclose(
        value.value(features), REPEAT * (first + second) / 2, rtol=1e-4, atol=1e-6
    )


@pytest.fixture(scope="module")
def start(noise):
    return Latent(noise(2, 6), noise(2, 3), tf.ones([2, 3]), noise(2, 3, seed=1))


def propose(value, model, start, seed):
    with hold(model, mean_weights(model)):
        return value.propose(model, start, 3, seed).numpy()


def test_the_first_proposal_follows_the_modes_and_the_others_differ(model, start):
    value = shaken(make(features=9))
    plans = propose(value, model, start, tf.constant([0, 1]))
    assert plans.shape == (2, 4, 3, 1)
    now = start
    with hold(model, mean_weights(model)):
        for step in range(3):
            action = value.act(now.features)
            np.testing.assert_allclose(plans[:, 0, step], action, rtol=1e-3, atol=1e-5)
            now = model.rssm.imagine_step(now, action, 0.0)
    assert len(np.unique(plans[0].round(6), axis=0)) == 4
    again = propose(value, model, start, tf.constant([0, 2]))
    np.testing.assert_array_equal(again[:, 0], plans[:, 0])
    assert np.all(np.any(again[:, 1:] != plans[:, 1:], (2, 3)))


@pytest.mark.parametrize("latents", ["means", "samples"])
def test_proposals_pass_through_means_of_latents_where_they_are_asked_for(
    model, start, monkeypatch, latents
):
    value, noises, imagine_step = shaken(make(features=9)), [], model.rssm.imagine_step

    def keep(latent, action, noise):
        noises.append(noise)
        return imagine_step(latent, action, noise)

    monkeypatch.setattr(model.rssm, "imagine_step", keep)
    with hold(model, mean_weights(model)):
        plans = value.propose(model, start, 3, tf.constant([0, 1]), latents=latents)
    drawn = np.stack(noises)[:, :, 1:]  # the first proposal never draws
    assert np.all(drawn == 0) if latents == "means" else np.all(drawn != 0)
    assert len(np.unique(plans[0].numpy().round(6), axis=0)) == 4


def test_environments_are_proposed_plans_by_seeds_of_their_own(model, start):
    value, seeds = shaken(make(features=9)), tf.constant([[0, 1], [5, 6]])
    together = propose(value, model, start, seeds)
    for row in range(2):
        one = tf.nest.map_structure(lambda x, row=row: x[row : row + 1], start)
        alone = propose(value, model, one, seeds[row : row + 1])
        np.testing.assert_allclose(together[row], alone[0], rtol=1e-3, atol=1e-5)


def test_what_counts_is_the_reward_in_its_unit(make_config):
    """Rewards ten times as large in a unit ten times as large teach the same."""
    settings = make_config("value.units=4").value
    rng = np.random.default_rng(0)
    features = tf.constant(rng.normal(size=[2, 6, 4]), tf.float32)
    noise = tf.constant(rng.normal(size=[2, 2, 6, 1]), tf.float32)
    batch = {
        "action": tf.zeros([2, 6, 1]),
        "is_first": tf.zeros([2, 6], tf.bool),
        "is_terminal": tf.zeros([2, 6], tf.bool),
    }
    found, worth = [], []
    for unit in (3.0, 30.0):
        tf.random.set_seed(0)
        value = ActorCritic(settings, 4, 1, lambda: unit)  # noqa: B023
        for variable in value.trainable_variables:
            variable.assign_add(0.1 * tf.ones_like(variable))
        losses, _ = value.losses(
            batch | {"reward": unit * noise[0, ..., 0]}, features, noise
        )
        found.append(losses["value_loss"].numpy())
        worth.append(value.value(features).numpy())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)
    np.testing.assert_allclose(10.0 * worth[0], worth[1], rtol=1e-5)


@pytest.mark.parametrize("goes_on", [0.0, 0.5])
def test_draws_say_what_an_action_in_a_target_brings(noise, goes_on):
    """Its rewards are those that draws expect; slow critics say what comes after them."""
    value = make(target_draws=3, pessimism=0.5, target_steps=1)
    value._slow.follow(shaken(make(), seed=5)._critics, rate=1.0)
    reward = np.array([1.0, 2.0, 6.0]) * REPEAT
    asked = []

    def expect(features, action):
        asked.append((features.shape, action.shape))
        shape = [3, *features.shape[:2]]
        expected = tf.broadcast_to(tf.constant(reward, tf.float32)[:, None, None], shape)
        return tf.zeros([*shape, STATES]), expected, tf.fill(shape, goes_on)

    batch = {
        "action": tf.zeros([1, 4, 1]),
        "reward": tf.zeros([1, 4]),
        "is_first": tf.zeros([1, 4], bool),
        "is_terminal": tf.zeros([1, 4], bool),
    }
    features = tf.zeros([1, 4, STATES])
    losses, _ = value.losses(batch, features, noise(2, 1, 4, 1), expect=expect)
    there = tf.zeros([1, STATES])
    later = np.min(value._slow(there, value.act(there)))
    target = 3.0 + DISCOUNT * goes_on * later - 0.5 * np.std([1.0, 2.0, 6.0])
    target *= DISCOUNT
    values = value._critics(features[:, :1], batch["action"][:, :1]).numpy()
    expected = np.sum((values - target) ** 2)
    assert float(losses["value_loss"][0]) == pytest.approx(expected, rel=1e-5)
    assert asked == [((1, 3, STATES), (1, 3, 1))]

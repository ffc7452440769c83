"""Tests of critics and policies of categories, on a chain whose values are known."""

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.action_space import Categories
from agents.planet.agent.optimizer import ValueOptimizer
from agents.planet.model.rssm import Latent
from agents.planet.value.actor_critic import ActorCritic
from agents.planet.value.networks import OneHotCategories
from agents.system.seeds import fold, normal
from tests.agents.presets import preset

SEED, DISCOUNT, STATES = tf.constant([1, 2]), 0.8, 4
SPACES = {"one part": [3], "two parts": [3, 2]}
SMALL = {"discount": DISCOUNT, "layers": 1, "units": 32, "stride": 1, "proposals": 4}


def make(categories, features=STATES, **settings):
    tf.random.set_seed(0)
    settings = preset("value", "td", **(SMALL | settings))
    sizes = features, sum(categories), lambda: 1.0
    return ActorCritic(settings, *sizes, space=Categories(categories))


def shaken(module):
    rng = np.random.default_rng(0)
    for variable in module.trainable_variables:
        variable.assign_add(rng.normal(0.0, 0.4, variable.shape))
    return module


def one_hot(choices, categories):
    vectors = [np.eye(n)[c] for c, n in zip(choices.T, categories, strict=True)]
    return np.concatenate(vectors, -1).astype(np.float32)


def best_choices(categories):
    """The best of each part in each state but the last, [states, parts]."""
    states = np.arange(STATES - 1)
    return np.stack([(states + part) % n for part, n in enumerate(categories)], -1)


def moves(categories):
    """Every action in every state of a chain as a sequence of two rows, and its features.

    Each part brings reward 1 if it chooses the best category, else 0; the last state ends
    the episode.
    """
    grid = np.meshgrid(range(STATES - 1), *map(range, categories), indexing="ij")
    state, *choices = (x.ravel() for x in grid)
    choices = np.stack(choices, -1)
    reward = np.sum(choices == best_choices(categories)[state], -1)
    action = one_hot(choices, categories)
    states = np.stack([state, state + 1], 1)
    batch = {
        "action": tf.constant(np.stack([0 * action, action], 1)),
        "reward": tf.constant(np.stack([0 * reward, reward], 1), tf.float32),
        "is_first": tf.zeros(states.shape, tf.bool),
        "is_terminal": tf.constant(states == STATES - 1),
    }
    return batch, tf.one_hot(states, STATES)


@pytest.mark.parametrize("categories", SPACES.values(), ids=SPACES)
def test_values_and_best_choices_of_a_chain_are_learned(categories):
    value = make(categories, entropy=1e-3, target_rate=0.05)
    optimizer = ValueOptimizer(value.groups, learning_rate=3e-3, clip_norm=10.0)
    batch, features = moves(categories)

    def step(number):
        noise = normal([2, *batch["action"].shape], fold(SEED, number))
        with tf.GradientTape() as tape:
            found, values = value.losses(batch, features, noise)
            loss = sum(tf.reduce_mean(found[name]) for name in value.loss_names)
        optimizer.apply(tape.gradient(loss, value.trainable_variables))
        value.follow(values)
        return number + 1

    @tf.function(autograph=False)
    def learn():
        tf.while_loop(lambda number: number < 800, step, [0])

    learn()
    seen = tf.one_hot(range(STATES - 1), STATES)
    expected = one_hot(best_choices(categories), categories)
    np.testing.assert_array_equal(value.act(seen), expected)
    # 1 % of a policy is uniform, which costs some of each later reward.
    known = len(categories) * np.array([1 + 0.8 + 0.64, 1 + 0.8, 1.0])
    np.testing.assert_allclose(value.value(seen), known, atol=0.1)


def test_a_policy_is_a_softmax_of_each_part_one_hundredth_of_it_uniform(noise):
    categories = SPACES["two parts"]
    policy = shaken(OneHotCategories(4, Categories(categories), layers=1, units=8))
    features = noise(2, 3, 4)
    logits = policy._network(tf.reshape(features, [6, 4]))[0]
    soft = [tf.nn.softmax(part).numpy() for part in tf.split(logits, categories, -1)]
    p = [0.99 * part + 0.01 / part.shape[-1] for part in soft]
    entropy = -sum(np.sum(part * np.log(part), -1) for part in p)
    action, log_density = policy.sample(features, tf.zeros([2, 3, 5]))
    np.testing.assert_allclose(log_density, -entropy.reshape(2, 3), rtol=1e-4)
    np.testing.assert_array_equal(action, policy.mode(features))
    weights = tf.constant([1.0, 2.0, 3.0, 10.0, 20.0])
    mean, same = policy.expect(
        lambda _, action: tf.linalg.matvec(action, weights), features, noise(2, 3, 5)
    )
    np.testing.assert_array_equal(same, log_density)
    # Each part's exact mean, the other part as drawn: between the least and the greatest.
    assert np.all((mean > 11) & (mean < 23))


def test_gradients_reach_the_policy_by_its_loss_alone(noise, make_batch):
    categories = SPACES["two parts"]
    value = shaken(make(categories))
    rows = make_batch(3, 5) | {"action": tf.one_hot(tf.zeros([3, 5], tf.int32), 5)}
    for name, moved in (("value_loss", 0), ("policy_loss", 1)):
        with tf.GradientTape() as tape:
            loss = value.losses(rows, noise(3, 5, STATES), noise(2, 3, 5, 5))[0][name]
        gradients = tape.gradient(loss, value.groups)
        assert all(np.abs(each).max() > 0 for each in gradients[moved])
        assert all(each is None for each in gradients[1 - moved])


class Steps:
    """A model that adds each action to the latent, which has as many numbers."""

    @property
    def rssm(self):
        return self

    def imagine_step(self, latent, action, noise):
        return latent._replace(sample=latent.sample + action + noise)


def test_proposals_are_one_hot_and_the_first_follows_the_modes(noise):
    model, value = Steps(), shaken(make([3], features=9))
    start = Latent(noise(2, 6), noise(2, 3), tf.ones([2, 3]), noise(2, 3, seed=1))
    plans = value.propose(model, start, 3, tf.constant([0, 1])).numpy()
    assert plans.shape == (2, 4, 3, 3)
    np.testing.assert_array_equal(np.unique(np.sort(plans, -1)[..., :2]), [0])
    np.testing.assert_array_equal(plans.sum(-1), 1)
    now = start
    for step in range(3):
        np.testing.assert_array_equal(plans[:, 0, step], value.act(now.features))
        now = model.imagine_step(now, value.act(now.features), 0.0)

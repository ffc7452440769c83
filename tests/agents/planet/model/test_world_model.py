"""Tests of agents.planet.model.world_model; losses against scipy's closed forms."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf
from scipy import stats

from agents.planet.model.rssm import Latent
from agents.planet.model.world_model import overshooting_losses
from agents.system.seeds import fold
from bayes_rl.weights import hold, mean_weights, named_signs, sample_weights
from envs.simulations.fake import EDGE, REACH

SEED = tf.constant([1, 2])


def with_mean_weights(model, function):
    with hold(model, mean_weights(model)):
        return tf.nest.map_structure(lambda x: x.numpy(), function())


def pieces(model, batch, noise):
    """Observation, its decoded mean, mean reward, posterior and prior, as numpy arrays."""

    def compute():
        observation = model.parts["observation"].preprocess(batch["observation"], SEED)
        posterior, prior = model.rssm.observe(
            model.parts["observation"].encode(observation),
            batch["action"],
            batch["is_first"],
            noise,
        )
        features = posterior.features
        decoded, reward = (
            model.parts["observation"].decode(features),
            model.reward(features),
        )
        return observation, decoded, reward, posterior, prior

    return with_mean_weights(model, compute)


def losses(model, batch, noise):
    return with_mean_weights(model, lambda: model.losses(batch, noise, SEED)[:2])


def normal_kl(mean, stddev, other_mean, other_stddev):
    """KL(N(mean, stddev) || N(other_mean, other_stddev)), summed over the last axis."""
    ratio = (stddev / other_stddev) ** 2
    distance = ((mean - other_mean) / other_stddev) ** 2
    return 0.5 * np.sum(ratio + distance - 1 - np.log(ratio), axis=-1)


@pytest.fixture(scope="module")
def scaled(make_model):
    """A model in which every scale differs from 1 and free nats cut some steps."""
    model = make_model(
        "world_model.observation_stddev=0.7",
        "world_model.reward_scale=3.0",
        "world_model.free_nats=1.3",
        "world_model.kl_scale=2.0",
        "world_model.global_kl_scale=0.1",
        "task=fake_ending",
        "world_model.continuation_scale=4.0",
    )
    rng = np.random.default_rng(0)
    for variable in model.variables:  # so that posterior and prior differ
        if "posterior" in variable.name:
            variable.assign_add(rng.normal(0, 0.3, variable.shape))
    return model


@pytest.fixture(scope="module")
def computed(scaled, make_batch, noise):
    """Losses, diagnostics, the pieces they are made of, and the batch."""
    batch, normal = make_batch(), noise(3, 5, 3)
    return *losses(scaled, batch, normal), pieces(scaled, batch, normal), batch


def test_observation_loss_is_the_log_probability_summed_over_dimensions(computed):
    found, _, (observation, decoded, *_), _ = computed
    log_prob = stats.norm(decoded, 0.7).logpdf(observation).sum(-1)
    np.testing.assert_allclose(found["observation_loss"], -log_prob.mean(1), rtol=1e-5)


def test_reward_loss_is_that_of_unit_variance_times_its_scale(computed):
    found, _, (_, _, reward, *_), batch = computed
    log_prob = stats.norm(reward, 1).logpdf(batch["reward"])
    np.testing.assert_allclose(found["reward_loss"], -3.0 * log_prob.mean(1), rtol=1e-5)


def test_continuation_loss_is_that_of_a_bernoulli_times_its_scale(computed, scaled):
    found, _, (*_, posterior, _), batch = computed
    goes_on = scaled.continuation(posterior.features).numpy()
    is_terminal = batch["is_terminal"].numpy()
    assert 0 < is_terminal.mean() < 1
    log_prob = stats.bernoulli(goes_on).logpmf(~is_terminal)
    np.testing.assert_allclose(found["continuation_loss"], -4.0 * log_prob.mean(1), 1e-5)


def test_only_where_episodes_can_end_there_is_a_continuation_head(make_model, noise):
    model, endless = make_model("task=fake_ending"), make_model("task=fake")
    off = make_model("task=fake_ending", "world_model.continuation_scale=0")
    assert len(model.variables) > len(endless.variables) == len(off.variables)
    features = noise(2, 3, 9)
    assert (endless.continuation(features).numpy() == np.ones([2, 3])).all()
    probabilities = model.continuation(features).numpy()
    assert ((probabilities > 0) & (probabilities < 1)).all()


def test_the_continuation_head_leaves_the_other_initial_values(make_model):
    model, endless = make_model("task=fake_ending"), make_model("task=fake")
    own = {id(variable) for variable in model._continuation.variables}
    others = [variable for variable in model.variables if id(variable) not in own]
    for mine, theirs in zip(others, endless.variables, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_free_nats_are_taken_off_each_step_before_averaging(computed):
    found, diagnostics, (*_, posterior, prior), _ = computed
    kl = normal_kl(posterior.mean, posterior.stddev, prior.mean, prior.stddev)
    assert kl.min() < 1.3 < kl.max(), "no step is cut, or all are"
    expected = 2.0 * np.maximum(0, kl - 1.3).mean(1)
    np.testing.assert_allclose(found["latent_loss"], expected, rtol=1e-4)
    np.testing.assert_allclose(diagnostics["latent_kl"], kl.mean(1), rtol=1e-4)


def test_global_loss_is_the_kl_from_a_standard_normal(computed):
    found, _, (*_, posterior, _), _ = computed
    kl = normal_kl(posterior.mean, posterior.stddev, 0.0, 1.0)
    np.testing.assert_allclose(found["global_loss"], 0.1 * kl.mean(1), rtol=1e-4)


def test_losses_are_those_that_are_named(computed, scaled):
    assert set(computed[0]) == set(scaled.loss_names)


def test_losses_that_are_off_are_not_computed(model):
    assert model.loss_names == ["observation_loss", "reward_loss", "latent_loss"]


def test_examples_do_not_mix(scaled, make_batch, noise, computed):
    batch = {name: value[1:2] for name, value in make_batch().items()}
    alone, _ = losses(scaled, batch, noise(3, 5, 3)[1:2])
    for name, value in alone.items():
        np.testing.assert_allclose(value, computed[0][name][1:2], rtol=1e-4, atol=1e-6)


@pytest.fixture(scope="module")
def mixed(make_model):
    words = "world_model.image_depth=2", "world_model.observation_stddev=0.7"
    return make_model(*words, beside={"image_eye": (32, 1), "image_arm": (64, 3)})


@pytest.fixture(scope="module")
def mixed_batch(make_batch):
    rng = np.random.default_rng(1)
    shapes = {"image_eye": [3, 5, 32, 32, 1], "image_arm": [3, 5, 64, 64, 3]}
    images = {
        name: tf.constant(rng.integers(0, 256, shape, np.uint8))
        for name, shape in shapes.items()
    }
    return make_batch() | images


def test_each_image_beside_a_vector_counts_as_20_numbers(mixed, mixed_batch, noise):
    noise = noise(3, 5, mixed.rssm.latent_size)

    def compute():
        found = mixed.losses(mixed_batch, noise, SEED)
        features = found[2]
        each = []
        for number, name in enumerate(["image_arm", "image_eye"]):
            part = mixed.parts[name]
            seen = part.preprocess(mixed_batch[name], fold(SEED, number))
            each.append((part.decode(features), seen))
        return found, each

    (found, _, _), each = with_mean_weights(mixed, compute)
    expected = sum(
        20 * -stats.norm.logpdf(seen, decoded, 0.7).mean((1, 2, 3, 4))
        for decoded, seen in each
    )
    np.testing.assert_allclose(found["image_loss"], expected, rtol=1e-4)
    assert "image_loss" in mixed.loss_names


def test_images_without_a_vector_count_by_all_their_pixels(make_model, make_batch, noise):
    words = "world_model.image_depth=2", "world_model.observation_stddev=0.7"
    model = make_model(*words, image_size=32, beside={"image_eye": (32, 3)})
    pixels = tf.zeros([3, 5, 32, 32, 3], tf.uint8)
    batch = make_batch() | {"observation": pixels, "image_eye": pixels}
    found, _ = losses(model, batch, noise(3, 5, 3))
    ratio = found["image_loss"] / found["observation_loss"]
    np.testing.assert_allclose(ratio, 1.0, rtol=0.1)


@pytest.mark.parametrize("name", ["observation", "image_eye", "image_arm"])
def test_what_is_inferred_depends_on_each_part(mixed, mixed_batch, name):
    other = mixed_batch | {name: tf.reverse(mixed_batch[name], [1])}
    one, two = (mixed.embed(batch, SEED).numpy() for batch in (mixed_batch, other))
    assert np.abs(one - two).max() > 1e-3


def test_heads_take_any_number_of_leading_axes(model, noise):
    features = noise(2, 3, 4, 9)
    np.testing.assert_allclose(
        model.reward(features)[1, 2], model.reward(features[1, 2]), rtol=1e-4, atol=1e-6
    )
    assert model.parts["observation"].decode(features).shape == (2, 3, 4, 2)


def test_all_variables_exist_at_once(make_model, make_batch, noise):
    words = ["world_model.overshooting_distance=2", "world_model.overshooting_kl_scale=1"]
    model = make_model(*words)
    before = len(model.variables)
    losses(model, make_batch(), noise(3, 5, 3))
    assert len(model.variables) == before


def test_computing_in_bfloat16_keeps_variables_and_losses_in_float32(
    make_model, make_batch, noise
):
    model = make_model("compute_dtype=bfloat16")
    exact = make_model()
    assert {variable.dtype for variable in model.trainable_variables} == {tf.float32}
    found, _ = losses(model, make_batch(), noise(3, 5, 3))
    expected, _ = losses(exact, make_batch(), noise(3, 5, 3))
    for name, value in found.items():
        assert value.dtype == np.float32
        np.testing.assert_allclose(value, expected[name], rtol=0.1, atol=0.1)


def walks(size, seed, length=8):
    """A batch of random walks before the cliff of `fake_ending`; a fall starts another."""
    random = np.random.default_rng(seed)
    position, is_first = random.uniform(0.2, EDGE, size), np.ones(size, bool)
    action, rows = np.zeros(size), []
    for _ in range(length):
        rows.append((position, action, is_first))
        is_first = position > EDGE
        action = np.where(is_first, 0.0, random.choice([-1.0, 0.5, 1.0], size))
        start = random.uniform(0.2, EDGE, size)
        position = np.where(is_first, start, position + REACH * action)
    position, action, is_first = (np.stack(column, 1) for column in zip(*rows, strict=True))
    floats = {
        "observation": np.stack([position, REACH * action], -1),
        "action": action[..., None],
        "reward": (1 + position) / 2,
    }
    batch = {name: tf.constant(value, tf.float32) for name, value in floats.items()}
    ends = {"is_first": is_first, "is_terminal": position > EDGE}
    return batch | {name: tf.constant(value) for name, value in ends.items()}


@pytest.mark.slow
def test_a_model_learns_where_the_cliff_ends(make_model, noise):
    words = ["transition=deterministic", "world_model.observation_stddev=0.02"]
    model = make_model("task=fake_ending", *words)
    optimizer = tf.keras.optimizers.Adam(0.02)
    optimizer.build(model.trainable_variables)

    @tf.function(autograph=False)
    def step(batch, normal):
        with tf.GradientTape() as tape:
            losses, *_ = model.losses(batch, normal, SEED)
            total = tf.add_n([tf.reduce_mean(loss) for loss in losses.values()])
        gradients = tape.gradient(total, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    for number in range(250):
        step(walks(64, number), noise(64, 8, 3, seed=number))
    batch = walks(200, 1000)
    *_, posterior, _ = pieces(model, batch, noise(200, 8, 3, seed=1000))
    goes_on = model.continuation(posterior.features).numpy()
    position = batch["observation"][..., 0].numpy()
    beyond, inside = position > EDGE + 0.04, position < EDGE - 0.04
    assert min(beyond.sum(), inside.sum()) > 40
    assert (goes_on[beyond] < 0.5).mean() > 0.9
    assert (goes_on[inside] > 0.5).mean() > 0.9


BATCH, LENGTH, DISTANCE, FREE_NATS = 2, 5, 3, 0.2


@pytest.fixture(scope="module")
def settings(make_config):
    return make_config(
        f"world_model.overshooting_distance={DISTANCE}",
        "world_model.overshooting_kl_scale=2.0",
        "world_model.overshooting_reward_scale=5.0",
        f"world_model.free_nats={FREE_NATS}",
    ).world_model


@pytest.fixture(scope="module")
def batch(make_batch):
    is_first = np.zeros([BATCH, LENGTH], bool)
    is_first[0, 3] = is_first[1, 0] = True
    return make_batch(BATCH, LENGTH) | {"is_first": tf.constant(is_first)}


def observe(model, batch, noise):
    embedding = model.parts["observation"].encode(batch["observation"])
    return model.rssm.observe(embedding, batch["action"], batch["is_first"], noise)[0]


def by_loops(model, batch, posterior, noise):
    """KL and reward losses [B, T], one prior step at a time."""
    kl_loss, reward_loss = np.zeros([2, BATCH, LENGTH])
    for example in range(BATCH):
        for start in range(LENGTH):
            latent = Latent(*(state[example, start][None] for state in posterior))
            for now in range(start + 1, min(start + DISTANCE + 1, LENGTH)):
                if batch["is_first"][example, now]:
                    break
                latent = model.rssm.imagine_step(
                    latent, batch["action"][example, now][None], noise[example, now][None]
                )
                mean, stddev = posterior.mean[example, now], posterior.stddev[example, now]
                ratio = (stddev / latent.stddev[0]) ** 2
                distance = ((mean - latent.mean[0]) / latent.stddev[0]) ** 2
                kl = 0.5 * np.sum(ratio + distance - 1 - np.log(ratio))
                kl_loss[example, start] += max(0.0, kl - FREE_NATS) / DISTANCE
                reward = stats.norm(model.reward(latent.features)[0], 1)
                log_prob = reward.logpdf(batch["reward"][example, now])
                reward_loss[example, start] -= log_prob / DISTANCE
    return 2.0 * kl_loss, 5.0 * reward_loss


def test_losses_are_those_of_loops_over_steps_and_distances(model, batch, settings, noise):
    normal = noise(BATCH, LENGTH, 3)
    with hold(model, sample_weights(model, seed=1)):
        posterior = observe(model, batch, normal)
        found = overshooting_losses(model, batch, posterior, normal, settings)
        kl, reward = by_loops(model, batch, posterior, normal)
    assert kl.max() > 0, "free nats cut every step"
    np.testing.assert_allclose(found["overshooting_latent_loss"], kl, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found["overshooting_reward_loss"], reward, rtol=1e-4)


def test_nothing_is_overshot_from_the_last_step_of_a_sequence_or_episode(
    model, batch, settings, noise
):
    normal = noise(BATCH, LENGTH, 3)
    with hold(model, mean_weights(model)):
        posterior = observe(model, batch, normal)
        found = overshooting_losses(model, batch, posterior, normal, settings)
    for loss in found.values():
        np.testing.assert_array_equal(loss[:, -1], [0.0, 0.0])
        assert loss[0, 2] == 0.0, "the next step starts another episode"


def test_the_latent_loss_does_not_move_the_posterior_towards_the_prior(
    model, batch, settings, noise
):
    settings = dataclasses.replace(settings, free_nats=0.0)
    normal = noise(BATCH, LENGTH, 3)
    with hold(model, mean_weights(model)), tf.GradientTape() as tape:
        posterior = observe(model, batch, normal)
        last = tf.nest.map_structure(lambda x: x[:, -1:], posterior)
        tape.watch(last)
        joined = tf.nest.map_structure(
            lambda x, y: tf.concat([tf.stop_gradient(x[:, :-1]), y], 1), posterior, last
        )
        losses = overshooting_losses(model, batch, joined, normal, settings)
        loss = tf.reduce_sum(losses["overshooting_latent_loss"])
    gradients = tape.gradient(loss, last, unconnected_gradients="zero")
    for gradient in gradients:
        assert not np.any(gradient), "the last posterior is a target alone"


def test_examples_keep_their_flipout_signs_at_all_distances(
    make_model, batch, settings, noise
):
    model = make_model("transition=flipout")
    normal = noise(BATCH, LENGTH, 3)
    weights = sample_weights(model, seed=1, batch_size=BATCH)

    def losses(rows):
        part = {name: value[rows] for name, value in batch.items()}
        held = weights | {name: weights[name][rows] for name in named_signs(model)}
        with hold(model, held):
            posterior = observe(model, part, normal[rows])
            return overshooting_losses(model, part, posterior, normal[rows], settings)

    together, alone = losses(slice(0, 2)), losses(slice(1, 2))
    for name in together:
        np.testing.assert_allclose(together[name][1:], alone[name], rtol=1e-4, atol=1e-5)

"""Tests of agents.planet.model.rssm."""

import numpy as np
import pytest
import tensorflow as tf
from scipy import stats

from agents.planet.model.rssm import Latent, above_free_nats, gaussian
from agents.planet.model.transitions import SOURCES
from bayes_rl.weights import hold, mean_weights

BATCH, LENGTH = 3, 5


def to_numpy(nest):
    return tf.nest.map_structure(lambda tensor: tensor.numpy(), nest)


def assert_close(first, second, rtol=1e-5):
    tf.nest.map_structure(
        lambda x, y: np.testing.assert_allclose(x, y, rtol=rtol, atol=1e-6), first, second
    )


def row(nest, *index):
    return tf.nest.map_structure(lambda tensor: tensor[index], nest)


@pytest.fixture(scope="module")
def rssm(model):
    return model.rssm


@pytest.fixture(scope="module")
def stirred(make_model):
    """A deterministic model in which no variable, such as a bias, is zero."""
    model = make_model("transition=deterministic")
    rng = np.random.default_rng(0)
    for variable in model.variables:
        variable.assign_add(rng.normal(0, 0.2, variable.shape))
    return model.rssm


@pytest.fixture(scope="module")
def inputs(noise):
    """Embedding, action, is_first and noise; sequences start in mid-episode."""
    is_first = np.zeros([BATCH, LENGTH], bool)
    is_first[0, 0] = is_first[1, 2] = True
    return (
        noise(BATCH, LENGTH, 5, seed=1),
        noise(BATCH, LENGTH, 1, seed=2),
        tf.constant(is_first),
        noise(BATCH, LENGTH, 3, seed=3),
    )


@pytest.fixture
def start(noise):
    """A latent of four rollouts."""
    return Latent(noise(4, 6, seed=4), noise(4, 3), tf.ones([4, 3]), noise(4, 3, seed=5))


def observe(rssm, inputs):
    with hold(rssm, mean_weights(rssm)):
        return to_numpy(rssm.observe(*inputs))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class NumpyRSSM:
    """The equations of the RSSM, one example at a time, from the variables by name."""

    def __init__(self, variables):
        self._values = {v.name.split(":")[0]: v.numpy() for v in variables}

    def dense(self, name, *inputs):
        kernel, bias = self._values[f"{name}/kernel"], self._values[f"{name}/bias"]
        return np.concatenate(inputs) @ kernel + bias

    def gru(self, x, h):
        kernel, recurrent, bias = (
            np.split(self._values[f"transition_gru/{name}"], 3, axis=-1)
            for name in ("kernel", "recurrent_kernel", "bias")
        )
        update = sigmoid(x @ kernel[0] + h @ recurrent[0] + bias[0])
        reset = sigmoid(x @ kernel[1] + h @ recurrent[1] + bias[1])
        candidate = np.tanh(x @ kernel[2] + (reset * h) @ recurrent[2] + bias[2])
        return update * h + (1 - update) * candidate

    def gaussian(self, kind, *inputs):
        hidden = np.maximum(self.dense(f"{kind}_hidden", *inputs), 0)
        mean, stddev = np.split(self.dense(f"{kind}_latent", hidden), 2)
        return mean, np.log1p(np.exp(stddev)) + 0.1

    def belief(self, h, sample, action):
        return self.gru(np.maximum(self.dense("transition_input", sample, action), 0), h)

    def observe(self, embedding, action, is_first, noise):
        h, sample = np.zeros(6), np.zeros(3)
        steps = []
        for now in range(len(embedding)):
            if is_first[now]:
                h, sample, action[now] = np.zeros(6), np.zeros(3), np.zeros(1)
            h = self.belief(h, sample, action[now])
            mean, stddev = self.gaussian("posterior", h, embedding[now])
            sample = mean + stddev * noise[now]
            steps.append((h, mean, stddev, sample, *self.gaussian("transition", h)))
        return [np.stack(column) for column in zip(*steps, strict=True)]


def test_observe_gives_a_posterior_and_a_prior_for_each_step(rssm, inputs):
    sizes = [*observe(rssm, inputs)]
    for latent in sizes:
        assert latent.belief.shape == (BATCH, LENGTH, 6)
        for each in (latent.mean, latent.stddev, latent.sample):
            assert each.shape == (BATCH, LENGTH, 3)


def test_posterior_and_prior_share_the_belief(rssm, inputs):
    posterior, prior = observe(rssm, inputs)
    np.testing.assert_array_equal(posterior.belief, prior.belief)


def test_observe_is_the_recurrent_state_space_model(stirred, inputs):
    posterior, prior = to_numpy(stirred.observe(*inputs))
    plain = NumpyRSSM(stirred.variables)
    for number in range(BATCH):
        example = [tensor[number].numpy().copy() for tensor in inputs]
        assert_close(
            (*row(posterior, number), prior.mean[number], prior.stddev[number]),
            tuple(plain.observe(*example)),
        )


def test_gates_start_open_for_memory(rssm):
    bias = next(v for v in rssm.variables if v.name == "transition_gru/bias:0")
    np.testing.assert_array_equal(bias, [1.0] * 12 + [0.0] * 6)


def test_no_stddev_is_below_the_least(rssm, inputs):
    embedding, *others = inputs
    for latent in observe(rssm, (embedding * 1e3, *others)):
        assert latent.stddev.min() >= 0.1


def test_samples_are_mean_plus_stddev_times_noise(rssm, inputs):
    posterior, prior = observe(rssm, inputs)
    assert_close(posterior.sample, posterior.mean + posterior.stddev * inputs[-1])
    assert_close(prior.sample, prior.mean)


def test_an_episode_that_starts_within_a_sequence_knows_nothing_of_the_one_before(
    rssm, inputs
):
    embedding, action, _, noise = inputs
    cut = 2
    is_first = np.zeros([BATCH, LENGTH], bool)
    is_first[:, cut] = True
    whole, _ = observe(rssm, (embedding, action, tf.constant(is_first), noise))
    for steps in (slice(0, cut), slice(cut, LENGTH)):
        part = tuple(x[:, steps] for x in (embedding, action, tf.constant(is_first), noise))
        assert_close(row(whole, slice(None), steps), observe(rssm, part)[0])


def test_the_action_before_the_first_observation_does_not_count(rssm, inputs):
    embedding, action, _, noise = inputs
    is_first = tf.constant(np.arange(LENGTH)[None].repeat(BATCH, 0) == 0)
    other = tf.concat([action[:, :1] + 1.0, action[:, 1:]], axis=1)
    assert_close(
        observe(rssm, (embedding, action, is_first, noise)),
        observe(rssm, (embedding, other, is_first, noise)),
    )


def test_filter_repeated_is_observe(rssm, inputs):
    posterior, _ = observe(rssm, inputs)
    latent = rssm.initial(BATCH)
    with hold(rssm, mean_weights(rssm)):
        for now in range(LENGTH):
            latent = rssm.filter(latent, *(x[:, now] for x in inputs))
            assert_close(to_numpy(latent), row(posterior, slice(None), now))


def test_imagine_is_imagine_step_repeated(rssm, start, noise):
    actions, normal = noise(6, 4, 1, seed=6), noise(6, 4, 3, seed=7)
    with hold(rssm, mean_weights(rssm)):
        latents = to_numpy(rssm.imagine(start, actions, normal))
        latent = start
        for now in range(6):
            latent = rssm.imagine_step(latent, actions[now], normal[now])
            assert_close(row(latents, now), to_numpy(latent))


def test_imagine_step_is_the_prior_of_the_next_belief(stirred, start, noise):
    action, normal = noise(4, 1, seed=6), noise(4, 3, seed=7)
    latent = to_numpy(stirred.imagine_step(start, action, normal))
    plain = NumpyRSSM(stirred.variables)
    for number in range(4):
        before = to_numpy(row(start, number))
        belief = plain.belief(before.belief, before.sample, action[number].numpy())
        mean, stddev = plain.gaussian("transition", belief)
        sample = mean + stddev * normal[number]
        assert_close(row(latent, number), Latent(belief, mean, stddev, sample))


@pytest.mark.parametrize("transition", [*SOURCES][1:])
def test_draws_held_together_are_the_draws_held_one_by_one(
    make_model, transition, start, noise
):
    model = make_model(f"transition={transition}")
    rssm, draws = model.rssm, model.draw_weights(3, tf.constant([0, 1]))
    actions, normal = noise(2, 4, 1, seed=6), noise(2, 4, 3, seed=7)

    def tile(tensor, axis):
        return tf.repeat(tf.expand_dims(tensor, axis), 3, axis)

    with hold(model, draws):
        together = rssm.imagine(
            tf.nest.map_structure(lambda x: tile(x, 0), start),
            tile(actions, 1),
            tile(normal, 1),
        )
    for number in range(3):
        with hold(model, {name: draw[number] for name, draw in draws.items()}):
            alone = rssm.imagine(start, actions, normal)
        assert_close(to_numpy(row(together, slice(None), number)), to_numpy(alone))
    assert np.ptp(together.mean, axis=1).max() > 1e-3, "the draws agree"


def test_weights_that_are_not_held_change_from_call_to_call(rssm, start, noise):
    action, normal = noise(4, 1), noise(4, 3)
    first, second = (rssm.imagine_step(start, action, normal).mean for _ in range(2))
    assert not np.allclose(first, second)


@pytest.mark.slow
def test_a_graph_computes_what_eager_execution_does(rssm, inputs):
    @tf.function
    def graph(*inputs):
        with hold(rssm, mean_weights(rssm)):
            return rssm.observe(*inputs)

    assert_close(to_numpy(graph(*inputs)), observe(rssm, inputs))


LATENT = Latent(
    belief=tf.constant([[1.0, 2.0]]),
    mean=tf.constant([[0.5, -1.0, 0.0]]),
    stddev=tf.constant([[0.1, 2.0, 1.0]]),
    sample=tf.constant([[3.0, 4.0, 5.0]]),
)


def test_features_are_sample_and_belief():
    np.testing.assert_array_equal(LATENT.features, [[3.0, 4.0, 5.0, 1.0, 2.0]])


def test_gaussian_is_normal_in_each_dimension():
    expected = stats.norm(LATENT.mean, LATENT.stddev).logpdf(LATENT.sample).sum(-1)
    np.testing.assert_allclose(
        gaussian(LATENT).log_prob(LATENT.sample), expected, rtol=1e-5
    )


def test_only_nats_above_the_free_ones_cost():
    np.testing.assert_allclose(
        above_free_nats(tf.constant([0.5, 3.0, 4.5]), 3.0), [0.0, 0.0, 1.5]
    )

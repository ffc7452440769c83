import numpy as np
import pytest
import scipy.stats
import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl.random_variables import families

COUNT = 20_000
POINTS = np.array([-1.0, 0.5, 2.0], np.float32)
CONTINUOUS = [
    (tfd.Normal(0.3, 0.7), scipy.stats.norm(0.3, 0.7)),
    (tfd.LogNormal(0.3, 0.7), scipy.stats.lognorm(0.7, scale=np.exp(0.3))),
    (tfd.Cauchy(0.3, 0.7), scipy.stats.cauchy(0.3, 0.7)),
    (tfd.HalfCauchy(0.3, 0.7), scipy.stats.halfcauchy(0.3, 0.7)),
    (tfd.Laplace(0.3, 0.7), scipy.stats.laplace(0.3, 0.7)),
]


def mixture(probs):
    return tfd.MixtureSameFamily(tfd.Categorical(probs=probs), tfd.Deterministic(POINTS))


FAMILIES = [d for d, _ in CONTINUOUS] + [tfd.Deterministic(0.3), mixture([0.2, 0.5, 0.3])]


@pytest.mark.parametrize("seed", [None, [1, 2]])
@pytest.mark.parametrize(("family", "reference"), CONTINUOUS)
def test_draws_have_the_distribution_function_of_scipy(family, reference, seed):
    tf.random.set_seed(1)
    draws = families.draw_from(family, [COUNT], seed)
    assert scipy.stats.kstest(draws, reference.cdf).pvalue > 1e-4


@pytest.mark.parametrize("seed", [None, [1, 2]])
def test_components_of_a_mixture_are_drawn_by_their_probabilities(seed):
    tf.random.set_seed(1)
    probs = np.array([0.2, 0.5, 0.3])
    draws = families.draw_from(mixture(probs), [COUNT], seed).numpy()
    found = np.array([np.mean(draws == point) for point in POINTS])
    assert np.all(abs(found - probs) < 5 * np.sqrt(probs * (1 - probs) / COUNT))


@pytest.mark.parametrize("family", FAMILIES[:4] + FAMILIES[-2:])
def test_seeded_draws_are_the_same_under_xla(family):
    def draw():
        return families.draw_from(family, [1000], [1, 2])

    compiled = tf.function(draw, jit_compile=True)()
    np.testing.assert_allclose(draw(), compiled, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("family", "expected"),
    [
        (tfd.Normal(0.3, 0.7), 0.3),
        (tfd.LogNormal(0.3, 0.7), np.exp(0.3 + 0.7**2 / 2)),
        (tfd.Cauchy(0.3, 0.7), 0.3),
        (tfd.HalfCauchy(0.3, 0.7), 1.0),
        (tfd.Deterministic(0.3), 0.3),
        (mixture([0.2, 0.5, 0.3]), -0.2 + 0.25 + 0.6),
        (tfd.Laplace(0.3, 0.7), 0.3),
    ],
)
def test_mean_or_median_of_each_family(family, expected):
    np.testing.assert_allclose(families.mean_of(family), expected, rtol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_gradients_reach_the_location(family):
    base = getattr(family, "components_distribution", family)
    loc = tf.Variable(base.loc)
    options = {} if "scale" not in base.parameters else {"scale": base.scale}
    with tf.GradientTape() as tape:
        made = type(base)(loc, **options)
        if base is not family:
            made = tfd.MixtureSameFamily(family.mixture_distribution, made)
        draw = tf.reduce_sum(families.draw_from(made, [7], [1, 2]))
    gradient = tape.gradient(draw, loc)
    expected = tf.reduce_sum(draw) if type(base) is tfd.LogNormal else 7.0
    np.testing.assert_allclose(tf.reduce_sum(gradient), expected, rtol=1e-5)


def test_shapes_of_draws_and_means():
    distribution = tfd.Independent(tfd.Cauchy(tf.zeros([3, 2]), 1.0), 2)
    assert families.draw_from(distribution, [5]).shape == [5, 3, 2]
    shared = tfd.Independent(tfd.HalfCauchy(tf.zeros([1, 2]), tf.ones([3, 1])), 2)
    assert families.mean_of(shared).shape == [3, 2]


@pytest.mark.parametrize("family", FAMILIES)
def test_centered_draw_leaves_the_mean_out(family):
    whole = families.draw_from(family, [9], seed=[1, 2])
    change = families.draw_from(family, [9], seed=[1, 2], centered=True)
    np.testing.assert_allclose(
        whole - change, np.full(9, families.mean_of(family)), rtol=1e-5, atol=1e-6
    )


def test_double_precision():
    draw = families.draw_from(tfd.Cauchy(np.float64(0.0), np.float64(1.0)), [3], [1, 2])
    assert draw.dtype == tf.float64

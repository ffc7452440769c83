import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

import bayes_rl as ed

keras = tf.keras.layers


def make(units=1, name="dense"):
    model = tf.keras.Sequential([keras.Dense(units, input_shape=[2], name=name)])
    model.compile(ed.optimizers.IVON(0.1, 4, weight_decay=0.5, seed=1), "mse")
    return model


def data():
    return np.eye(2, dtype=np.float32), np.ones([2, 1], np.float32)


def gaussian():
    model = make()
    model.fit(*data(), verbose=0)
    return ed.inference.posterior(model)


def test_a_gaussian_has_the_densities_of_normals():
    posterior = gaussian()
    draws = posterior.sample([3], seed=1)
    expected, kl = 0.0, 0.0
    for name, mean in posterior.mean.items():
        normal = tfp.distributions.Normal(mean, posterior.stddev[name])
        axes = list(range(1, mean.ndim + 1))
        expected += tf.reduce_sum(normal.log_prob(draws[name]), axes)
        prior = tfp.distributions.Normal(0.0, (4 * 0.5) ** -0.5)
        kl += tf.reduce_sum(tfp.distributions.kl_divergence(normal, prior))
    np.testing.assert_allclose(posterior.log_prob(draws), expected, rtol=1e-4)
    assert posterior.kl_divergence() == pytest.approx(float(kl), rel=1e-4)


def test_draws_depend_on_seed_and_name_alone():
    posterior = gaussian()
    one, same, other = (posterior.sample([2], seed=x) for x in (1, 1, 2))
    for name in one:
        np.testing.assert_array_equal(one[name], same[name])
        assert np.all(one[name] != other[name])


def test_a_posterior_is_of_the_time_when_it_was_asked_for():
    model = make()
    model.fit(*data(), verbose=0)
    posterior = ed.inference.posterior(model)
    before = {name: value.copy() for name, value in posterior.mean.items()}
    model.fit(*data(), verbose=0)
    for name, value in before.items():
        np.testing.assert_array_equal(posterior.mean[name], value)
        assert np.any(ed.inference.posterior(model).mean[name] != value)


def test_what_is_no_posterior_of_this_model_is_an_error(tmp_path):
    posterior, path = gaussian(), tmp_path / "posterior.npz"
    posterior.save(path)
    with pytest.raises(ValueError, match="'dense/bias' has shape|'dense/kernel' has shape"):
        ed.inference.load(path, make(2))
    with pytest.raises(ValueError, match="has no variable 'dense/kernel'; did you mean"):
        ed.inference.load(path, make(name="danse"))
    np.savez(path, x=1.0)
    with pytest.raises(ValueError, match="is not a file of a posterior"):
        ed.inference.load(path, make())
    path.write_text("text")
    with pytest.raises(ValueError, match="is not a file of a posterior"):
        ed.inference.load(path, make())


def test_shapes_of_samples_are_checked():
    with pytest.raises(
        ValueError, match=r"sample_shape must be \(\) or \[S\], got \[2, 3\]"
    ):
        gaussian().sample([2, 3])


def test_other_optimizers_have_no_posterior():
    model = make()
    with pytest.raises(ValueError, match="not trained yet: call fit first"):
        ed.inference.posterior(model)
    model.compile("adam", "mse")
    with pytest.raises(ValueError, match="compiled with ed.optimizers.IVON, got Adam"):
        ed.inference.posterior(model)

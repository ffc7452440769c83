"""Tests of the normal posteriors over kernels, and of runs that had no other source."""

import types

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.model.rssm import Latent
from agents.planet.model.transitions import make_source
from bayes_rl.weights import hold, kl_divergences, posteriors

KERNELS = {f"transition_{part}/kernel" for part in ("input", "hidden", "latent")}
NAMES = {
    "deterministic": ["kernel:0", "bias:0"],
    "reparameterization": ["kernel/mean:0", "kernel/stddev:0", "bias:0"],
    "flipout": ["kernel/mean:0", "kernel/stddev:0", "bias:0"],
}


@pytest.mark.parametrize("transition", ["reparameterization", "flipout"])
def test_only_kernels_of_the_transition_are_uncertain(make_model, transition):
    assert set(posteriors(make_model(f"transition={transition}"))) == KERNELS


def test_a_deterministic_transition_has_no_posterior(make_model):
    assert not posteriors(make_model("transition=deterministic"))


@pytest.mark.parametrize("transition", NAMES)
def test_weights_have_the_names_under_which_earlier_runs_saved_them(make_model, transition):
    names = [variable.name for variable in make_model(f"transition={transition}").variables]
    for layer in ("transition_input", "transition_hidden", "transition_latent"):
        found = [name for name in names if name.startswith(layer)]
        assert sorted(found) == sorted(f"{layer}/{name}" for name in NAMES[transition])


@pytest.mark.parametrize("kind", ["reparameterization", "flipout"])
def test_initial_stddev_falls_with_the_root_of_the_fan_in(kind):
    settings = types.SimpleNamespace(posterior_scale=0.3, prior_scale=2.0)
    layer = make_source(kind, settings).dense(7, None, "layer")
    layer(tf.zeros([1, 16]))
    posterior = posteriors(layer)["layer/kernel"]
    np.testing.assert_allclose(posterior.stddev(), np.full([16, 7], 0.3 / 4), rtol=1e-5)
    limit = np.sqrt(6 / (16 + 7))
    assert 0.8 * limit < np.abs(posterior.mean()).max() <= limit
    ratio = posterior.stddev() / 2.0
    distance = posterior.mean() / 2.0
    expected = 0.5 * np.sum(ratio**2 + distance**2 - 1 - 2 * np.log(ratio))
    np.testing.assert_allclose(kl_divergences(layer)["layer/kernel"], expected, rtol=1e-4)


def test_the_posterior_of_ivon_costs_nothing_and_tells_its_divergence(make_model):
    model = make_model("transition=ivon", "posterior_scale=0.3", "prior_scale=2")
    assert set(posteriors(model)) == KERNELS
    assert not model.source.costs(model)
    found = model.source.divergences(model)
    assert found.keys() == model.source.curved(model).keys() == KERNELS
    for name, posterior in posteriors(model).items():
        mean, stddev = posterior.mean().numpy(), posterior.stddev().numpy()
        np.testing.assert_allclose(stddev, 0.3 / np.sqrt(len(mean)), rtol=1e-5)
        ratios = (mean / 2) ** 2 + (stddev / 2) ** 2 - 1 - 2 * np.log(stddev / 2)
        np.testing.assert_allclose(found[name], 0.5 * ratios.sum(), rtol=1e-4)


@pytest.fixture(scope="module")
def model(make_model):
    return make_model("transition=last_layer")


def test_only_the_last_kernel_is_uncertain(model, make_model):
    (name,) = posteriors(model)
    assert name == "transition_latent/kernel"
    other = posteriors(make_model("transition=reparameterization"))[name]
    np.testing.assert_allclose(posteriors(model)[name].stddev(), other.stddev())


def test_draws_share_the_belief_and_differ_in_what_they_say_of_it(model, noise):
    alike = [tf.repeat(noise(1, 2, size), 3, axis=0) for size in (6, 3, 3, 3, 1)]
    with hold(model, model.draw_weights(3, tf.constant([0, 1]))):
        after = model.rssm.imagine_step(Latent(*alike[:4]), alike[4], 0.0)
    assert np.ptp(after.belief, axis=0).max() < 1e-6
    assert np.ptp(after.mean, axis=0).min() > 1e-4

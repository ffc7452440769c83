"""Layers that compute with moments of their kernel, and variational dropout."""

import bayes_rl as ed
from tests.bayes_rl.layers.catalog.case import Case


def _dense(name, noisy=True, **options):
    layer = getattr(ed.layers, name)
    return Case(lambda **kw: layer(4, **options, **kw), [(5, 3)], noisy=noisy)


def _convolution(name, **options):
    layer = getattr(ed.layers, name)
    return Case(lambda **kw: layer(4, 3, **options, **kw), [(5, 6, 6, 3)])


def _seeded_costs():
    """Regularizers of the scales whose estimates are the same at every call."""
    prior = ed.regularizers.HalfCauchyKLDivergence
    return {
        "local_scale_regularizer": prior(seed=0),
        "global_scale_regularizer": prior(scale=1e-5, seed=0),
    }


CASES = [
    _dense("DenseLocalReparameterization"),
    _dense("DenseDVI", activation="relu"),
    _dense("DenseQuadrature", noisy=False, activation="tanh"),
    _dense("DenseVariationalDropout"),
    _dense("DenseHierarchical", **_seeded_costs()),
    _convolution("Conv2DLocalReparameterization"),
    _convolution("Conv2DVariationalDropout"),
    _convolution("Conv2DHierarchical", **_seeded_costs()),
]

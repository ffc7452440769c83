"""Flows, reversible blocks and normalization."""

import numpy as np
import tensorflow as tf

import bayes_rl as ed
from tests.bayes_rl.layers.catalog.case import Case

layers = ed.layers


def one_hot(generator):
    return [np.eye(5)[generator.integers(0, 5, [4, 3])]]


def made(*args, dtype=None, **kwargs):
    return layers.MADE(*args, seed=3, name="made", dtype=dtype, **kwargs)


def dense(*args, dtype=None, **kwargs):
    return tf.keras.layers.Dense(*args, dtype=dtype, **kwargs)


def flow(layer_class, make_network, *args):
    """Maker of a flow whose network has the flow's dtype."""

    def make(dtype=None, **options):
        return layer_class(make_network(dtype=dtype), *args, dtype=dtype, **options)

    return make


def real_nvp(dtype=None):
    return layers.RealNVP(made(hidden_dims=[8], dtype=dtype), dtype=dtype)


def bayesian(dtype=None):
    return layers.DenseReparameterization(6, name="network", dtype=dtype)


def residual(dtype=None, **options):
    f, g = (dense(2, "tanh", name=name, dtype=dtype) for name in "fg")
    return layers.ReversibleResidual(f, g, dtype=dtype, **options)


def chain(dtype=None, **options):
    blocks = [
        layers.ReversibleResidual(
            layers.DenseFlipout(2, name=f"f{index}", dtype=dtype),
            layers.DenseReparameterization(2, name=f"g{index}", dtype=dtype),
            name=f"block{index}",
            dtype=dtype,
        )
        for index in range(2)
    ]
    return layers.ReversibleSequential(blocks, dtype=dtype, **options)


MASK = [1, 0, 1]
CASES = [
    Case(lambda **kw: layers.MADE(2, [8], "random", seed=1, **kw), [(5, 3, 2)]),
    Case(
        lambda **kw: layers.MADE(hidden_dims=[8, 8], activation="tanh", **kw),
        [(5, 3)],
        name="MADEOfFlat",
    ),
    Case(flow(layers.RealNVP, lambda dtype: made(hidden_dims=[8], dtype=dtype)), [(5, 3)]),
    Case(flow(layers.RealNVP, bayesian, MASK), [(5, 3)], name="RealNVPOfMask"),
    Case(flow(layers.NICE, lambda dtype: dense(3, dtype=dtype), MASK), [(5, 3)]),
    Case(flow(layers.Reverse, real_nvp), [(5, 3)]),
    Case(lambda **kw: layers.ActNorm(**kw), [(5, 3)]),
    Case(
        flow(
            layers.DiscreteAutoregressiveFlow,
            lambda dtype: made(10, [8], dtype=dtype),
            0.5,
        ),
        inputs=one_hot,
    ),
    Case(
        flow(
            layers.DiscreteBipartiteFlow,
            lambda dtype: made(10, [8], dtype=dtype),
            MASK,
            0.5,
        ),
        inputs=one_hot,
    ),
    Case(
        flow(
            layers.SinkhornAutoregressiveFlow,
            lambda dtype: made(25, [8], dtype=dtype),
            1.0,
        ),
        inputs=one_hot,
        xla="SciPy's matching runs on the host",
    ),
    Case(residual, [(5, 4)]),
    Case(chain, [(5, 4)]),
    Case(
        lambda **kw: layers.EnsembleSyncBatchNorm(axis=1, ensemble_size=2, **kw), [(6, 3)]
    ),
]

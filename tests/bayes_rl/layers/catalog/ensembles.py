"""Ensembles that share kernels, and mixtures of experts."""

import numpy as np

import bayes_rl as ed
from tests.bayes_rl.layers.catalog.case import Case

layers = ed.layers
IMAGES = [(6, 6, 6, 3)]


def _posterior():
    return ed.initializers.TrainableNormal(mean_initializer="ones")


def _dense(name, shapes=((6, 3),), **options):
    layer = getattr(layers, name)
    return Case(lambda **kw: layer(4, **options, **kw), list(shapes))


def _convolution(name, shapes=IMAGES, **options):
    layer = getattr(layers, name)
    return Case(lambda **kw: layer(4, 3, **options, **kw), shapes)


def _hyper(make, shape, columns):
    def inputs(generator):
        data = generator.normal(size=shape)
        lambdas = np.exp(generator.normal(size=[6, 2]))
        return [[data, lambdas, generator.normal(size=[6, columns])]]

    return Case(make, inputs=inputs)


KEYS = {"layer_l2_kernel": 0, "layer_l2_bias": 1}

CASES = [
    _dense("DenseBatchEnsemble", rank=2, ensemble_size=2, alpha_initializer="random_sign"),
    _convolution("Conv1DBatchEnsemble", [(6, 6, 3)], ensemble_size=2),
    _convolution("Conv2DBatchEnsemble", ensemble_size=2, alpha_initializer=_posterior()),
    Case(lambda **kw: layers.DepthwiseConv2DBatchEnsemble(3, 2, **kw), IMAGES),
    _dense("DenseRank1", ensemble_size=2),
    _convolution("Conv1DRank1", [(6, 6, 3)], use_additive_perturbation=True),
    _convolution("Conv2DRank1", ensemble_size=3),
    _hyper(
        lambda **kw: layers.DenseHyperBatchEnsemble(4, KEYS, ensemble_size=2, **kw),
        [6, 3],
        8,
    ),
    _hyper(
        lambda **kw: layers.Conv2DHyperBatchEnsemble(
            KEYS,
            4,
            3,
            ensemble_size=2,
            use_bias=False,
            alpha_initializer="random_sign",
            fast_weights_eq_contraint=True,
            **kw,
        ),
        [6, 6, 6, 3],
        4,
    ),
    _dense("CondDense", [(6, 3), (6, 2)], num_experts=2),
    _convolution(
        "CondConv2D",
        [*IMAGES, (6, 2)],
        num_experts=2,
        strides=2,
        padding="same",
        kernel_initializer="trainable_normal",
    ),
    Case(
        lambda **kw: layers.DepthwiseCondConv2D(3, 2, depth_multiplier=2, **kw),
        [*IMAGES, (6, 2)],
    ),
    _dense("DenseMultihead", ensemble_size=2, activation="softmax"),
]

import numpy as np
import tensorflow as tf

import bayes_rl as ed
from tests.bayes_rl.layers.catalog.case import Case

DATA = np.random.default_rng(1).normal(size=[4, 3])


def trained_covariance(options):
    return ed.layers.ExponentiatedQuadratic(
        1.0, 1.0, trainable_parameters=True, dtype=options.get("dtype")
    )


@tf.keras.saving.register_keras_serializable("tests")
class NeuralProcess(ed.layers.NeuralProcess):
    """Also takes the parts of its query one by one."""

    def __call__(self, query, context_y=None, target_x=None, **kwargs):
        if context_y is not None:
            query = (query, context_y), target_x
        return super().__call__(query, **kwargs)


def wrapped(layer, options, *sizes):
    return layer(*sizes, dtype=options.get("dtype"), name="inner")


CASES = [
    Case(lambda **kw: ed.layers.GaussianProcess(2, **kw), [(5, 3)]),
    Case(
        lambda **kw: ed.layers.GaussianProcess(
            2,
            covariance_fn=trained_covariance(kw),
            conditional_inputs=DATA,
            conditional_outputs=np.sin(DATA[:, :2]),
            noise_variance=0.1,
            **kw,
        ),
        [(5, 3)],
        name="GaussianProcessPosterior",
    ),
    Case(
        lambda **kw: ed.layers.SparseGaussianProcess(
            2, num_inducing=4, covariance_fn=trained_covariance(kw), **kw
        ),
        [(5, 3)],
    ),
    Case(
        lambda **kw: ed.layers.SparseGaussianProcess(
            2,
            num_inducing=4,
            inducing_outputs_initializer="trainable_multivariate_normal",
            **kw,
        ),
        [(5, 3)],
        name="SparseGaussianProcessFull",
    ),
    Case(lambda **kw: ed.layers.RandomFourierFeatures(2, num_features=6, **kw), [(5, 3)]),
    Case(
        lambda **kw: ed.layers.RandomFeatureGaussianProcess(2, num_inducing=6, **kw),
        [(5, 3)],
    ),
    Case(lambda **kw: ed.layers.LaplaceRandomFeatureCovariance(**kw), [(5, 3)]),
    Case(
        lambda **kw: ed.layers.SpectralNormalization(
            wrapped(tf.keras.layers.Dense, kw, 4), **kw
        ),
        [(5, 3)],
    ),
    Case(
        lambda **kw: ed.layers.SpectralNormalizationConv2D(
            wrapped(tf.keras.layers.Conv2D, kw, 4, 3), **kw
        ),
        [(5, 6, 6, 3)],
    ),
    Case(lambda **kw: ed.layers.BayesianLinearModel(0.1, **kw), [(5, 3)]),
    Case(
        lambda **kw: ed.layers.PoissonProcess(
            rate=tf.keras.layers.Activation("softplus", dtype=kw.get("dtype")), **kw
        ),
        [(5, 3)],
    ),
    Case(
        lambda **kw: NeuralProcess(
            [8],
            4,
            [8, 4],
            attention_wrapper=ed.layers.Attention(
                "mlp", [8], "multihead", num_heads=2, dtype=kw.get("dtype")
            ),
            **kw,
        ),
        [(2, 5, 3), (2, 5, 2), (2, 4, 3)],
    ),
    Case(
        lambda **kw: ed.layers.Attention("mlp", [8], "laplace", **kw),
        [(2, 5, 3), (2, 4, 3), (2, 5, 2)],
    ),
    Case(
        lambda **kw: ed.layers.ExponentiatedQuadratic(
            1.0, [0.5, 1.0, 2.0], trainable_parameters=True, **kw
        ),
        [(5, 3), (4, 3)],
    ),
    Case(
        lambda **kw: ed.layers.LinearKernel(1.0, 0.5, trainable_parameters=True, **kw),
        [(5, 3), (4, 3)],
    ),
]

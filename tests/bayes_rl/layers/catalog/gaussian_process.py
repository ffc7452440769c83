import numpy as np

import bayes_rl as ed
from tests.bayes_rl.layers.catalog.case import Case

DATA = np.random.default_rng(1).normal(size=[4, 3])


def trained_covariance(options):
    return ed.layers.ExponentiatedQuadratic(
        1.0, 1.0, trainable_parameters=True, dtype=options.get("dtype")
    )


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
]

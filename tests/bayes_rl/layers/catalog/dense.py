"""Dense layers."""

import bayes_rl as ed
from tests.bayes_rl.layers.catalog.case import Case

CASES = [
    Case(lambda **kw: ed.layers.DenseReparameterization(4, **kw), [(5, 3)]),
    Case(lambda **kw: ed.layers.DenseFlipout(4, **kw), [(5, 3)]),
    # Draws and costs of weights of this size are compiled: see `bayes_rl.numerics.fused`.
    Case(
        lambda **kw: ed.layers.DenseReparameterization(256, **kw),
        [(2, 256)],
        name="LargeDenseReparameterization",
    ),
]

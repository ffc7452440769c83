"""Convolutions: plain, transposed and depthwise, in every rank."""

import bayes_rl as ed
from tests.bayes_rl.layers.catalog.case import Case


def _case(name, *sizes, rank, **options):
    layer = getattr(ed.layers, name)
    return Case(lambda **kw: layer(*sizes, **options, **kw), [(5, *[6] * rank, 3)])


CASES = [
    *(
        _case(f"Conv{rank}D{kind}", 4, 3, rank=rank)
        for rank in (1, 2, 3)
        for kind in ("Reparameterization", "Flipout")
    ),
    *(
        _case(f"Conv{rank}DTranspose{kind}", 4, 3, rank=rank, strides=2)
        for rank in (1, 2, 3)
        for kind in ("Reparameterization", "Flipout")
    ),
    *(
        _case(f"DepthwiseConv{rank}D{kind}", 3, rank=rank, depth_multiplier=2)
        for rank in (1, 2)
        for kind in ("Reparameterization", "Flipout")
    ),
]

"""Cases of layers whose output is random, or an output under noise."""

import bayes_rl as ed
from tests.bayes_rl.layers.catalog.case import Case

layers = ed.layers
PROJECTION = ("projection/kernel", "projection/bias")


def categories(generator):
    return [generator.integers(0, 4, [6, 3]).astype("int32")]


CASES = [
    Case(lambda **kw: layers.Normal(2, **kw), [(5, 3)]),
    Case(lambda **kw: layers.Normal(**kw), [(5, 3)], name="NormalOfInputs"),
    Case(lambda **kw: layers.Bernoulli(2, **kw), [(5, 3)], unused=PROJECTION),
    Case(lambda **kw: layers.Categorical(4, **kw), [(5, 3)], unused=PROJECTION),
    Case(lambda **kw: layers.OneHotCategorical(4, **kw), [(5, 3)], unused=PROJECTION),
    Case(lambda **kw: layers.MixtureLogistic(2, num_components=3, **kw), [(5, 3)]),
    Case(lambda **kw: layers.Discretize(**kw), [(5, 3)]),
    Case(
        lambda **kw: layers.VectorQuantizer(4, **kw),
        [(5, 3)],
        unused=("codebook",),
        saves=(),
    ),
    Case(
        lambda **kw: layers.VectorQuantizer(4, stochastic=True, **kw),
        [(5, 3)],
        name="VectorQuantizerStochastic",
    ),
    Case(lambda **kw: layers.NCPNormalPerturb(**kw), [(6, 3)]),
    Case(lambda **kw: layers.NCPCategoricalPerturb(4, probs=0.9, **kw), inputs=categories),
    Case(lambda **kw: layers.NCPNormalOutput(**kw), [(6, 3)], saves=()),
]

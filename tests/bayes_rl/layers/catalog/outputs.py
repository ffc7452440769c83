"""Cases of layers whose output is random, or an output under noise."""

import tensorflow as tf

import bayes_rl as ed
from tests.bayes_rl.layers.catalog.case import Case

layers = ed.layers
PROJECTION = ("projection/kernel", "projection/bias")


def categories(generator):
    return [generator.integers(0, 4, [6, 3]).astype("int32")]


def images(generator):
    return [generator.integers(0, 4, [2, 3, 3, 2]).astype("int32")]


# Few samples, of which every output is returned.
SAMPLED = {"train_mc_samples": 5, "test_mc_samples": 5, "compute_pred_variance": True}


def custom_layers(**kw):
    parts = [tf.keras.layers.Dense(units, dtype=kw.get("dtype")) for units in (6, 3, 3)]
    return layers.MCSoftmaxDenseFACustomLayers(3, 2, *parts, **SAMPLED, **kw)


def ensemble(**kw):
    dtype = kw.get("dtype")
    members = [layers.MCSoftmaxDense(3, dtype=dtype, **SAMPLED) for _ in range(2)]
    return layers.EnsembleHeteroscedasticOutputs(3, members, [0.5, 0.5], **kw)


CASES = [
    Case(lambda **kw: layers.Normal(2, **kw), [(5, 3)]),
    Case(lambda **kw: layers.Normal(**kw), [(5, 3)], name="NormalOfInputs"),
    Case(lambda **kw: layers.Bernoulli(2, **kw), [(5, 3)], unused=PROJECTION),
    Case(lambda **kw: layers.Categorical(4, **kw), [(5, 3)], unused=PROJECTION),
    Case(lambda **kw: layers.OneHotCategorical(4, **kw), [(5, 3)], unused=PROJECTION),
    Case(lambda **kw: layers.MixtureLogistic(3, units=2, **kw), [(5, 3)]),
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
    Case(lambda **kw: layers.MCSoftmaxDense(3, **SAMPLED, **kw), [(5, 4)]),
    Case(lambda **kw: layers.MCSoftmaxDenseFA(3, 2, **SAMPLED, **kw), [(5, 4)]),
    Case(
        lambda **kw: layers.MCSoftmaxDenseFA(2, 2, 0.5, True, **SAMPLED, **kw),
        [(5, 4)],
        name="MCSoftmaxDenseFAEfficient",
    ),
    Case(lambda **kw: layers.MCSigmoidDenseFA(3, 2, **SAMPLED, **kw), [(5, 4)]),
    Case(lambda **kw: layers.MultiHeadMCSoftmaxDenseFA(3, 2, 2, **SAMPLED, **kw), [(5, 4)]),
    Case(
        lambda **kw: layers.MCSoftmaxDenseFASegmentation(3, 2, **SAMPLED, **kw),
        [(2, 3, 3, 4)],
    ),
    Case(custom_layers, [(5, 4)]),
    Case(lambda **kw: layers.ExactSigmoidDense(3, logits_only=True, **kw), [(5, 4)]),
    Case(ensemble, [(5, 4)]),
    Case(lambda **kw: layers.PosteriorNetworkLayer(3, flow_depth=2, **kw), [(5, 4)]),
    *[
        Case(
            lambda kind=kind, **kw: layers.PosteriorNetworkLayer(3, kind, 2, **kw),
            [(5, 4)],
            name=f"PosteriorNetworkLayer_{kind}",
        )
        for kind in ("radial", "affine")
    ],
    Case(lambda **kw: layers.ChannelEmbedding(4, num_values=4, **kw), inputs=images),
    Case(lambda **kw: layers.PositionalEmbedding(9, **kw), [(2, 7, 4)]),
    Case(lambda **kw: layers.LocalAttention1D(2, block_length=3, **kw), [(2, 7, 4)]),
    Case(lambda **kw: layers.MaskedLocalAttention1D(2, block_length=3, **kw), [(2, 7, 4)]),
    Case(
        lambda **kw: layers.HeteroscedasticSNGPLayer(
            3, 2, num_inducing=8, logits_only=False, **SAMPLED, **kw
        ),
        [(5, 4)],
    ),
]

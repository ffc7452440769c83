"""Keras layers whose weights, activations or whole function are uncertain."""

from bayes_rl.layers.convolutional import (
    Conv1DFlipout,
    Conv1DReparameterization,
    Conv2DFlipout,
    Conv2DReparameterization,
    Conv3DFlipout,
    Conv3DReparameterization,
    VariationalConv2D,
)
from bayes_rl.layers.convolutional_transpose import (
    Conv1DTransposeFlipout,
    Conv1DTransposeReparameterization,
    Conv2DTransposeFlipout,
    Conv2DTransposeReparameterization,
    Conv3DTransposeFlipout,
    Conv3DTransposeReparameterization,
)
from bayes_rl.layers.dense import (
    DenseFlipout,
    DenseReparameterization,
    VariationalDense,
)
from bayes_rl.layers.depthwise import (
    DepthwiseConv1DFlipout,
    DepthwiseConv1DReparameterization,
    DepthwiseConv2DFlipout,
    DepthwiseConv2DReparameterization,
)
from bayes_rl.layers.discretize import Discretize
from bayes_rl.layers.mixture_logistic import MixtureLogistic, MixtureofLogistic
from bayes_rl.layers.noise import NCPCategoricalPerturb, NCPNormalOutput, NCPNormalPerturb
from bayes_rl.layers.stochastic_output import (
    Bernoulli,
    Categorical,
    Normal,
    OneHotCategorical,
)
from bayes_rl.layers.vector_quantizer import VectorQuantizer

__all__ = [
    "Bernoulli",
    "Categorical",
    "Conv1DFlipout",
    "Conv1DReparameterization",
    "Conv1DTransposeFlipout",
    "Conv1DTransposeReparameterization",
    "Conv2DFlipout",
    "Conv2DReparameterization",
    "Conv2DTransposeFlipout",
    "Conv2DTransposeReparameterization",
    "Conv3DFlipout",
    "Conv3DReparameterization",
    "Conv3DTransposeFlipout",
    "Conv3DTransposeReparameterization",
    "DenseFlipout",
    "DenseReparameterization",
    "DepthwiseConv1DFlipout",
    "DepthwiseConv1DReparameterization",
    "DepthwiseConv2DFlipout",
    "DepthwiseConv2DReparameterization",
    "Discretize",
    "MixtureLogistic",
    "MixtureofLogistic",
    "NCPCategoricalPerturb",
    "NCPNormalOutput",
    "NCPNormalPerturb",
    "Normal",
    "OneHotCategorical",
    "VariationalConv2D",
    "VariationalDense",
    "VectorQuantizer",
]

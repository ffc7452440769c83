"""Keras layers whose weights, activations or whole function are uncertain."""

from bayes_rl.layers.attention import (
    MultiHeadAttentionFlipout,
    MultiHeadAttentionReparameterization,
)
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
from bayes_rl.layers.covariances import ExponentiatedQuadratic, LinearKernel
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
from bayes_rl.layers.dvi import DenseDVI
from bayes_rl.layers.embedding import EmbeddingReparameterization
from bayes_rl.layers.gaussian_process import GaussianProcess
from bayes_rl.layers.gru import GRUCellFlipout, GRUCellReparameterization
from bayes_rl.layers.heteroscedastic import MCSoftmaxDense
from bayes_rl.layers.heteroscedastic_ensemble import EnsembleHeteroscedasticOutputs
from bayes_rl.layers.heteroscedastic_exact import ExactSigmoidDense
from bayes_rl.layers.heteroscedastic_factors import MCSigmoidDenseFA, MCSoftmaxDenseFA
from bayes_rl.layers.heteroscedastic_variants import (
    MCSoftmaxDenseFACustomLayers,
    MCSoftmaxDenseFASegmentation,
    MultiHeadMCSoftmaxDenseFA,
)
from bayes_rl.layers.hierarchical import Conv2DHierarchical, DenseHierarchical
from bayes_rl.layers.local_reparameterization import (
    Conv2DLocalReparameterization,
    DenseLocalReparameterization,
)
from bayes_rl.layers.lstm import (
    LSTMCellFlipout,
    LSTMCellReparameterization,
    VariationalLSTMCell,
)
from bayes_rl.layers.lstm_rank1 import LSTMCellRank1
from bayes_rl.layers.mean_functions import Zeros
from bayes_rl.layers.mixture_logistic import MixtureLogistic, MixtureofLogistic
from bayes_rl.layers.moments import get_moments, soft_relu
from bayes_rl.layers.noise import NCPCategoricalPerturb, NCPNormalOutput, NCPNormalPerturb
from bayes_rl.layers.quadrature import DenseQuadrature
from bayes_rl.layers.sparse_gaussian_process import SparseGaussianProcess
from bayes_rl.layers.stochastic_output import (
    Bernoulli,
    Categorical,
    Normal,
    OneHotCategorical,
)
from bayes_rl.layers.variational_dropout import (
    Conv2DVariationalDropout,
    DenseVariationalDropout,
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
    "Conv2DHierarchical",
    "Conv2DLocalReparameterization",
    "Conv2DReparameterization",
    "Conv2DTransposeFlipout",
    "Conv2DTransposeReparameterization",
    "Conv2DVariationalDropout",
    "Conv3DFlipout",
    "Conv3DReparameterization",
    "Conv3DTransposeFlipout",
    "Conv3DTransposeReparameterization",
    "DenseDVI",
    "DenseFlipout",
    "DenseHierarchical",
    "DenseLocalReparameterization",
    "DenseQuadrature",
    "DenseReparameterization",
    "DenseVariationalDropout",
    "DepthwiseConv1DFlipout",
    "DepthwiseConv1DReparameterization",
    "DepthwiseConv2DFlipout",
    "DepthwiseConv2DReparameterization",
    "Discretize",
    "EmbeddingReparameterization",
    "EnsembleHeteroscedasticOutputs",
    "ExactSigmoidDense",
    "ExponentiatedQuadratic",
    "GRUCellFlipout",
    "GRUCellReparameterization",
    "GaussianProcess",
    "LSTMCellFlipout",
    "LSTMCellRank1",
    "LSTMCellReparameterization",
    "LinearKernel",
    "MCSigmoidDenseFA",
    "MCSoftmaxDense",
    "MCSoftmaxDenseFA",
    "MCSoftmaxDenseFACustomLayers",
    "MCSoftmaxDenseFASegmentation",
    "MixtureLogistic",
    "MixtureofLogistic",
    "MultiHeadAttentionFlipout",
    "MultiHeadAttentionReparameterization",
    "MultiHeadMCSoftmaxDenseFA",
    "NCPCategoricalPerturb",
    "NCPNormalOutput",
    "NCPNormalPerturb",
    "Normal",
    "OneHotCategorical",
    "SparseGaussianProcess",
    "VariationalConv2D",
    "VariationalDense",
    "VariationalLSTMCell",
    "VectorQuantizer",
    "Zeros",
    "get_moments",
    "soft_relu",
]

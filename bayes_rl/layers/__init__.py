"""Keras layers whose weights, activations or whole function are uncertain."""

from bayes_rl.layers import utils
from bayes_rl.layers.actnorm import ActNorm
from bayes_rl.layers.attention import (
    MultiHeadAttentionFlipout,
    MultiHeadAttentionReparameterization,
)
from bayes_rl.layers.batch_ensemble import (
    Conv1DBatchEnsemble,
    Conv2DBatchEnsemble,
    DenseBatchEnsemble,
    DepthwiseConv2DBatchEnsemble,
)
from bayes_rl.layers.bayesian_linear_model import BayesianLinearModel
from bayes_rl.layers.conditional import CondConv2D, CondDense, DepthwiseCondConv2D
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
from bayes_rl.layers.discrete_flows import DiscreteAutoregressiveFlow, DiscreteBipartiteFlow
from bayes_rl.layers.discretize import Discretize
from bayes_rl.layers.dvi import DenseDVI
from bayes_rl.layers.embedding import EmbeddingReparameterization
from bayes_rl.layers.gaussian_process import GaussianProcess
from bayes_rl.layers.gru import GRUCellFlipout, GRUCellReparameterization
from bayes_rl.layers.heteroscedastic import MCSoftmaxDense
from bayes_rl.layers.heteroscedastic_ensemble import EnsembleHeteroscedasticOutputs
from bayes_rl.layers.heteroscedastic_exact import ExactSigmoidDense
from bayes_rl.layers.heteroscedastic_factors import MCSigmoidDenseFA, MCSoftmaxDenseFA
from bayes_rl.layers.heteroscedastic_sngp import HeteroscedasticSNGPLayer
from bayes_rl.layers.heteroscedastic_variants import (
    MCSoftmaxDenseFACustomLayers,
    MCSoftmaxDenseFASegmentation,
    MultiHeadMCSoftmaxDenseFA,
)
from bayes_rl.layers.hierarchical import Conv2DHierarchical, DenseHierarchical
from bayes_rl.layers.hyper_batch_ensemble import (
    Conv2DHyperBatchEnsemble,
    DenseHyperBatchEnsemble,
)
from bayes_rl.layers.hyperparameters import get_lambda, get_layer_name_identifier
from bayes_rl.layers.image_embeddings import ChannelEmbedding, PositionalEmbedding
from bayes_rl.layers.laplace_covariance import LaplaceRandomFeatureCovariance
from bayes_rl.layers.local_attention import LocalAttention1D, MaskedLocalAttention1D
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
from bayes_rl.layers.made import MADE
from bayes_rl.layers.masks import (
    create_degrees,
    create_masks,
    make_masked_constraint,
    make_masked_initializer,
)
from bayes_rl.layers.mean_functions import Zeros
from bayes_rl.layers.mixture_logistic import MixtureLogistic, MixtureofLogistic
from bayes_rl.layers.moments import get_moments, soft_relu
from bayes_rl.layers.multihead import DenseMultihead
from bayes_rl.layers.neural_process import NeuralProcess
from bayes_rl.layers.neural_process_attention import Attention
from bayes_rl.layers.noise import NCPCategoricalPerturb, NCPNormalOutput, NCPNormalPerturb
from bayes_rl.layers.normalization import EnsembleSyncBatchNorm, ensemble_batchnorm
from bayes_rl.layers.poisson_process import PoissonProcess
from bayes_rl.layers.posterior_network import PosteriorNetworkLayer
from bayes_rl.layers.quadrature import DenseQuadrature
from bayes_rl.layers.radial_flow import ReversedRadialFlow
from bayes_rl.layers.random_feature_gaussian_process import RandomFeatureGaussianProcess
from bayes_rl.layers.random_fourier_features import RandomFourierFeatures
from bayes_rl.layers.rank1 import Conv1DRank1, Conv2DRank1, DenseRank1
from bayes_rl.layers.real_nvp import NICE, RealNVP
from bayes_rl.layers.reverse import Reverse
from bayes_rl.layers.reversible_residual import ReversibleResidual
from bayes_rl.layers.reversible_sequential import ReversibleSequential
from bayes_rl.layers.sinkhorn import SinkhornAutoregressiveFlow
from bayes_rl.layers.sparse_gaussian_process import SparseGaussianProcess
from bayes_rl.layers.spectral_normalization import (
    SpectralNormalization,
    SpectralNormalizationConv2D,
)
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
    "ActNorm",
    "Attention",
    "BayesianLinearModel",
    "Bernoulli",
    "Categorical",
    "ChannelEmbedding",
    "CondConv2D",
    "CondDense",
    "Conv1DBatchEnsemble",
    "Conv1DFlipout",
    "Conv1DRank1",
    "Conv1DReparameterization",
    "Conv1DTransposeFlipout",
    "Conv1DTransposeReparameterization",
    "Conv2DBatchEnsemble",
    "Conv2DFlipout",
    "Conv2DHierarchical",
    "Conv2DHyperBatchEnsemble",
    "Conv2DLocalReparameterization",
    "Conv2DRank1",
    "Conv2DReparameterization",
    "Conv2DTransposeFlipout",
    "Conv2DTransposeReparameterization",
    "Conv2DVariationalDropout",
    "Conv3DFlipout",
    "Conv3DReparameterization",
    "Conv3DTransposeFlipout",
    "Conv3DTransposeReparameterization",
    "DenseBatchEnsemble",
    "DenseDVI",
    "DenseFlipout",
    "DenseHierarchical",
    "DenseHyperBatchEnsemble",
    "DenseLocalReparameterization",
    "DenseMultihead",
    "DenseQuadrature",
    "DenseRank1",
    "DenseReparameterization",
    "DenseVariationalDropout",
    "DepthwiseCondConv2D",
    "DepthwiseConv1DFlipout",
    "DepthwiseConv1DReparameterization",
    "DepthwiseConv2DBatchEnsemble",
    "DepthwiseConv2DFlipout",
    "DepthwiseConv2DReparameterization",
    "DiscreteAutoregressiveFlow",
    "DiscreteBipartiteFlow",
    "Discretize",
    "EmbeddingReparameterization",
    "EnsembleHeteroscedasticOutputs",
    "EnsembleSyncBatchNorm",
    "ExactSigmoidDense",
    "ExponentiatedQuadratic",
    "GRUCellFlipout",
    "GRUCellReparameterization",
    "GaussianProcess",
    "HeteroscedasticSNGPLayer",
    "LSTMCellFlipout",
    "LSTMCellRank1",
    "LSTMCellReparameterization",
    "LaplaceRandomFeatureCovariance",
    "LinearKernel",
    "LocalAttention1D",
    "MADE",
    "MCSigmoidDenseFA",
    "MCSoftmaxDense",
    "MCSoftmaxDenseFA",
    "MCSoftmaxDenseFACustomLayers",
    "MCSoftmaxDenseFASegmentation",
    "MaskedLocalAttention1D",
    "MixtureLogistic",
    "MixtureofLogistic",
    "MultiHeadAttentionFlipout",
    "MultiHeadAttentionReparameterization",
    "MultiHeadMCSoftmaxDenseFA",
    "NCPCategoricalPerturb",
    "NCPNormalOutput",
    "NCPNormalPerturb",
    "NICE",
    "NeuralProcess",
    "Normal",
    "OneHotCategorical",
    "PoissonProcess",
    "PositionalEmbedding",
    "PosteriorNetworkLayer",
    "RandomFeatureGaussianProcess",
    "RandomFourierFeatures",
    "RealNVP",
    "Reverse",
    "ReversedRadialFlow",
    "ReversibleResidual",
    "ReversibleSequential",
    "SinkhornAutoregressiveFlow",
    "SparseGaussianProcess",
    "SpectralNormalization",
    "SpectralNormalizationConv2D",
    "VariationalConv2D",
    "VariationalDense",
    "VariationalLSTMCell",
    "VectorQuantizer",
    "Zeros",
    "create_degrees",
    "create_masks",
    "ensemble_batchnorm",
    "get_lambda",
    "get_layer_name_identifier",
    "get_moments",
    "make_masked_constraint",
    "make_masked_initializer",
    "soft_relu",
    "utils",
]

"""Keras layers whose weights, activations or whole function are uncertain."""

from bayes_rl.layers import utils
from bayes_rl.layers.attention.image_embeddings import ChannelEmbedding, PositionalEmbedding
from bayes_rl.layers.attention.local import LocalAttention1D, MaskedLocalAttention1D
from bayes_rl.layers.attention.multi_head import (
    MultiHeadAttentionFlipout,
    MultiHeadAttentionReparameterization,
)
from bayes_rl.layers.convolutions.convolutional import (
    Conv1DFlipout,
    Conv1DReparameterization,
    Conv2DFlipout,
    Conv2DReparameterization,
    Conv3DFlipout,
    Conv3DReparameterization,
    VariationalConv2D,
)
from bayes_rl.layers.convolutions.convolutional_transpose import (
    Conv1DTransposeFlipout,
    Conv1DTransposeReparameterization,
    Conv2DTransposeFlipout,
    Conv2DTransposeReparameterization,
    Conv3DTransposeFlipout,
    Conv3DTransposeReparameterization,
)
from bayes_rl.layers.convolutions.depthwise import (
    DepthwiseConv1DFlipout,
    DepthwiseConv1DReparameterization,
    DepthwiseConv2DFlipout,
    DepthwiseConv2DReparameterization,
)
from bayes_rl.layers.dense import (
    DenseFlipout,
    DenseReparameterization,
    VariationalDense,
)
from bayes_rl.layers.embedding import EmbeddingReparameterization
from bayes_rl.layers.ensembles.batch_ensemble import (
    Conv1DBatchEnsemble,
    Conv2DBatchEnsemble,
    DenseBatchEnsemble,
    DepthwiseConv2DBatchEnsemble,
)
from bayes_rl.layers.ensembles.conditional import CondConv2D, CondDense, DepthwiseCondConv2D
from bayes_rl.layers.ensembles.hyper_batch_ensemble import (
    Conv2DHyperBatchEnsemble,
    DenseHyperBatchEnsemble,
    get_lambda,
    get_layer_name_identifier,
)
from bayes_rl.layers.ensembles.multihead import DenseMultihead
from bayes_rl.layers.ensembles.rank1 import Conv1DRank1, Conv2DRank1, DenseRank1
from bayes_rl.layers.moments.dvi import DenseDVI
from bayes_rl.layers.moments.hierarchical import Conv2DHierarchical, DenseHierarchical
from bayes_rl.layers.moments.local_reparameterization import (
    Conv2DLocalReparameterization,
    DenseLocalReparameterization,
)
from bayes_rl.layers.moments.quadrature import DenseQuadrature
from bayes_rl.layers.moments.rectified import get_moments, soft_relu
from bayes_rl.layers.moments.variational_dropout import (
    Conv2DVariationalDropout,
    DenseVariationalDropout,
)
from bayes_rl.layers.normalization.ensemble_batch_norm import (
    EnsembleSyncBatchNorm,
    ensemble_batchnorm,
)
from bayes_rl.layers.normalization.spectral_normalization import (
    SpectralNormalization,
    SpectralNormalizationConv2D,
)
from bayes_rl.layers.outputs.contrastive_priors import (
    NCPCategoricalPerturb,
    NCPNormalOutput,
    NCPNormalPerturb,
)
from bayes_rl.layers.outputs.discretize import Discretize
from bayes_rl.layers.outputs.heteroscedastic.averages import (
    EnsembleHeteroscedasticOutputs,
    ExactSigmoidDense,
)
from bayes_rl.layers.outputs.heteroscedastic.factors import (
    MCSigmoidDenseFA,
    MCSoftmaxDenseFA,
    MCSoftmaxDenseFACustomLayers,
    MCSoftmaxDenseFASegmentation,
    MultiHeadMCSoftmaxDenseFA,
)
from bayes_rl.layers.outputs.heteroscedastic.monte_carlo import MCSoftmaxDense
from bayes_rl.layers.outputs.heteroscedastic.sngp import HeteroscedasticSNGPLayer
from bayes_rl.layers.outputs.mixture_logistic import MixtureLogistic, MixtureofLogistic
from bayes_rl.layers.outputs.posterior_network import PosteriorNetworkLayer
from bayes_rl.layers.outputs.radial_flow import ReversedRadialFlow
from bayes_rl.layers.outputs.stochastic_output import (
    Bernoulli,
    Categorical,
    Normal,
    OneHotCategorical,
)
from bayes_rl.layers.outputs.vector_quantizer import VectorQuantizer
from bayes_rl.layers.processes.bayesian_linear_model import BayesianLinearModel
from bayes_rl.layers.processes.covariances import (
    ExponentiatedQuadratic,
    LinearKernel,
    Zeros,
)
from bayes_rl.layers.processes.gaussian_process import GaussianProcess
from bayes_rl.layers.processes.neural_process import Attention, NeuralProcess
from bayes_rl.layers.processes.poisson_process import PoissonProcess
from bayes_rl.layers.processes.random_features.fourier_features import RandomFourierFeatures
from bayes_rl.layers.processes.random_features.gaussian_process import (
    RandomFeatureGaussianProcess,
)
from bayes_rl.layers.processes.random_features.laplace_covariance import (
    LaplaceRandomFeatureCovariance,
)
from bayes_rl.layers.processes.sparse_gaussian_process import SparseGaussianProcess
from bayes_rl.layers.recurrent.gru import GRUCellFlipout, GRUCellReparameterization
from bayes_rl.layers.recurrent.lstm import (
    LSTMCellFlipout,
    LSTMCellReparameterization,
    VariationalLSTMCell,
)
from bayes_rl.layers.recurrent.lstm_rank1 import LSTMCellRank1
from bayes_rl.layers.reversible.actnorm import ActNorm
from bayes_rl.layers.reversible.base import Reverse
from bayes_rl.layers.reversible.discrete.discrete_flows import (
    DiscreteAutoregressiveFlow,
    DiscreteBipartiteFlow,
)
from bayes_rl.layers.reversible.discrete.sinkhorn import SinkhornAutoregressiveFlow
from bayes_rl.layers.reversible.made import MADE
from bayes_rl.layers.reversible.masks import (
    create_degrees,
    create_masks,
    make_masked_constraint,
    make_masked_initializer,
)
from bayes_rl.layers.reversible.real_nvp import NICE, RealNVP
from bayes_rl.layers.reversible.residual import ReversibleResidual
from bayes_rl.layers.reversible.sequential import ReversibleSequential

# What is imported here is public.
__all__ = [name for name, found in globals().items() if callable(found) and name[0] != "_"]
__all__ += ["utils"]

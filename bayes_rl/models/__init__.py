"""Example models of the paper, with its sizes as defaults.

Source: Tran et al., 2019, Bayesian Layers: A Module for Neural Network Uncertainty.
"""

from bayes_rl.models.bayesian_lstm import build_bayesian_lstm
from bayes_rl.models.bayesian_resnet import build_bayesian_resnet50
from bayes_rl.models.conv_net import build_conv_net
from bayes_rl.models.cox_process import build_cox_process, build_cox_process_posterior
from bayes_rl.models.deep_gaussian_process import build_deep_gaussian_process
from bayes_rl.models.image_transformer import build_image_transformer
from bayes_rl.models.masked_autoregressive_flow import build_masked_autoregressive_flow
from bayes_rl.models.transformer import build_transformer
from bayes_rl.models.vae import build_vae
from bayes_rl.models.vector_quantized_vae import build_vector_quantized_vae

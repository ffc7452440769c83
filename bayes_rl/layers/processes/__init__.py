"""Distributions over functions: Gaussian processes and their relatives.

* bayesian_linear_model.py: BayesianLinearModel: linear regression with an exact
  posterior
* covariances.py: Covariance and mean functions of Gaussian processes
* gaussian_process.py: GaussianProcess: exact prior and posterior over functions
* laplace_covariance.py: LaplaceRandomFeatureCovariance: covariance of predictions that
  are linear in features
* neural_process.py: NeuralProcess: a distribution over functions, learned from many
  data sets
* neural_process_attention.py: Attention: what a neural process takes from its context
  for each target
* parameters.py: Parameters given as numbers, variables or kernels of TFP, and their
  configuration
* poisson_process.py: PoissonProcess: counts of events over a grid, or where the events
  are
* random_feature_gaussian_process.py: RandomFeatureGaussianProcess: the SNGP output
  layer
* random_features.py: RandomFeatures: fixed features whose products approximate a
  covariance function
* random_fourier_features.py: RandomFourierFeatures: a Gaussian process as a Bayesian
  linear model of features
* sparse_gaussian_process.py: SparseGaussianProcess: variational posterior over
  functions by inducing variables
"""

"""Layers that work with the moments of their outputs instead of, or beside, drawn kernels.

* at_test.py: AtTest: a layer that behaves differently in training, and at test time as
  one asks
* dvi.py: Deterministic variational inference: moments of activations in place of draws
* hierarchical.py: Hierarchical priors over a kernel: whole units are switched off by
  shared scales
* hierarchical_kernel.py: HierarchicalKernel: scales that parts of a kernel share
* local_reparameterization.py: Local reparameterization: noise on pre-activations in
  place of noise on the kernel
* multivariate_normal.py: MultivariateNormal: given by its covariance, which it
  factorizes only if it must
* quadrature.py: Quadrature: the mean of activations over the posterior by numerical
  integration
* rectified.py: Means, variances and covariances of normal variables, before and after a
  rectifier
* variational_dropout.py: Variational dropout: a dropout rate for each weight, learnt
* weight_moments.py: WeightMoments: mean and variance of a layer's product, in place of
  draws
"""

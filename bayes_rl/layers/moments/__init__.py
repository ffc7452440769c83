"""Layers that work with the moments of their outputs instead of, or beside, drawn kernels.

* dvi.py: Deterministic variational inference: moments of activations in place of draws
* hierarchical.py: Hierarchical priors over a kernel: whole units are switched off by
  shared scales
* local_reparameterization.py: Local reparameterization: noise on pre-activations in
  place of noise on the kernel
* multivariate_normal.py: MultivariateNormal: given by its covariance, which it
  factorizes only if it must
* quadrature.py: Quadrature: the mean of activations over the posterior by numerical
  integration
* rectified.py: Means, variances and covariances of normal variables, before and after a
  rectifier
* variational_dropout.py: Variational dropout: a dropout rate for each weight, learnt
* weight_moments.py: Mean and variance of a layer's product over its weights' posteriors,
  in place of draws
"""

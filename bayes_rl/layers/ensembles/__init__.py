"""Ensembles in one layer: members that share a kernel, experts, many heads.

* batch_ensemble.py: BatchEnsemble: members of an ensemble share a kernel and have
  vectors of their own
* conditional.py: Conditional computation: each example's kernel is a mixture of
  experts' kernels
* hyper_batch_ensemble.py: Hyper-batch ensembles: BatchEnsembles whose weights respond
  to hyperparameters
* members.py: Layers with vectors for each member of an ensemble, and where these meet a
  batch
* multihead.py: Heads of a multi-input multi-output network
* per_example.py: Convolutions over images with a kernel of its own for each example
* rank1.py: Rank-1 Bayesian networks: random vectors of each example around a shared
  kernel
"""

"""Ensembles in one layer: members that share a kernel, experts, many heads.

* batch_ensemble.py: BatchEnsemble: members of an ensemble share a kernel and have
  vectors of their own
* batch_ensemble_base.py: What dense and convolutional BatchEnsembles share
* conditional.py: Conditional computation: each example's kernel is a mixture of
  experts' kernels
* conditional_base.py: What dense and convolutional mixtures of experts share
* example_vectors.py: Vectors of each example, beside tensors that may have a leading
  axis of draws
* hyper_batch_ensemble.py: Hyper-batch ensembles: BatchEnsembles whose weights respond
  to hyperparameters
* hyper_batch_ensemble_base.py: What dense and convolutional hyper-batch ensembles share
* hyperparameters.py: Which column of a batch of hyperparameters belongs to which weight
  of which layer
* member_vectors.py: What layers with vectors for each member of an ensemble share
* multihead.py: Heads of a multi-input multi-output network
* per_example.py: Convolutions over images with a kernel of its own for each example
* rank1.py: Rank-1 Bayesian networks: random vectors of each example around a shared
  kernel
* rank1_base.py: What dense, convolutional and recurrent rank-1 layers share
"""

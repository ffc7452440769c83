"""Layers with an inverse and a log determinant, and what is built of them.

* actnorm.py: ActNorm: an affine map of each channel, set by the first batch
* base.py: ReversibleLayer: what every layer with an inverse shares
* coupling.py: Coupling: what flows share whose change of one part depends on another
  part
* discrete_flows.py: Discrete flows: bijections of sequences of categories, as one-hot
  vectors
* made.py: MADE: a dense network whose outputs depend on the inputs before them only
* masks.py: Masks of autoregressive networks
* one_hot.py: Arithmetic modulo the vocabulary size on one-hot vectors, differentiable
* permutations.py: Permutation matrices from real matrices, differentiable
* real_nvp.py: RealNVP and NICE: flows that scale and shift by what a network makes of
  other parts
* residual.py: Reversible residual block
* reverse.py: Reverse: a reversible layer the other way round
* sequential.py: Reversible chains: depth without memory for activations
* sinkhorn.py: Sinkhorn flow: permutes the categories of each position by those before
  it
"""

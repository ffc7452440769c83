"""Keras layers whose weights, activations or whole function are uncertain."""

from bayes_rl.layers.dense import DenseFlipout, DenseReparameterization

__all__ = ["DenseFlipout", "DenseReparameterization"]

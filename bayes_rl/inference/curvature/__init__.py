"""Curvature of a loss by the weights, of which Laplace's approximation is made."""

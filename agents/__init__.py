"""Bayesian PlaNet: learn latent dynamics, plan in them, explore by their uncertainty."""

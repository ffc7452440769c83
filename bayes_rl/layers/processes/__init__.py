"""Distributions over functions: Gaussian processes and their relatives."""

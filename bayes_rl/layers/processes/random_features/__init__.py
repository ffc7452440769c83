"""Gaussian processes as linear models of random features."""

"""Layers that give a distribution of outputs."""

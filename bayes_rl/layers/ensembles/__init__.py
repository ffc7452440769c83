"""Ensembles in one layer: members that share a kernel, experts, many heads."""

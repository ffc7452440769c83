"""Batch normalization of ensembles, and bounds on the norm of a kernel."""

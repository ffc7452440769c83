"""Batch normalization of ensembles, and bounds on the norm of a kernel.

* ensemble_batch_norm.py: Batch normalization of each member of an ensemble
* spectral_normalization.py: Layers whose kernel is scaled to a bounded spectral norm
"""

"""Optimizers whose state is a posterior over the weights."""

from bayes_rl.optimizers.ivon import IVON

"""Bayesian PlaNet: learn latent dynamics, plan in them, explore by their uncertainty.

`agents.load(RUN)` is a trained agent, to act in a notebook. Nothing is imported until it is
used, so that a wrong word on the command line costs no TensorFlow.
"""

import envs  # noqa: F401  chooses Keras, before TensorFlow is imported

__all__ = ["load"]


def __getattr__(name):
    if name == "load":
        from envs.quiet import import_gym

        import_gym()  # TF-Agents would import it with a notice
        from agents.training import loading

        return loading.load
    raise AttributeError(f"module 'agents' has no attribute {name!r}")

"""Bayesian PlaNet: learn latent dynamics, plan in them, explore by their uncertainty.

`agents.train` and `agents.evaluate` do in a script or a notebook what the commands do, and
`agents.load(RUN)` is a trained agent, to act there. Nothing is imported until it is used,
so that a wrong word on the command line costs no TensorFlow.
"""

import envs  # noqa: F401  chooses Keras, before TensorFlow is imported

__all__ = ["Trained", "evaluate", "load", "train"]


def __getattr__(name):
    if name in __all__:
        from envs.quiet import import_gym

        import_gym()  # TF-Agents would import it with a notice
        from agents.training import scripting

        return getattr(scripting, name)
    raise AttributeError(f"module 'agents' has no attribute {name!r}")
